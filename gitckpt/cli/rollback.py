"""`gitckpt rollback`, `undo`, `redo`, `retry`: going back, and reverting that."""

from __future__ import annotations

import os
import sys

from gitckpt.cli import render
from gitckpt.cli.elapsed import while_telling
from gitckpt.errors import Refused, UsageError
from gitckpt.planner import Prepared
from gitckpt.recorder import Recorder
from gitckpt.repo.given import from_here
from gitckpt.repo.reader import Reader
from gitckpt.repo.worktree import WorkTree
from gitckpt.restorer import Outcome, Restorer, restore_for_retry
from gitckpt.trajectory.plan import SCOPES, Plan
from gitckpt.views.plan import changes_anything, plan_document, plan_lines
from gitckpt.views.text import count
from gitckpt.wishes import Wish, wish_after_interruption, wish_to_redo, wish_to_undo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.views.plan import PlanDocument


def rollback(
    id: str | None = None,
    *,
    hint: bool = False,
    scope: str = "staged",
    paths: list[str] | None = None,
    dry_run: bool = False,
    json: bool = False,
    keep: bool = False,
    yes: bool = False,
    resume: bool = False,
    abort: bool = False,
    last_green: bool = False,
) -> int:
    """Make the work tree match a checkpoint exactly; with `hint`, do what the checkpoint's rollback_hint says; with
    `last_green`, use the newest checkpoint at which the command of `gitckpt.verify` succeeds."""
    if scope not in SCOPES:
        raise UsageError(f"--scope {scope!r} is none of {', '.join(SCOPES)}")
    _one_wish(id, paths, hint=hint, resume=resume, abort=abort)
    if last_green and (id is not None or hint or resume or abort):
        raise UsageError("--last-green looks for the checkpoint itself", "leave out ID, --hint, --continue and --abort")
    reader = Reader()
    tree = WorkTree(reader.repository, render.say, lenient=True)
    if last_green:
        id = _green(reader, tree, json=json)
    restorer = Restorer(tree)
    with tree.lock:
        if resume or abort:
            wish = wish_after_interruption(tree, abort=abort)
        else:
            asked = _wish(reader, restorer, id, scope, from_here(reader.repository, paths or []), keep=keep, hint=hint)
            if asked is None:
                tree.close()
                return _nothing_to_undo(str(id), scope, json=json)
            wish = asked
        go_to(restorer, wish, dry_run=dry_run, json=json, yes=yes)
    tree.close()
    return 0


def _green(reader: Reader, tree: WorkTree, *, json: bool) -> str:
    """Return the commit of the newest checkpoint on the line being recorded at which the user's test succeeds."""
    from gitckpt.cli.transfer import ending_by_signal
    from gitckpt.trying import last_green, shell

    if not tree.settings.verify:
        raise UsageError("which command says what is green?", 'git config gitckpt.verify "npm test" tells gitckpt')
    events = [event for event in reader.line() if event.kind in ("start", "checkpoint", "auto")]
    output = sys.stderr.fileno() if json else None
    with ending_by_signal():
        return last_green(tree, events, shell(tree.settings.verify), render.say, output=output).commit


def go_to(restorer: Restorer, wish: Wish, *, dry_run: bool, json: bool, yes: bool, name: str = "") -> None:
    """Make the plan for a wish, show it, ask if the user can be asked, carry it out, and report it; `name` is used for
    the target if given. The caller holds the lock of the work tree. Raises Refused if the answer is no."""
    prepared = while_telling(lambda: restorer.prepare(wish))
    document = plan_document(prepared.plan)
    if dry_run:
        _print_plan(document, json=json)
        restorer.release()
        return
    restorer.check(prepared)
    if not yes and not json and render.is_asked():
        if not _confirmed(document):
            restorer.release()
            raise Refused("nothing was changed")
        # answering takes time; what is done must still be what the user agreed to
        prepared = _prepared_again(restorer, wish, document)
    outcome = restorer.apply(prepared)
    _print_outcome(prepared, outcome, json=json, document=document, name=name)


def _nothing_to_undo(id: str, scope: str, *, json: bool) -> int:
    """Report that, according to its hint, the step changed nothing, and do nothing."""
    if json:
        render.json(plan_document(Plan(id, scope, ())))
    else:
        render.out([f"the rollback_hint of {id} says that there is nothing to undo"])
    return 0


def _one_wish(id: str | None, paths: list[str] | None, *, hint: bool, resume: bool, abort: bool) -> None:
    """Raise UsageError if the options ask for two things at once."""
    if resume and abort:
        raise UsageError("--continue and --abort cannot both be meant", "choose one")
    if (resume or abort) and (id is not None or hint or paths):
        raise UsageError(
            "--continue and --abort are about the rollback that was interrupted, and take no checkpoint, hint or path",
            "gitckpt status names that rollback",
        )


