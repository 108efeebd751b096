import { createRoot } from 'react-dom/client';
import { Calendar } from './components/Calendar';
import { EventCard } from './components/EventCard';
import { fetchDay } from './api/time';
import { byStart } from './store/events';

async function start() {
  const today = new Date();
  const bookings = byStart(await fetchDay(today));
  const root = createRoot(document.getElementById('root')!);
  root.render(
    <main>
      {bookings.map((booking) => (
        <EventCard key={booking.id} booking={booking} />
      ))}
      <Calendar month={today.toISOString()} />
    </main>,
  );
}

void start();
