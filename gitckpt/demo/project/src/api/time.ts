import moment from 'moment';
import type { Booking } from '../types';

const ENDPOINT = '/api/bookings';

/** What the server sends: times are seconds since 1970. */
export interface BookingRow {
  id: string;
  room: string;
  title: string;
  starts: number;
  ends: number;
}

export function fromRow(row: BookingRow): Booking {
  return {
    id: row.id,
    room: row.room,
    title: row.title,
    starts: moment.unix(row.starts).toISOString(),
    ends: moment.unix(row.ends).toISOString(),
  };
}

/** The query for one day, midnight to midnight in the office's time zone. */
export function dayQuery(day: Date | string): string {
  const from = moment(day).startOf('day').toISOString();
  const until = moment(day).endOf('day').toISOString();
  return `${ENDPOINT}?from=${from}&until=${until}`;
}

/** Every booking of one day, all rooms. */
export async function fetchDay(day: Date | string): Promise<Booking[]> {
  const answer = await fetch(dayQuery(day));
  const rows = (await answer.json()) as BookingRow[];
  return rows.map(fromRow);
}

/** `1 h 30 min`, however long the meeting is. */
export function lengthOf(booking: Booking): string {
  const minutes = moment(booking.ends).diff(booking.starts, 'minutes');
  const span = moment.duration(minutes, 'minutes');
  return `${Math.floor(span.asHours())} h ${span.minutes()} min`;
}
