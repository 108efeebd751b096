"""Exit statuses of commands that were run on snapshots: a cache by tree and command, independent of any history.

Each is one appended line of JSON. A truncated line is ignored; what is lost can be found again by running the
command."""

from __future__ import annotations

import os

from gitckpt.repo.private import is_plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.bisection import Run
    from gitckpt.trajectory.events import Event


class Results:
    """Exit statuses by tree and command, for all runs on this work tree's snapshots. The latest run counts."""

    def __init__(self, repository: Repository) -> None:
        self._path = os.path.join(repository.private_dir, b"results.jsonl")
        self._known: dict[str, dict[tuple[str, ...], int]] = {}
        for tree, command, status in self._read():
            self._known.setdefault(tree, {})[command] = status

    def status(self, tree: str, command: Sequence[str]) -> int | None:
        """Return the exit status of this command on this tree; None if it was never run."""
        return self._known.get(tree, {}).get(tuple(command))

    def at(self, events: Iterable[Event]) -> dict[str, list[Run]]:
        """Return, by commit, every command that was run on the files of one of these events, with its exit status."""
        if not self._known:
            return {}
        return {e.commit: list(self._known[e.tree].items()) for e in events if e.tree in self._known}

    def add(self, tree: str, command: Sequence[str], status: int) -> None:
        """Keep the result of a run. If the file cannot be written, the only cost is another run."""
        import json

        self._known.setdefault(tree, {})[tuple(command)] = status
        row = json.dumps({"tree": tree, "command": list(command), "status": status}) + "\n"
        try:
            if os.path.lexists(self._path) and not is_plain_file(self._path):
                return
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            with open(os.open(self._path, flags, 0o666), "w") as file:
                file.write("\n" + row)
        except OSError:
            return

    def _read(self) -> Iterator[tuple[str, tuple[str, ...], int]]:
        if not is_plain_file(self._path):
            return
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                rows = file.read().splitlines()
        except OSError:
            return
        # not at the top: most listed sessions have no runs
        import json

        for row in rows:
            try:
                document = json.loads(row)
                yield str(document["tree"]), tuple(map(str, document["command"])), int(document["status"])
            except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
                continue
