import moment from 'moment';

interface CalendarProps {
  month: string;
}

/** Every day of the month, as `2026-03-09`. */
export function daysOf(month: string): string[] {
  const day = moment(month).startOf('month');
  const end = moment(month).endOf('month');
  const days: string[] = [];
  while (day.isBefore(end)) {
    days.push(day.format('YYYY-MM-DD'));
    day.add(1, 'day');
  }
  return days;
}

export function Calendar({ month }: CalendarProps) {
  const today = moment();
  return (
    <section>
      <h2>{moment(month).format('MMMM YYYY')}</h2>
      <ol>
        {daysOf(month).map((day) => (
          <li key={day} className={moment(day).isSame(today, 'day') ? 'today' : ''}>
            {day.slice(8)}
          </li>
        ))}
      </ol>
    </section>
  );
}
