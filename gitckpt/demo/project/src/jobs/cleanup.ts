import moment, { type Moment } from 'moment';
import type { Booking } from '../types';

const DAYS_KEPT = 90;

/** Bookings that ended before `limit`, by default 90 days ago. */
export function outdated(bookings: Booking[], limit?: Moment | string): Booking[] {
  const fallback = moment().subtract(DAYS_KEPT, 'days');
  const before = moment.isMoment(limit) ? limit : limit === undefined ? fallback : moment(limit);
  return bookings.filter((booking) => before.isAfter(booking.ends));
}
