import { useState } from 'react';
import moment, { type Moment } from 'moment';

interface DatePickerProps {
  value: string;
  onPick: (day: Date) => void;
}

/** Picks a day from today to 90 days ahead. */
export function DatePicker({ value, onPick }: DatePickerProps) {
  const [day, setDay] = useState<Moment>(moment(value));

  function pick(text: string) {
    const picked = moment(text);
    if (!picked.isValid()) return;
    setDay(picked);
    onPick(picked.toDate());
  }

  return (
    <input
      type="date"
      value={day.format('YYYY-MM-DD')}
      min={moment().format('YYYY-MM-DD')}
      max={moment().add(90, 'days').format('YYYY-MM-DD')}
      onChange={(event) => pick(event.target.value)}
    />
  );
}
