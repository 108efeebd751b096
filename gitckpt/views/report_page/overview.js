// What a session came to, before its steps.

const overview = (session) => {
  const about = session.overview;
  return h(
    "section",
    { class: "overview" },
    h("h1", {}, h("span", { class: "unseen" }, "Session "), session.session),
    h("p", { class: `outcome ${about.outcome.kind}`, dir: "auto" },
      about.outcome.text, " ", about.outcome.at ? link(session, about.outcome.at) : null),
    h("p", { class: "counts" }, [day(about.first), clock(about.first), span(about.first, about.last), ...about.counts]
      .filter(Boolean).map((text) => h("span", {}, text))),
    about.agent ? h("p", { class: "agent" }, h("code", {}, about.agent)) : null,
    about.lost ? h("p", { class: "lost" }, `${count(about.lost, "event")} of this session cannot be found: gitckpt verify`) : null,
    phases(session, about.phases),
    about.state.length ? part(["Where it stands, at ", link(session, about.latest)],
      h("dl", {}, about.state.flatMap((one) => section(one, session)))) : null,
    about.retries.length ? part("Retries, and why", about.retries.map((one) => retry(session, one))) : null,
    about.attempts.length ? part("Attempts side by side", h("ul", {}, about.attempts.map((one) => attempt(session, one)))) : null,
    about.claims.length ? part("Said, not changed", h("ul", {}, about.claims.map((one) =>
      h("li", {}, link(session, one.at), ": ", one.paths.join(", "))))) : null,
    about.gaps.length ? part("Not in the snapshots", h("ul", {}, about.gaps.map((one) => gap(session, one)))) : null,
  );
};

const part = (title, content) => h("section", { class: "part" }, h("h3", {}, title), content);

const phases = (session, runs) => {
  if (!runs.length) return null;
  const strip = runs.map((run) => {
    const title = `${run.phase}: ${count(run.steps, "step")}`;
    const box = link(session, { name: run.phase, anchor: run.anchor }, { class: `run ${run.phase}`, title });
    box.style.setProperty("flex-grow", run.steps);
    return box;
  });
  return h("div", { class: "phases", role: "group", "aria-label": "Phases on the current line" }, strip);
};

const retry = (session, one) =>
  h(
    "div",
    { class: "why" },
    link(session, one.at), ` from ${one.from}`,
    one.to ? [", on from ", link(session, one.to)] : null,
    h("p", { dir: "auto" }, one.reason),
    h("p", { class: "instead", dir: "auto" }, one.new_strategy),
  );

const attempt = (session, one) =>
  h(
    "li",
    {},
    link(session, one.at), one.to ? [" from ", link(session, one.to)] : null, ": ",
    one.verdict ? [verdict(one), " "] : null, one.words,
  );

const gap = (session, one) =>
  h(
    "li",
    {},
    h("code", {}, one.path), one.reason ? `: ${one.reason}` : "",
    one.first ? [" (", link(session, one.first), one.steps > 1 ? [" to ", link(session, one.last)] : null, ")"] : null,
  );
