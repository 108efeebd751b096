"use strict";

// Text of others goes into the document through here alone, and only ever as text.

const make = (element, properties, children) => {
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
};

const h = (tag, properties = {}, ...children) => make(document.createElement(tag), properties, children);

const svg = (tag, properties = {}, ...children) =>
  make(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

const record = JSON.parse(document.getElementById("record").textContent);

// What one walks through with the keyboard, oldest first: {session, row, events, address, entry, card, text}.
const steps = [];

// A link's name on the page. Of several sessions the newest has the short names.
const address = (session, anchor) => (session === record.sessions.at(-1) ? anchor : `${session.session}/${anchor}`);

const link = (session, to, properties = {}) =>
  to && h("a", { ...properties, href: `#${encodeURI(address(session, to.anchor))}` }, to.name);

const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

const moment = (at) => {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? null : time;
};

const two = (number) => String(number).padStart(2, "0");

const clock = (at) => {
  const time = moment(at);
  return time ? [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(":") : at;
};

const day = (at) => {
  const time = moment(at);
  return time ? [time.getFullYear(), time.getMonth() + 1, time.getDate()].map(two).join("-") : at;
};

const stamp = (at) => h("time", { datetime: at, title: at }, clock(at));

const span = (first, last) => {
  const seconds = Math.round((moment(last) - moment(first)) / 1000);
  if (!Number.isFinite(seconds) || seconds < 0) return "";
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
};
