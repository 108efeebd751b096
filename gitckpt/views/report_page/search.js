// Search: steps that hold all the words, in what they say, in their paths or in their changes; and those alone whose
// tests have failed, where that is asked for.

let onlyFailed = false;

const texts = (value) => {
  if (typeof value === "string") return [value];
  return value && typeof value === "object" ? Object.values(value).flatMap(texts) : [];
};

const saidText = (step) => (step.text ??= texts(step.events).join("\n").toLowerCase());

// Changes are looked through as they stand in the page, which is JSON.
const changedText = (step) =>
  (step.changed ??= step.events
    .filter((event) => event.diff !== null)
    .map((event) => document.getElementById(`diff-${event.diff}`).textContent.toLowerCase())
    .join("\n"));

const asJson = (word) => JSON.stringify(word).slice(1, -1).replaceAll("<", "\\u003c");

const hasFailed = (step) => step.events.some((event) => event.verdict === "failed");

const holds = (step, words) =>
  (!onlyFailed || hasFailed(step)) &&
  words.every((word) => saidText(step).includes(word) || changedText(step).includes(asJson(word)));

const search = (query) => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const isSearching = words.length > 0 || onlyFailed;
  document.body.classList.toggle("searching", isSearching);
  let matches = 0;
  for (const step of steps) {
    step.hidden = isSearching && !holds(step, words);
    step.entry.parentElement.hidden = step.card.hidden = step.hidden;
    matches += step.hidden ? 0 : 1;
  }
  document.getElementById("found").textContent = isSearching ? `${matches} of ${count(steps.length, "step")}` : "";
  highlight(words);
};

const showFailed = (only) => {
  const button = document.getElementById("failed");
  onlyFailed = only && !button.hidden;
  button.setAttribute("aria-pressed", onlyFailed);
  search(field.value);
};

const MOST_HIGHLIGHTED = 2000;

const highlight = (words) => {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("found");
  if (!words.length) return;
  const ranges = [];
  for (const step of steps) {
    if (step.hidden || ranges.length >= MOST_HIGHLIGHTED) continue;
    draw(step);
    ranges.push(...rangesIn(step.card, words));
  }
  CSS.highlights.set("found", new Highlight(...ranges.slice(0, MOST_HIGHLIGHTED)));
};

const rangesIn = (element, words) => {
  const ranges = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    for (const word of text.length === node.data.length ? words : []) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
};
