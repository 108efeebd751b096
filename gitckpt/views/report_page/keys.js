// Where the reader is, and how the keyboard moves him.

const root = document.documentElement;
const field = document.getElementById("search");
const help = document.getElementById("help");
let selected = null;

const select = (step, { quiet = false } = {}) => {
  for (const element of selected ? [selected.entry, selected.card] : []) element.removeAttribute("aria-current");
  selected = step;
  draw(step);
  for (const element of [step.entry, step.card]) element.setAttribute("aria-current", "true");
  step.entry.scrollIntoView({ block: "nearest" });
  if (quiet) return;
  step.card.focus({ preventScroll: true });
  step.card.scrollIntoView({ block: "start" });
  if (location.hash !== `#${encodeURI(step.address)}`) history.replaceState(null, "", `#${encodeURI(step.address)}`);
};

// The step that a name means: C7, c7, 7, R1, start, SESSION/C7, or the beginning of a commit.
const named = (name) => {
  const [id, session] = name.split("/").reverse();
  const wanted = record.sessions.filter((one) => !session || one.session === session).reverse();
  for (const one of wanted) {
    const key = id.toLowerCase();
    const anchor = [key, `c${key}`].filter((own) => Object.hasOwn(one.names, own)).map((own) => one.names[own])[0];
    const found = steps.find((step) => step.session === one && step.events.some((event) =>
      event.anchor === (anchor || id) || (key.length > 3 && event.commit.startsWith(key.slice(0, 12)))));
    if (found) return found;
  }
  return null;
};

const follow = () => {
  let name = location.hash.slice(1);
  try {
    name = decodeURIComponent(name);
  } catch {
    return;
  }
  const step = name && named(name);
  if (!step) return;
  if (step.hidden) clear();
  select(step);
};

const clear = () => {
  field.value = "";
  showFailed(false);
};

const isSeen = (step) => {
  const { top, bottom } = step.card.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
};

const move = (by) => {
  const shown = steps.filter((step) => !step.hidden);
  if (!shown.length) return;
  const from = shown.indexOf(selected);
  if (from < 0 || !isSeen(selected)) return select(shown.find(isSeen) || shown[by > 0 ? 0 : shown.length - 1]);
  select(shown[Math.min(Math.max(from + by, 0), shown.length - 1)]);
};

const toggleFiles = () => {
  const all = selected ? [...selected.card.querySelectorAll("details")] : [];
  const open = all.some((one) => !one.open);
  all.forEach((one) => (one.open = open));
};

const THEMES = ["auto", "light", "dark"];

const setTheme = (theme) => {
  const known = THEMES.includes(theme) ? theme : "auto";
  root.dataset.theme = known;
  document.getElementById("theme").textContent = known;
  try {
    localStorage.setItem("gitckpt-theme", known);
  } catch {
    // a browser that keeps nothing for a file
  }
};

const nextTheme = () => setTheme(THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length]);

const keptTheme = () => {
  try {
    return localStorage.getItem("gitckpt-theme");
  } catch {
    return null;
  }
};

const KEYS = {
  j: ["the next step", () => move(1)],
  k: ["the step before", () => move(-1)],
  g: ["the first step", () => move(-steps.length)],
  G: ["the last step", () => move(steps.length)],
  Enter: ["open or close the changes of the step", toggleFiles],
  "/": ["search", () => field.select()],
  f: ["only the steps whose tests have failed, or all", () => showFailed(!onlyFailed)],
  Escape: ["leave the search, close this", clear],
  t: ["light, dark, or as the system has it", nextTheme],
  "?": ["these keys", () => help.showModal()],
};

const isTyped = (target) => target.closest("input, summary, button, a, .diff") !== null;

const pressed = (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target === field) return pressedInSearch(event);
  if (!Object.hasOwn(KEYS, event.key) || (event.key === "Enter" && isTyped(event.target))) return;
  event.preventDefault();
  KEYS[event.key][1]();
};

const pressedInSearch = (event) => {
  if (event.key === "Escape") clear();
  if (event.key !== "Escape" && event.key !== "Enter") return;
  event.preventDefault();
  field.blur();
  const first = steps.find((step) => !step.hidden);
  if (event.key === "Enter" && first) select(first);
};

// The first steps at once, the others little by little, so that nobody waits for what he does not see.
const AT_ONCE = 30;

const drawOn = (from) => {
  steps.slice(from, from + AT_ONCE).forEach(draw);
  if (from + AT_ONCE < steps.length) setTimeout(drawOn, 0, from + AT_ONCE);
  else root.dataset.complete = "yes";
};

const begin = () => {
  for (const session of record.sessions) {
    document.getElementById("timeline").append(timeline(session));
    document.getElementById("steps").append(overview(session));
    for (const step of steps.filter((one) => one.session === session)) {
      step.card = emptyCard(step);
      step.entry.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        select(step);
      });
      step.card.addEventListener("click", () => selected !== step && select(step, { quiet: true }));
      document.getElementById("steps").append(step.card);
    }
  }
  help.append(
    h("h2", { id: "help-title" }, "Keys"),
    h("dl", {}, Object.entries(KEYS).map(([key, [meaning]]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, meaning)])),
  );
  setTheme(keptTheme());
  field.addEventListener("input", () => search(field.value));
  document.getElementById("failed").hidden = !steps.some(hasFailed);
  document.getElementById("failed").addEventListener("click", () => showFailed(!onlyFailed));
  document.getElementById("theme").addEventListener("click", nextTheme);
  document.getElementById("help-button").addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", pressed);
  window.addEventListener("hashchange", follow);
  window.addEventListener("beforeprint", () => steps.forEach(draw));
  drawOn(0);
  follow();
  root.dataset.ready = "yes";
  performance.mark("ready");
};

begin();
