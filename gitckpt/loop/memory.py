"""The memory of a run: checkpoint and reset over git, with the rules that the host enforces.

Everything that it relies on is on record, so a run that was killed continues from the same state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitckpt.loop.actions import action_of
from gitckpt.loop.wording import NOT_SAVED
from gitckpt.toolbox.arguments import CheckpointArguments, NoArguments
from gitckpt.toolbox.state import STUCK, clear, last_state, refuse_reset, save_state, state_text
from gitckpt.toolbox.tools import TOOLS

if TYPE_CHECKING:
    from gitckpt.loop.actions import Action
    from gitckpt.recorder import Recorder
    from gitckpt.trajectory.events import Event


class Memory:
    """The state of one run, recorded by `recorder` into a session of its own. `task` is the goal until the agent has
    given one. `checkpoints` and `resets` count those of this process, `forced` the resets done by the host."""

    def __init__(self, recorder: Recorder, task: str) -> None:
        self._recorder, self._task = recorder, task
        self.checkpoints = self.resets = self.forced = 0
        self._idle = 0
        self._cleared = ""

    def _events(self) -> list[Event]:
        session = self._recorder.open()
        return session.on_line(session.active_line)

    def actions(self) -> list[Action]:
        """Return the two actions, as the toolbox defines them."""
        checkpoint, reset = TOOLS["checkpoint"], TOOLS["reset"]
        return [
            action_of(CheckpointArguments, checkpoint.name, checkpoint.description, self._checkpoint),
            action_of(NoArguments, reset.name, reset.description, self._reset),
        ]

    @property
    def state(self) -> dict[str, Any] | None:
        """The fields of the newest checkpoint's state; None before the first."""
        event = last_state(self._events())
        return dict(event.fields) if event else None

    @property
    def is_stuck(self) -> bool:
        """Whether too many checkpoints in a row have brought no progress."""
        return self._idle >= STUCK

    def _checkpoint(self, call: CheckpointArguments) -> str:
        saved = save_state(self._recorder, self._events(), call)
        self._idle = saved.idle
        self.checkpoints += 1
        return saved.answer

    def _reset(self, call: NoArguments) -> str:
        events = self._events()
        refuse_reset(events)
        _, self._cleared = clear(self._recorder, events)
        self.resets += 1
        return "The context is cleared."

    def cleared(self) -> str:
        """Return what the agent knows after a reset that it has called since this was last asked; "" if it has called
        none."""
        text, self._cleared = self._cleared, ""
        return text

    def clear_by_force(self, *, behind: bool) -> str:
        """Clear the context although the agent did not. Return what it knows from then on.

        If its state is `behind` the work, the host saves the state once more, with the files as they are, and notes
        that in it.
        """
        if behind:
            self._save_last_state()
        _, text = clear(self._recorder, self._events(), forced=True)
        self.resets += 1
        self.forced += 1
        return text

    def _save_last_state(self) -> None:
        last = self.state or {"goal": self._task, "todo": ["find out what of the task is done, and go on with it"]}
        known = [entry for entry in last.get("open") or () if entry != NOT_SAVED]
        self._recorder.checkpoint({**last, "open": [*known, NOT_SAVED]}, {"by_host": True})

    def going_on(self) -> str:
        """Return what an agent is given to continue a run that has ended or died; "" if no state is on record."""
        event = last_state(self._events())
        return state_text(self._recorder, event) if event else ""
