"""Draws the results of an evaluation with matplotlib, which is loaded only here."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from gitckpt.errors import GitFailed, UsageError

FORMATS: Final = (".svg", ".png", ".pdf")

#: From the Okabe-Ito palette, which readers with color vision deficiency can tell apart.
COLOURS: Final = {"A": "#999999", "B": "#0072B2"}


def refuse_undrawable(path: str) -> None:
    """Raise UsageError if no chart can be drawn there. Called before anything is run."""
    if Path(path).suffix.lower() not in FORMATS:
        raise UsageError(f"a chart cannot be drawn as {path!r}", f"FILE ends with {', '.join(FORMATS)}")
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"there is no directory {Path(path).parent}", "make it first")
    if find_spec("matplotlib") is None:
        raise UsageError(
            "a chart needs matplotlib, which is not installed",
            "pip install '.[eval]', or pipx install --force '.[eval]', in a clone of the repository",
        )


def draw(document: dict[str, Any], path: str) -> None:
    """Draw the share of right answers, and the input tokens of each task, with their intervals. Raises GitFailed if the
    file cannot be written."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # text stays text, and the same results produce the same bytes
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "gitckpt", "font.size": 9}):
        figure = Figure(figsize=(9, 2.4 + 0.32 * len(document["tasks"])), layout="constrained")
        figure.suptitle(f"Checkpoint and reset (B) beside plain ReAct (A): {document['settings']['model']}")
        shares, tokens = figure.subplots(1, 2, width_ratios=(1, 3))
        _draw_shares(shares, document["arms"])
        _draw_tokens(tokens, document["tasks"])
        try:
            figure.savefig(path, metadata={"Date": None} if path.lower().endswith(".svg") else None)
        except OSError as error:
            raise GitFailed(f"the chart was not written: {error.strerror} ({path})") from error


def _draw_shares(axes: Any, arms: dict[str, Any]) -> None:
    for place, (arm, found) in enumerate(arms.items()):
        share = found["success"]
        if share:
            reach = [[share["rate"] - share["low"]], [share["high"] - share["rate"]]]
            axes.bar(place, share["rate"], 0.6, yerr=reach, capsize=4, color=COLOURS[arm])
    axes.set_xticks(range(len(arms)), [f"{arm}\n{found['runs']} runs" for arm, found in arms.items()])
    axes.set_ylim(0, 1)
    axes.set_title("right answers")


def _draw_tokens(axes: Any, tasks: list[dict[str, Any]]) -> None:
    for place, arm in enumerate(COLOURS):
        found = [task["arms"][arm]["input_tokens"] for task in tasks]
        rows = [row + 0.4 * place - 0.2 for row, tokens in enumerate(found) if tokens]
        known = [tokens for tokens in found if tokens]
        reach = [0 if tokens["low"] is None else tokens["high"] - tokens["mean"] for tokens in known]
        axes.barh(rows, [tokens["mean"] for tokens in known], 0.4, xerr=reach, color=COLOURS[arm], label=arm)
    axes.set_yticks(range(len(tasks)), [f"{task['number']} {task['task']}" for task in tasks])
    axes.invert_yaxis()
    axes.set_xlim(left=0)  # an interval over few runs may extend below 0, tokens cannot
    axes.set_title("input tokens of a run, resets included")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.legend()
