"""The memory of a run: checkpoint and reset over git, with the rules that the host enforces.

It keeps nothing of its own: what it goes by is on record, so that a run that was killed goes on from the same."""

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
    given one. `checkpoints` and `resets` count those of this process, `forced` the resets that the host did."""

    def __init__(self, recorder: Recorder, task: str) -> None:
        self._recorder, self._task = recorder, task
        self.checkpoints = self.resets = self.forced = 0
        self._idle = 0
        self._cleared = ""

    def _events(self) -> list[Event]:
        session = self._recorder.open()
        return session.on_line(session.active_line)

    def actions(self) -> list[Action]:
        """The two things to call, as the toolbox defines them."""
        checkpoint, reset = TOOLS["checkpoint"], TOOLS["reset"]
        return [
            action_of(CheckpointArguments, checkpoint.name, checkpoint.description, self._checkpoint),
            action_of(NoArguments, reset.name, reset.description, self._reset),
        ]

    @property
    def state(self) -> dict[str, Any] | None:
        """The state of the newest checkpoint, as its fields have it; None before the first."""
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
        """What the agent knows after a reset that it has called since this was asked last; "" where it called none."""
        text, self._cleared = self._cleared, ""
        return text

    def clear_by_force(self, *, behind: bool) -> str:
        """Clear the context though the agent did not: what it knows from then on.

        Where its state is `behind` what was done the host saves it once more, with the files as they are, and says
        so."""
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
        """What an agent is given that goes on with a run that has ended or died; "" where no state is on record."""
        event = last_state(self._events())
        return state_text(self._recorder, event) if event else ""
