"""A rollback plan as text and as a document."""

from __future__ import annotations

from gitckpt.trajectory.plan import Move, Place, Plan, Step
from gitckpt.views.plan import plan_document, plan_lines
from gitckpt.views.rollback_schemas import PlanDocument
from gitckpt.views.text import Style

PLAN = Plan(
    target="20261130-024512-k3f9/C6",
    scope="staged",
    steps=(
        Step("leave", b"big.\xff", "not covered: over 100 MiB"),
        Step("mode", b"bin/run", "the executable bit"),
        Step("restore", b"src/api/time.ts", "changed since"),
        Step("restore", b"README.md", "changed since", changed_since_last_event=True),
        Step("restore", "src/组件/Timer.tsx".encode(), "missing now"),
        Step("delete", b"note\n\x1b.txt", "newer than the target"),
    ),
    by_hand=("npm uninstall \x1b[31mdayjs",),
)


def test_a_plan_lists_what_is_done_to_each_path() -> None:
    assert (
        "\n" + "\n".join(plan_lines(plan_document(PLAN)))
        == """
Roll back to 20261130-024512-k3f9/C6, scope staged: 3 paths to restore, 1 path to delete, 1 path to change in mode
Restore (3)
! README.md           changed since
  src/api/time.ts     changed since
  src/组件/Timer.tsx  missing now
Delete (1)
  note\\n\\x1b.txt  newer than the target
Change the mode (1)
  bin/run  the executable bit
Leave as it is (1)
  big.\\xff  not covered: over 100 MiB
! changed since the last recorded event; what is there now is saved first
By hand (gitckpt runs no commands)
  npm uninstall \\x1b[31mdayjs"""
    )


def test_nothing_to_do() -> None:
    assert plan_lines(plan_document(Plan("C6", "files", ()))) == ["Roll back to C6, scope files: nothing to change"]


def test_head_branches_and_the_staging_area() -> None:
    plan = Plan(
        "C6",
        "all",
        (),
        head=(Place(None, "1" * 40), Place("caf\udce9", None)),
        moves=(Move("caf\udce9", "2" * 40, None), Move("main", None, "3" * 40)),
        staging=True,
    )
    document = plan_document(plan)
    assert plan_lines(document) == [
        "Roll back to C6, scope all: no path to change",
        "Staging area: as at the target",
        "HEAD: 1111111111, on no branch → caf\\xe9",
        "Branch caf\\xe9: 2222222222 → none",
        "Branch main: none → 3333333333",
    ]
    assert PlanDocument.model_validate(document).moves[1].after == "3" * 40
    untouched = plan_document(Plan("C6", "staged", (), staging_note="the staging area is untouched: \x1b"))
    assert plan_lines(untouched)[1:] == ["the staging area is untouched: \\x1b"]


def test_long_lists_are_cut_with_a_count_and_never_hide_a_person_s_edit() -> None:
    steps = tuple(Step("delete", b"new/%d" % number, "newer", number == 999) for number in range(1000))
    plan = plan_document(Plan("C1", "all", steps, tuple(f"step {number}" for number in range(30))))
    assert plan_lines(plan, limit=3) == [
        "Roll back to C1, scope all: 1,000 paths to delete",
        "Delete (1,000)",
        "! new/999  newer",
        "  new/0    newer",
        "  new/1    newer",
        "  … and 997 more",
        "! changed since the last recorded event; what is there now is saved first",
        "By hand (gitckpt runs no commands)",
        "  step 0",
        "  step 1",
        "  step 2",
        "  … and 27 more",
    ]


def test_a_plan_as_json_has_each_step() -> None:
    document = plan_document(PLAN)
    assert document == {
        "schema": "gitckpt.plan/1",
        "target": "20261130-024512-k3f9/C6",
        "scope": "staged",
        "hash": PLAN.hash,
        "steps": [
            {
                "action": "leave",
                "path": {"b64": "YmlnLv8="},
                "reason": "not covered: over 100 MiB",
                "changed_since_last_event": False,
            },
            {"action": "mode", "path": "bin/run", "reason": "the executable bit", "changed_since_last_event": False},
            {
                "action": "restore",
                "path": "src/api/time.ts",
                "reason": "changed since",
                "changed_since_last_event": False,
            },
            {"action": "restore", "path": "README.md", "reason": "changed since", "changed_since_last_event": True},
            {
                "action": "restore",
                "path": "src/组件/Timer.tsx",
                "reason": "missing now",
                "changed_since_last_event": False,
            },
            {
                "action": "delete",
                "path": "note\n\x1b.txt",
                "reason": "newer than the target",
                "changed_since_last_event": False,
            },
        ],
        "by_hand": ["npm uninstall \x1b[31mdayjs"],
        "head": None,
        "moves": [],
        "staging": False,
        "staging_note": None,
    }
    assert PlanDocument.model_validate(document).steps[3].changed_since_last_event


def test_colours_add_nothing_but_colours() -> None:
    plain, coloured = plan_lines(plan_document(PLAN)), plan_lines(plan_document(PLAN), Style(colour=True))
    assert [line.count("\x1b[") % 2 for line in coloured] == [0] * len(plain)
    assert coloured != plain
