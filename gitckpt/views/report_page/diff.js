// The changes of a file, drawn when they are opened for the first time.

const drawnFile = (event, file, place) => {
  const lines = event.diff !== null && (file.added || file.deleted || file.left_out);
  const head = [
    h("span", { class: `status ${file.status}` }, file.status),
    h("span", { class: "path" }, file.path),
    h("span", { class: "plus" }, file.added ? `+${file.added.toLocaleString("en")}` : ""),
    h("span", { class: "minus" }, file.deleted ? `−${file.deleted.toLocaleString("en")}` : ""),
    file.notes.length ? h("span", { class: "note" }, file.notes.join(", ")) : null,
  ];
  if (!lines) return h("div", { class: "file" }, head);
  const element = h("details", { class: "file" }, h("summary", {}, head));
  element.addEventListener("toggle", () => drawOnce(element, event, file, place));
  return element;
};

const drawOnce = (element, event, file, place) => {
  if (!element.open || element.dataset.drawn) return;
  element.dataset.drawn = "yes";
  const text = JSON.parse(document.getElementById(`diff-${event.diff}`).textContent)[place];
  element.append(h("div", { class: "diff", tabindex: "0", role: "region", "aria-label": file.path }, diffLines(text)));
  if (file.command) element.append(leftOut(file));
};

const leftOut = (file) =>
  h(
    "p",
    { class: "left-out" },
    file.left_out ? `${count(file.left_out, "more line")} not on this page: ` : "Long lines are cut here: ",
    h("code", {}, file.command),
  );

const KINDS = { "+": "add", "-": "del", "@": "hunk", "\\": "hunk" };

const diffLines = (text) => {
  let [old, fresh] = [0, 0];
  const drawn = document.createDocumentFragment();
  for (const line of text ? text.split("\n") : []) {
    const kind = KINDS[line[0]] || "same";
    const place = kind === "hunk" && /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (place) [old, fresh] = [Number(place[1]), Number(place[2])];
    const numbers = [kind === "add" || kind === "hunk" ? "" : old++, kind === "del" || kind === "hunk" ? "" : fresh++];
    drawn.append(h("div", { class: `l ${kind}`, "data-old": numbers[0], "data-new": numbers[1] }, h("code", {}, line)));
  }
  return drawn;
};
