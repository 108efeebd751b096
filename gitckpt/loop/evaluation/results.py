"""The files of an evaluation on disk, from which an interrupted one continues.

DIR/settings.json     what all runs have in common; results with other settings are never added
DIR/results.jsonl     one line per run, on disk before the next run begins
DIR/runs/TASK/ARM-N/  the repository of a run: its log, its checkpoints
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING, Any, Final

from gitckpt.errors import Damaged, Refused, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from gitckpt.loop.evaluation.trial import Trial

SETTINGS: Final = "settings.json"
RESULTS: Final = "results.jsonl"

#: The suffix of a file that is being written.
NEW: Final = ".new"

#: Keeps these files out of a repository that may contain the directory.
IGNORED: Final = ".gitignore"


class Results:
    """The directory of an evaluation, locked while it is open. `records` are the runs so far.

    Raises Refused if the directory holds something else, or results with other settings, or if another evaluation is
    running.
    """

    def __init__(self, directory: Path, settings: Mapping[str, Any]) -> None:
        self._directory = directory
        _refuse_foreign(directory)
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._hold()
            self._agree(settings)
            self._cut_torn_line()
            self.records = read_records(directory)
        except BaseException:
            os.close(self._lock)
            raise

    def __enter__(self) -> Results:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._lock)

    def place(self, trial: Trial) -> Path:
        """Return the directory of a run's repository."""
        return self._directory / "runs" / trial.task.name / f"{trial.arm}-{trial.repeat}"

    def has(self, trial: Trial) -> bool:
        """Return whether the run was completed."""
        return trial.key in {(record["task"], record["arm"], record["repeat"]) for record in self.records}

    def add(self, record: dict[str, Any]) -> None:
        """Record a run; it is on disk when this returns."""
        line = json.dumps(record, ensure_ascii=False) + "\n"
        with open(self._directory / RESULTS, "a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        os.fsync(self._lock)
        self.records.append(record)

    def _hold(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"another evaluation writes to {self._directory}", "choose another one with -o") from None

    def _agree(self, settings: Mapping[str, Any]) -> None:
        path = self._directory / SETTINGS
        if not path.exists():
            _write(self._directory / IGNORED, "*\n")
            _write(path, json.dumps(settings, ensure_ascii=False, indent=1) + "\n")
            os.fsync(self._lock)
            return
        before = read_settings(self._directory)
        names = sorted(name for name in {*before, *settings} if before.get(name) != settings.get(name))
        if names:
            told = "; ".join(f"{name} was {before.get(name)!r}, is {settings.get(name)!r}" for name in names)
            raise Refused(f"{self._directory} holds results of other settings: {told}", "another directory: -o DIR")

    def _cut_torn_line(self) -> None:
        """Remove a partial last line, left by a process that was killed or by a full disk."""
        path = self._directory / RESULTS
        content = path.read_bytes() if path.exists() else b""
        if content and not content.endswith(b"\n"):
            with open(path, "rb+") as file:
                file.truncate(content.rfind(b"\n") + 1)
                os.fsync(file.fileno())


def _refuse_foreign(directory: Path) -> None:
    """Raise Refused for a directory with other files in it, UsageError if the path is not a directory."""
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory} is no directory", "-o DIR, where DIR is new, empty or of an evaluation")
    if not directory.is_dir() or (directory / SETTINGS).exists():
        return
    begun = {IGNORED, *(f"{name}{NEW}" for name in (IGNORED, SETTINGS))}  # all that is there if it was killed early
    if {*os.listdir(directory)} - begun:
        raise Refused(f"{directory} holds other files", "-o DIR, where DIR is new, empty or of an evaluation")


def read_settings(directory: Path) -> dict[str, Any]:
    """Return the settings of an evaluation. Raises Refused if there is none, Damaged if they cannot be read."""
    path = directory / SETTINGS
    if not path.is_file():
        raise Refused(f"{directory} holds no evaluation", "gitckpt eval -o DIR makes one")
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Damaged(f"{path} cannot be read: {error}", "begin anew in another directory: -o DIR") from error
    if not isinstance(settings, dict):
        raise Damaged(f"{path} holds no settings", "begin anew in another directory: -o DIR")
    return settings


def read_records(directory: Path) -> list[dict[str, Any]]:
    """Return the runs so far, without an incomplete last line. Raises Damaged."""
    path = directory / RESULTS
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    lines = text.splitlines()[: text.count("\n")]
    return [_record(path, number, line) for number, line in enumerate(lines, 1)]


def _record(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict) or not {"task", "arm", "repeat", "success"} <= record.keys():
        raise Damaged(f"{path}, line {number} cannot be read", "take it out: that run is then done again")
    return record


def _write(path: Path, text: str) -> None:
    """Write a file atomically."""
    new = path.with_name(path.name + NEW)
    with open(new, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