def _wish(
    reader: Reader, restorer: Restorer, id: str | None, scope: str, paths: tuple[bytes, ...], *, keep: bool, hint: bool
) -> Wish | None:
    if id is None:
        id = _pick(reader)
    found = reader.find(id)
    if found.note:
        render.say(found.note)
    if hint:
        from gitckpt.hint import wish_of_hint

        return wish_of_hint(restorer, found.event, scope=scope, keep=keep, paths=paths)
    return Wish(found.event, scope, paths, keep)


def _pick(reader: Reader) -> str:
    """Let the user choose from the list on a terminal."""
    if not (render.is_terminal() and sys.stdin is not None and sys.stdin.isatty()):
        raise UsageError("rollback to which checkpoint?", "gitckpt log lists them; then gitckpt rollback C6")
    session = reader.current_session()
    if session is None:
        raise Refused("nothing has been recorded in this work tree", "gitckpt save records a first checkpoint")
    from gitckpt.views.log import LogOptions, log_lines

    render.out(log_lines(session, LogOptions(style=render.style(), columns=render.columns())))
    try:
        answer = input("roll back to: ").strip()
    except EOFError:
        answer = ""
    if not answer:
        raise Refused("no checkpoint was chosen; nothing was changed")
    return answer


def _print_plan(document: PlanDocument, *, json: bool) -> None:
    if json:
        render.json(document)
    else:
        render.out(plan_lines(document, render.style()))


def _prepared_again(restorer: Restorer, wish: Wish, shown: PlanDocument) -> Prepared:
    """Make the plan again. Raises Refused if it differs from the one that was shown."""
    prepared = restorer.prepare(wish)
    if plan_document(prepared.plan) != shown:
        raise Refused("the work tree changed while you were asked; nothing was done", "run the command again")
    return prepared


def _confirmed(document: PlanDocument) -> bool:
    """Show the plan and ask."""
    render.out(plan_lines(document, render.style()))
    if not changes_anything(document):
        return True
    return render.agrees("go on? [y/N] ")


def _print_outcome(prepared: Prepared, outcome: Outcome, *, json: bool, document: PlanDocument, name: str = "") -> None:
    if json:
        done = {"schema": "gitckpt.rollback/1", "plan": document, "safety": outcome.event.commit, "verified": True}
        render.json({**done, "left": len(outcome.left), "notes": list(outcome.notes)})
        return
    target = prepared.wish.target
    name = name or target.id or ("start" if target.kind == "start" else target.commit[:12])
    paths = count(outcome.changed, "path")
    told = {
        "undo": "undone: as before the rollback",
        "redo": "redone: as before the undo",
        "abort": "taken back: as before the rollback",
    }
    partly = " in part, as the hint says" if prepared.wish.tree is not None else ""
    render.out([f"{told.get(prepared.wish.operation, f'rolled back to {name}')}{partly}, {paths}, verified"])
    left = [step for step in prepared.plan.steps if step.action == "leave"]
    for step in left[:10]:
        render.say(f"left as it is: {os.fsdecode(step.path)}: {step.reason}")
    if len(left) > 10:
        render.say(f"and left as they are: {count(len(left) - 10, 'more path')}")
    for note in outcome.notes:
        render.say(note)
    for commit in outcome.commits_left:
        render.say(f"commit no longer on the branch, kept by {outcome.event.ref}: {commit}")
    for command in prepared.plan.by_hand:
        render.say(f"by hand: {command}")
    if prepared.wish.operation != "abort":
        again = "redo" if prepared.wish.operation == "undo" else "undo"
        render.say(f"to take it back: gitckpt {again}")


def undo(*, json: bool = False, again: bool = False) -> int:
    """Undo the last rollback, exactly; with `again`, undo the last undo."""
    reader = Reader()
    tree = WorkTree(reader.repository, render.say, lenient=True)
    restorer = Restorer(tree)
    with tree.lock:
        wish = wish_to_redo(tree) if again else wish_to_undo(tree)
        prepared = while_telling(lambda: restorer.prepare(wish))
        document = plan_document(prepared.plan)
        outcome = restorer.apply(prepared)
    tree.close()
    _print_outcome(prepared, outcome, json=json, document=document)
    return 0


def retry(id: str, *, reason: str, strategy: str, session: str | None = None) -> int:
    """Record a RETRY from a checkpoint, and restore the work tree to it."""
    from gitckpt.protocol.blocks import Block

    reader = Reader()
    target = reader.find(id).event
    tree = WorkTree(reader.repository, render.say, lenient=True)
    recorder = Recorder(tree, name=session, restore=restore_for_retry)
    fields = {"from": target.id or target.commit, "reason": reason, "new_strategy": strategy}
    event = recorder.record(Block("retry", None, id, fields), target=target)
    tree.close()
    name = target.id or target.commit[:12]
    render.out([f"{event.id} forks at {name}: line {(event.opens or {}).get('line')}, files as at {name}, verified"])
    render.say("to take it back: gitckpt undo")
    return 0
