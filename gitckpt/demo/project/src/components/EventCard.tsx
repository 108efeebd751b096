import moment from 'moment';
import { lengthOf } from '../api/time';
import type { Booking } from '../types';
import { Timer } from './Timer';

interface EventCardProps {
  booking: Booking;
}

export function EventCard({ booking }: EventCardProps) {
  const now = moment();
  const starts = moment(booking.starts);
  const isRunning = starts.isBefore(now) && moment(booking.ends).isAfter(now);
  return (
    <article>
      <h3>{booking.title}</h3>
      <p>
        {starts.format('HH:mm')}, {lengthOf(booking)}
      </p>
      {isRunning && <Timer startedAt={booking.starts} />}
    </article>
  );
}
