"""The order of attempts: forks as they began, the attempts of one by their number, whatever their sessions are called."""

from __future__ import annotations

from gitckpt.trajectory.attempts import tried
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.session import Session


def attempt(fork: str, number: int, at: str) -> Session:
    """An attempt that began at C2 of another session, and its end."""
    id = f"{fork}-{number}"
    before = Event(
        kind="checkpoint", session="run", line="main", seq=1, at="2026-01-01T00:00:00Z", commit="c2", id="C2"
    )
    record = {"attempt": {"number": number, "status": 0}}
    end = Event(
        kind="end", session=id, line="main", seq=2, at=at, subject=f"attempt {number}", commit=id, parents=["c2"],
        document=record,
    )  # fmt: skip
    return Session(id, [before, end], {"main": id})


def test_forks_come_as_they_began_and_attempts_by_their_number() -> None:
    early, late = "2026-01-02T10:00:00.1Z", "2026-01-02T10:00:00.2Z"
    sessions = [attempt("s-a", 1, late), attempt("s-z", 2, early), attempt("s-z", 1, late)]
    assert [found.session for found in tried(sessions)] == ["s-z-1", "s-z-2", "s-a-1"]
