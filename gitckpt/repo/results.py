"""What came of a command that was run on a snapshot: a cache by tree and command, which no history has to agree with.

One line of JSON each, appended. A line that is torn is as good as none; what is lost can be found again by running the
command."""

from __future__ import annotations

import json
import os

from gitckpt.repo.private import is_plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.repo.repository import Repository

    #: Tree and command.
    Run = tuple[str, tuple[str, ...]]


class Results:
    """Exit statuses by tree and command, of all runs on this work tree's snapshots; a later run counts."""

    def __init__(self, repository: Repository) -> None:
        self._path = os.path.join(repository.private_dir, b"results.jsonl")
        self._known = self._read()

    def status(self, tree: str, command: Sequence[str]) -> int | None:
        """The exit status of this command on this tree; None where it was never run."""
        return self._known.get((tree, tuple(command)))

    def of(self, tree: str) -> list[tuple[tuple[str, ...], int]]:
        """Every command that was run on this tree, with its exit status."""
        return [(command, status) for (known, command), status in self._known.items() if known == tree]

    def add(self, tree: str, command: Sequence[str], status: int) -> None:
        """Keep what came of a run. A file that cannot be written costs a further run, nothing else."""
        self._known[tree, tuple(command)] = status
        row = json.dumps({"tree": tree, "command": list(command), "status": status}) + "\n"
        try:
            if os.path.lexists(self._path) and not is_plain_file(self._path):
                return
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            with open(os.open(self._path, flags, 0o666), "w") as file:
                file.write("\n" + row)
        except OSError:
            return

    def _read(self) -> dict[Run, int]:
        known: dict[Run, int] = {}
        if not is_plain_file(self._path):
            return known
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                rows = file.read().splitlines()
        except OSError:
            return known
        for row in rows:
            try:
                document = json.loads(row)
                known[str(document["tree"]), tuple(map(str, document["command"]))] = int(document["status"])
            except (ValueError, TypeError, KeyError):
                continue
        return known
