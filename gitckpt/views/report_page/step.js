// A step as a person reads it: what it says, how that differs from before, and what it changed.

const FORMS = {
  text: (section) => section.rows.map((text) => h("p", { dir: "auto" }, text)),
  list: (section) => h("ul", {}, section.rows.map((row) => h("li", { class: row.mark, dir: "auto" }, signed(row)))),
  facts: (section, session) => h("ul", { class: "facts" }, section.rows.map((row) => fact(row, session))),
  pairs: (section) =>
    h("ul", { class: "pairs" }, section.rows.map((row) =>
      h("li", { class: row.mark }, row.key && h("b", {}, row.key), " ", row.was && h("s", {}, row.was), " ", row.text))),
};

const SIGNS = { new: "new: ", gone: "no longer: " };

const signed = (row) => [SIGNS[row.mark] ? h("span", { class: "unseen" }, SIGNS[row.mark]) : null, row.text];

const fact = (row, session) =>
  h(
    "li",
    { class: row.mark || "", dir: "auto" },
    signed(row),
    h("span", { class: "source" }, row.source ? ` — ${row.source}` : " — no source"),
    row.since ? h("span", { class: "since" }, " since ", link(session, row.since)) : null,
    row.now && !row.stale ? h("span", { class: "stale" }, " may be stale: changed in the work tree") : null,
    row.stale ? h("span", { class: "stale" }, " may be stale: changed in ", link(session, row.stale)) : null,
  );

const section = (part, session) => [
  h("dt", { class: part.tone || "" }, part.title),
  h("dd", { class: part.tone || "" }, FORMS[part.form](part, session)),
];

const files = (event) => {
  if (!event.files.length) return null;
  const sum = (name) => event.files.reduce((total, file) => total + file[name], 0).toLocaleString("en");
  return h(
    "div",
    { class: "files" },
    h("h3", {}, `${count(event.files.length + event.more_files, "file")} changed `,
      h("span", { class: "plus" }, `+${sum("added")}`), " ", h("span", { class: "minus" }, `−${sum("deleted")}`)),
    event.files.map((file, place) => drawnFile(event, file, place)),
    event.more_files
      ? h("p", { class: "left-out" }, `${count(event.more_files, "more file")} not on this page: `, h("code", {}, event.stat))
      : null,
  );
};

const head = (session, event) =>
  h(
    "header",
    {},
    h("h2", {}, h("a", { href: `#${encodeURI(address(session, event.anchor))}` }, event.name)),
    event.phase && h("span", { class: `phase ${event.phase}` }, event.phase),
    event.name.toLowerCase() === event.kind ? null : event.kind === "checkpoint" ? null : h("span", { class: "kind" }, event.kind),
    verdict(event),
    event.flags.map((flag) => h("span", { class: "flag" }, flag)),
    h("span", { class: "about" },
      stamp(event.at), " · ", event.line,
      event.after ? [" · after ", link(session, event.after)] : null,
      event.to ? [" · back to ", link(session, event.to)] : null,
      event.written ? ` · written as ${event.written}` : null,
      " · ", h("code", {}, event.commit)),
  );

const emptyCard = ({ events: [event] }) =>
  h("article", { class: `step ${event.kind}${event.active ? "" : " aside"}`, tabindex: "-1" });

// A step is drawn when it is looked at, or when there is time.
const draw = (step) => {
  if (step.isDrawn) return;
  step.isDrawn = true;
  step.card.append(...(step.events[0].kind === "auto" ? autos(step) : words(step)).filter(Boolean));
};

const words = ({ session, events: [event] }) => {
  const parts = event.sections.flatMap((part) => section(part, session));
  const said = parts.length ? h("dl", {}, parts) : h("p", { class: "words", dir: "auto" }, event.said);
  return [head(session, event), said, files(event)];
};

const autos = ({ session, events }) => [
  h("header", {}, h("h2", {}, count(events.length, "automatic checkpoint")), h("span", { class: "about" }, events[0].line)),
  ...events.map((event) => h("div", { class: "one" },
    h("p", {}, stamp(event.at), " ", verdict(event), " ", event.said, " ", h("code", {}, event.commit)),
    warnings(session, event), files(event))),
];

const warnings = (session, event) => {
  const parts = event.sections.filter((part) => part.tone === "warning");
  return parts.length ? h("dl", {}, parts.flatMap((part) => section(part, session))) : null;
};
