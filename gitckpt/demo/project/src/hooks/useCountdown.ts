import { useEffect, useState } from 'react';
import moment from 'moment';

/** Seconds until `when`, never below 0. */
export function secondsLeft(when: string): number {
  return Math.max(0, moment(when).diff(moment(), 'seconds'));
}

export function useCountdown(when: string): number {
  const [left, setLeft] = useState(() => secondsLeft(when));

  useEffect(() => {
    if (!moment(when).isValid()) return;
    const tick = window.setInterval(() => setLeft(secondsLeft(when)), 1000);
    return () => window.clearInterval(tick);
  }, [when]);

  return left;
}
