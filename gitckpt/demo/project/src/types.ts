/** One meeting in one room. Times are ISO 8601. */
export interface Booking {
  id: string;
  room: string;
  title: string;
  starts: string;
  ends: string;
}
