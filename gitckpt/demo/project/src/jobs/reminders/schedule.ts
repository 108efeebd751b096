import moment from 'moment';
import type { Booking } from '../../types';

const MINUTES_BEFORE = 10;

export interface Reminder {
  booking: string;
  at: string;
  text: string;
}

/** The reminders still to be sent, one for each meeting that has not begun. */
export function schedule(bookings: Booking[], now: Date = new Date()): Reminder[] {
  return bookings
    .filter((booking) => moment(booking.starts).isAfter(moment(now)))
    .map((booking) => ({
      booking: booking.id,
      at: moment(booking.starts).subtract(MINUTES_BEFORE, 'minutes').toISOString(),
      text: `${booking.title}: ${booking.room}, ${moment(booking.starts).format('HH:mm')}`,
    }));
}
