// The monthly report, read by a spreadsheet on Windows: keep the CRLF line ends of this file.
const moment = require('moment');

function row(booking) {
  const starts = moment(booking.starts);
  const hours = moment(booking.ends).diff(starts, 'hours', true);
  return [starts.format('DD.MM.YYYY'), booking.room, hours.toFixed(2)].join(';');
}

function report(bookings) {
  const heading = 'Report of ' + moment(bookings[0].starts).format('MMMM YYYY');
  return [heading].concat(bookings.map(row)).join('\r\n') + '\r\n';
}

module.exports = { report };
