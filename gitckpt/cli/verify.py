"""`gitckpt verify`: check that the record is intact."""

from __future__ import annotations

from gitckpt.cli import render
from gitckpt.cli.progress import Progress
from gitckpt.errors import Damaged, Negative, UnknownId
from gitckpt.repo.repository import discover


def verify(*, session: str | None = None, json: bool = False) -> int:
    """Print what is wrong with the sessions of this repository, or with one. Returns 0 if all are intact, 1 if there
    are only notices, 5 if history is damaged."""
    from gitckpt.repo.verification import Verification
    from gitckpt.views.verify import Verified, verify_document, verify_lines

    with Progress("reading objects") as progress:
        found = Verification(discover(), session, progress)
    if session is not None and not (found.record.by_session or found.findings):
        raise UnknownId(f"no session {session!r}", "gitckpt sessions lists them")
    verified = Verified(found.record, found.findings, found.newer, found.objects)
    if json:
        render.json(verify_document(verified))
    else:
        render.out(verify_lines(verified, render.style()))
    return Damaged.exit_status if verified.is_damaged else Negative.exit_status if verified.findings else 0
