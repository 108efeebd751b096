// The time line: one drawing of the forked history behind a list of links.

const ROW = 28;
const LANE = 14;
const GUTTER = 20;

const laneX = (lane) => GUTTER + Math.min(lane, 14) * LANE;
const rowY = (number) => number * ROW + ROW / 2;

const timeline = (session) => {
  const rows = session.rows;
  const width = laneX(rows.reduce((most, row) => Math.max(most, row.lane, ...row.below), 0)) + 10;
  const drawing = svg("svg", { width, height: rows.length * ROW, "aria-hidden": "true" });
  drawing.append(svg("path", { class: "edges", d: rows.map((row, n) => edges(row, rows[n - 1], n)).join("") }));
  const places = new Map(rows.flatMap((row, n) => row.events.map((event) => [event.anchor, [row.lane, n]])));
  rows.forEach((row, n) => {
    row.events.forEach((event) => event.to && places.has(event.to.anchor) && drawing.append(
      svg("path", { class: `arc ${event.kind}`, d: arc([row.lane, n], places.get(event.to.anchor)) })));
  });
  rows.forEach((row, n) => drawing.append(mark(row, laneX(row.lane), rowY(n))));
  const list = h("ol", {}, rows.map((row) => h("li", {}, entry(session, row))));
  list.style.setProperty("--lanes", `${width}px`);
  const title = record.sessions.length > 1 ? h("h2", {}, session.session) : null;
  return h("section", { class: "line" }, title, h("div", { class: "drawn" }, drawing, list));
};

// What is drawn behind one row: lanes that pass, the way to its mark and on from there, and a fork.
const edges = (row, before, number) => {
  const above = before ? before.below : [];
  const [top, middle, bottom] = [number * ROW, rowY(number), (number + 1) * ROW];
  const [from, to] = row.fork || [];
  const parts = above.filter((lane) => lane !== row.lane).map((lane) => `M${laneX(lane)} ${top}V${bottom}`);
  if (row.fork) {
    const end = to === row.lane ? middle : bottom;
    parts.push(`M${laneX(from)} ${top}C${laneX(from)} ${middle} ${laneX(to)} ${top} ${laneX(to)} ${end}`);
  }
  if (above.includes(row.lane)) parts.push(`M${laneX(row.lane)} ${top}V${middle}`);
  if (row.below.includes(row.lane)) parts.push(`M${laneX(row.lane)} ${middle}V${bottom}`);
  return parts.join("");
};

// From a rollback or a retry back to where it went.
const arc = ([lane, number], [target, goal]) =>
  `M${laneX(lane)} ${rowY(number)}C4 ${rowY(number)} 4 ${rowY(goal)} ${laneX(target)} ${rowY(goal)}`;

const SHAPES = {
  checkpoint: (x, y) => svg("circle", { cx: x, cy: y, r: 5 }),
  auto: (x, y) => svg("circle", { cx: x, cy: y, r: 2.5 }),
  start: (x, y) => svg("path", { d: `M${x - 4} ${y - 5}L${x + 5} ${y}L${x - 4} ${y + 5}Z` }),
  summary: (x, y) => svg("path", { d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z` }),
  retry: (x, y) => svg("path", { d: `M${x - 4} ${y - 4}L${x + 4} ${y + 4}M${x + 4} ${y - 4}L${x - 4} ${y + 4}` }),
  rollback: (x, y) => svg("path", { d: `M${x + 4} ${y + 5}A5 5 0 1 0 ${x - 4} ${y - 1}M${x - 6} ${y - 6}V${y}H${x}` }),
  final: (x, y) => svg("path", { d: `M${x - 5} ${y}L${x - 1} ${y + 4}L${x + 6} ${y - 5}` }),
  end: (x, y) => svg("rect", { x: x - 4, y: y - 4, width: 8, height: 8 }),
};

const mark = (row, x, y) => {
  const event = row.events[0];
  if (!event) return svg("circle", { class: "mark here", cx: x, cy: y, r: 5 });
  const kind = Object.hasOwn(SHAPES, event.kind) ? event.kind : "checkpoint";
  const shape = SHAPES[kind](x, y);
  shape.setAttribute("class", `mark ${event.kind} ${event.phase}`);
  return shape;
};

const verdict = (event) => event.verdict && h("span", { class: `verdict ${event.verdict}` }, event.verdict);

const entry = (session, row) => {
  const [event] = row.events;
  const tips = row.tips.map((line) => h("span", { class: "tip" }, line));
  if (!event) return h("span", { class: "entry here" }, tips, h("span", { class: "said" }, "goes on here"));
  const many = row.events.length > 1;
  const step = { session, row, events: row.events, address: address(session, event.anchor) };
  step.entry = h(
    "a",
    { class: `entry ${event.kind}${event.active ? "" : " aside"}`, href: `#${encodeURI(step.address)}` },
    h("span", { class: "name" }, many ? "auto" : event.name),
    event.phase && h("span", { class: `phase ${event.phase}` }, event.phase),
    tips,
    verdict(row.events.at(-1)),
    event.flags.length ? h("span", { class: "flag", title: event.flags.join(", ") }, "!") : null,
    h("span", { class: "said", dir: "auto" }, many ? count(row.events.length, "automatic checkpoint") : event.said),
  );
  steps.push(step);
  return step.entry;
};
