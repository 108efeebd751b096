"""The account of a recording, reported at its end."""

from __future__ import annotations

import os

from gitckpt.trajectory.paths import data_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.protocol.blocks import Block
    from gitckpt.trajectory.events import Event


class Account:
    """What a recorder has done.

    `blocks` counts the blocks on record; `session` is the session of the last one. `opened` is the session that the
    recorder opened, "" if none. `lost` counts the events that were on record and are gone. `missing` maps the paths
    that the snapshots do not hold to the reasons. `final` says whether the last recorded block was a FINAL.
    """

    def __init__(self) -> None:
        self.blocks, self.session, self.opened, self.lost = 0, "", "", 0
        self.missing: dict[str, str] = {}
        self.final = False
        self._mended: list[str] = []

    def add(self, event: Event, block: Block | None = None) -> None:
        """Account for a recorded event. `block` is the block that it was written as."""
        self.blocks, self.session = self.blocks + 1, event.session
        self.final = event.kind == "final"
        if event.kind == "checkpoint":
            from gitckpt.views.mended import mended

            self._mended += [f"{event.id}: {words}" for words in mended(event, block)]
        for missing in event.missing:
            self.missing[os.fsdecode(data_path(missing["path"]))] = str(missing["reason"])

    def uncovered(self) -> list[str]:
        """Return a line for lost events, and one for each path that is not covered; at most ten paths are named."""
        return self._gone() + self._not_covered()

    def _gone(self) -> list[str]:
        from gitckpt.views.text import count

        what = count(self.lost, "event")
        how = "somebody deleted or moved a ref, or replaced the git directory"
        return [f"no longer on record: {what} from before: {how}; gitckpt verify names which"] if self.lost else []

    def _not_covered(self) -> list[str]:
        lines = [f"not covered: {path}: {reason}" for path, reason in sorted(self.missing.items())]
        return lines if len(lines) <= 10 else [*lines[:10], f"and {len(lines) - 10} more not covered"]

    def mended(self) -> list[str]:
        """Return a line for each checkpoint state that was corrected when it was recorded; at most ten."""
        more = len(self._mended) - 10
        return self._mended if more <= 0 else [*self._mended[:10], f"and {more} more"]

    def total(self, exit_status: int = 0) -> str:
        """Say how many blocks are on record, what to do if there are none, and how to resume if the agent failed before
        its end."""
        if not self.blocks:
            return "no block was found in the output; gitckpt prompt prints what teaches an agent to write them"
        from gitckpt.views.text import count

        where = f"the new session {self.session}" if self.opened else f"session {self.session}"
        go_on = ", gitckpt resume goes on from there" if exit_status and not self.final else ""
        return f"{count(self.blocks, 'block')} recorded in {where}; gitckpt log shows what{go_on}"
