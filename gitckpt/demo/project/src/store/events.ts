import moment from 'moment';
import type { Booking } from '../types';

/** The same bookings, earliest first. */
export function byStart(bookings: Booking[]): Booking[] {
  return [...bookings].sort((one, other) => moment(one.starts).diff(moment(other.starts)));
}
