"""What the model is told."""

from __future__ import annotations

_RULES = """\
You carry out a task in the directory of a project, with the tools you are given. Paths are relative to that directory.
Take one step at a time and look at what came of it. When the whole task is done, and you have looked that it is, answer
with a line that begins with FINAL: and says what came out, and call no tool. Until then each of your answers calls a
tool.
"""

_MEMORY = """
Your context is small and is cleared on purpose, so that failed attempts and long outputs do not fill it:
- checkpoint saves what you know: the goal with its limits; the facts you will need again, each with its source (a URL,
  or path:line; a guess belongs under open); what is done; what is left to do, the next step first; open questions. At
  most 2,000 characters. It also saves every file. Call it after each finished step and before anything risky.
- reset clears your context. You go on from the last checkpoint's state alone: call checkpoint first.
"""

BEGIN = "Begin: name the first step, then take it."

GO_ON = (
    "That called no tool. Take the next step with a tool; or, when the whole task is done, answer with a line that "
    "begins with FINAL: and says what came out."
)

CUT_OFF = (
    "That was cut off: it was longer than one answer may be, and called no tool. Answer in fewer words, with the next "
    "step as a call of a tool; or, when the whole task is done, with a line that begins with FINAL: and says what came "
    "out."
)

CALL_CUT_OFF = "\n→ your answer was cut off: it was longer than one may be. Take it in smaller steps."

CHECKPOINT_THEN_RESET = (
    "Your context is nearly full. Call checkpoint now, with all that you will need, and after it reset. In your next "
    "answer but one it is cleared in any case, and what is in no checkpoint is lost."
)

NOW_RESET = "Your state is saved. Call reset now: your context is nearly full, and is about to be cleared in any case."

NOT_SAVED = (
    "the context was cleared before this was saved anew: look at the files for what was done since, before doing it "
    "again"
)


def rules(*, memory: bool = True) -> str:
    """Return the system text of a run, without its task; `memory` says whether checkpoint and reset are available."""
    return _RULES + (_MEMORY if memory else "")


def with_task(system: str, task: str) -> str:
    """Return a system text with the task at its end."""
    return f"{system}\nThe task:\n{task}\n" if task else system
