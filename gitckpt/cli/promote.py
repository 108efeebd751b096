"""`gitckpt promote [A..]B`: turn checkpoints into ordinary commits on a new branch."""

from __future__ import annotations

from gitckpt.cli import render
from gitckpt.cli.elapsed import while_telling
from gitckpt.cli.transfer import ending_by_signal
from gitckpt.errors import UsageError
from gitckpt.promoter import Promoter, Promotion
from gitckpt.repo.reader import Reader
from gitckpt.repo.worktree import WorkTree
from gitckpt.trajectory.promotion import steps
from gitckpt.views.promotion import promotion_document, promotion_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitckpt.trajectory.events import Event


def promote(
    span: str,
    *,
    squash: bool = False,
    branch: str | None = None,
    onto: str = "HEAD",
    message: str = "",
    dry_run: bool = False,
    json: bool = False,
) -> int:
    """Make the commits and a new branch for them. With `dry_run`, no ref is created."""
    if message.strip() and not squash:
        raise UsageError("--message is the message of one commit", "add --squash")
    reader = Reader()
    after, last = _ends(reader, span)
    session = reader.session(last.session)
    planned = steps(session, after, last, squash=squash)
    tree = WorkTree(reader.repository, render.say, lenient=True)
    promoter = Promoter(tree)
    name = branch or f"promoted/{last.session}-{last.id or last.commit[:8]}"
    promoter.check_branch(name)
    base = promoter.base(onto)
    start = session.chain(last.commit)[0]
    with ending_by_signal():
        promotion = while_telling(lambda: promoter.make(planned, start, base, message))
    if not dry_run:
        promoter.publish(promotion, name)
    tree.close()
    document = _document(promotion, name, done=not dry_run)
    if json:
        render.json(document)
    else:
        on = f"{base[:10]}{'' if onto == base else f' ({onto})'}" if base else "an empty history"
        lines = promotion_lines(document, on, render.style(), render.columns(), ahead=base == promoter.base("HEAD"))
        render.out(lines)
    return 0


def _ends(reader: Reader, span: str) -> tuple[Event | None, Event]:
    """Return where to begin, None for the start of the session, and where to end."""
    after, dots, last = span.rpartition("..")
    found = reader.find(last or "last")
    if found.note:
        render.say(found.note)
    return (reader.find(after).event if dots and after else None), found.event


def _document(promotion: Promotion, branch: str, *, done: bool) -> dict[str, Any]:
    commits = [
        (made.commit, made.message, [event.ref for event in made.step.events], made.paths) for made in promotion.commits
    ]
    skipped = [event.ref for event in promotion.skipped]
    return promotion_document(promotion.base, branch, commits, left_out=promotion.left_out, skipped=skipped, done=done)
