import moment, { type MomentInput } from 'moment';

/** `2026-03-09`, as the server wants it. */
export function formatDay(value: MomentInput): string {
  return moment(value).format('YYYY-MM-DD');
}

/** `14:30`, as the screen shows it. */
export function formatClock(value: MomentInput): string {
  return moment(value).format('HH:mm');
}

/** `Mon 9 Mar 14:30`, for mails and the report. */
export function formatLong(value: MomentInput): string {
  return moment(value).format('ddd D MMM HH:mm');
}

/** Midnight of the Sunday before, in the office's own time zone. */
export function startOfWeek(value: MomentInput): Date {
  return moment(value).startOf('week').toDate();
}

/** Whole days from today; negative once the day has gone by. */
export function daysUntil(value: MomentInput): number {
  return moment(value).startOf('day').diff(moment().startOf('day'), 'days');
}

export function isPast(value: MomentInput): boolean {
  return moment(value).isBefore(moment());
}
