import { useEffect, useState } from 'react';
import moment from 'moment';

interface TimerProps {
  startedAt: string;
}

/** How long the meeting has been running, counted up every second. */
export function Timer({ startedAt }: TimerProps) {
  const [now, setNow] = useState(() => moment());

  useEffect(() => {
    const tick = window.setInterval(() => setNow(moment()), 1000);
    return () => window.clearInterval(tick);
  }, []);

  const seconds = now.diff(moment(startedAt), 'seconds');
  const clock = moment().startOf('day').add(seconds, 'seconds').format('HH:mm:ss');
  return <time dateTime={now.toISOString()}>{clock}</time>;
}
