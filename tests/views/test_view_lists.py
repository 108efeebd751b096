"""Sessions, status and `diff --stat`, as text and as documents."""

from __future__ import annotations

import pytest
from histories import History

from gitckpt.views.attempts import attempts_lines
from gitckpt.views.diff import stat_lines
from gitckpt.views.schemas import SessionsDocument, StatusDocument
from gitckpt.views.sessions import session_row, sessions_document, sessions_lines
from gitckpt.views.status import Status, status_document, status_lines
from gitckpt.views.text import width
from gitckpt.views.transfer_schemas import ForkDocument


def test_sessions_are_a_table(migration: History, other_history: History) -> None:
    other_history.add("start", said="claude -p 迁移\x1b[2J")
    rows = [session_row(migration.session, 1_234_567), session_row(other_history.session)]
    assert (
        "\n" + "\n".join(sessions_lines(rows))
        == """
SESSION               FROM              TO                EVENTS  CHECKPOINTS  LINES     SIZE  AGENT
20261130-024512-k3f9  2026-11-30 02:45  2026-11-30 02:45      18           11      2  1.2 MiB  node agent.js
20261129-101010-aaaa  2026-11-30 02:45  open                   1            0      1           claude -p 迁移\\x1b[2J"""
    )
    assert max(map(width, sessions_lines(rows, columns=112))) == 112
    assert (
        "\n" + "\n".join(sessions_lines(rows, columns=80))
        == """
SESSION               TO                CHECKPOINTS     SIZE  AGENT
20261130-024512-k3f9  2026-11-30 02:45           11  1.2 MiB  node agent.js
20261129-101010-aaaa  open                        0           claude -p 迁移\\x1…"""
    )
    away = [session_row(migration.session, 1_234_567, "origin")]
    assert sessions_lines(away, columns=70) == [
        "SESSION               TO                CHECKPOINTS  REMOTE  AGENT",
        "20261130-024512-k3f9  2026-11-30 02:45           11  origin  node age…",
    ]


def test_attempts_fit_into_a_terminal() -> None:
    rows = ForkDocument.model_validate(
        {
            "schema": "gitckpt.fork/1",
            "attempts": [
                {
                    "session": "20261130-024512-k3f9-1",
                    "number": 1,
                    "of": "20261130-024512-k3f9/C4",
                    "status": 0,
                    "seconds": 1.25,
                    "test": 0,
                    "files": 1,
                    "added": 1,
                    "deleted": 0,
                    "picked": False,
                }
            ],
        }
    ).model_dump()["attempts"]
    assert "20261130-024512-k3f9/C4  0 " in attempts_lines(rows)[1]
    assert attempts_lines(rows, columns=85) == attempts_lines(rows)
    assert attempts_lines(rows, columns=80) == [
        "ATTEMPT                 FROM  EXIT  TEST    TIME   FILES   LINES",
        "20261130-024512-k3f9-1  C4    0     passed  1.2 s  1 file  +1 -0",
    ]


def test_sessions_document(migration: History, history: History) -> None:
    document = sessions_document([session_row(migration.session, 10)])
    assert document == {
        "schema": "gitckpt.sessions/1",
        "sessions": [
            {
                "id": "20261130-024512-k3f9",
                "agent": "node agent.js",
                "first": "2026-11-30T02:45:01.000000Z",
                "last": "2026-11-30T02:45:18.000000Z",
                "open": False,
                "events": 18,
                "checkpoints": 11,
                "lines": 2,
                "size": 10,
                "origin": None,
            }
        ],
    }
    SessionsDocument.model_validate(document)
    SessionsDocument.model_validate(sessions_document([session_row(History().session)]))


def test_events_of_another_session_are_not_counted(history: History, other_history: History) -> None:
    c1 = other_history.add("checkpoint", "C1", "elsewhere")
    history.add("checkpoint", "C2", "back there", line="rollback-2", after=c1)
    history.events.append(c1)
    assert session_row(history.session)["events"] == 1


def test_no_sessions() -> None:
    assert sessions_lines([]) == [
        "No sessions here. `gitckpt wrap -- CMD` records an agent, `gitckpt save` makes a checkpoint by hand."
    ]


def working(history: History) -> Status:
    history.add("start", said="bash")
    history.add("checkpoint", "C1", "安装 dayjs-duration，替换 time.ts 全部调用", phase="implement")
    history.add("auto", said="Bash")
    return Status(
        history.session,
        "main",
        changes=[("M", b"src/api/time.ts", None), ("A", b"raw\xff", None)],
        metadata=[b"run.sh", b"empty/"],
        missing=[{"path": "big.bin", "reason": "larger than 100 MiB"}],
        interrupted="rollback to C1",
    )


def test_status_tells_where_the_work_tree_stands(history: History) -> None:
    assert (
        "\n" + "\n".join(status_lines(working(history), columns=50))
        == """
session      20261130-024512-k3f9, line main, open
last         C1  implement  安装 dayjs-duration，…
changed      2 paths since C1
             M src/api/time.ts
             A raw\\xff
             permission bits or empty directories: run.sh, empty/
not covered  big.bin: larger than 100 MiB
interrupted  rollback to C1
             `gitckpt rollback --continue` finishes it, `gitckpt rollback --abort` takes it back"""
    )


def test_status_of_a_finished_run(migration: History) -> None:
    assert status_lines(Status(migration.session, "retry-2")) == [
        "session      20261130-024512-k3f9, line retry-2 of 2, closed",
        "last         C12  finish  删除 moment 依赖",
        "changed      nothing since C12",
    ]


def test_status_before_the_first_checkpoint(history: History) -> None:
    history.add("start", said="bash")
    changes = [("M", b"%d" % number, None) for number in range(5)]
    assert status_lines(Status(history.session, "main", changes=changes), limit=2) == [
        "session      20261130-024512-k3f9, line main, open",
        "last         start  bash",
        "changed      5 paths since start",
        "             M 0",
        "             M 1",
        "             … and 3 more",
    ]


def test_status_where_nothing_was_recorded() -> None:
    assert status_lines(Status()) == [
        "session      none here yet: `gitckpt wrap -- CMD` records an agent, `gitckpt save` makes a checkpoint by hand"
    ]


GOES_ON = "             `gitckpt resume` starts the agent again where it was"


@pytest.mark.parametrize(
    "how", ["exit status 137, signal 9", "stuck: no tool is called", "turns: 40", "failed: no room"]
)
def test_status_names_resume_where_the_agent_has_not_come_to_its_end(history: History, how: str) -> None:
    history.add("start", said="bash")
    history.add("checkpoint", "C1", "one", phase="implement")
    history.add("end", said=how)
    assert status_lines(Status(history.session, "main"))[2:4] == [f"stopped      {how}", GOES_ON]
    history.add("note", said="resumed: bash")
    history.add("final", said="all is done")
    history.add("end", said=how)
    assert status_document(Status(history.session, "main"))["stopped"] is None


@pytest.mark.parametrize("how", ["exit status 0", "done: all", "of the session"])
def test_status_says_nothing_of_an_agent_that_has_ended_well(history: History, how: str) -> None:
    history.add("start", said="bash")
    history.add("end", said=how)
    assert status_document(Status(history.session, "main"))["stopped"] is None


def test_status_says_nothing_where_work_has_gone_on_without_the_agent(history: History) -> None:
    history.add("start", said="bash")
    history.add("end", said="exit status 1")
    history.add("checkpoint", "C1", "by hand")
    assert status_document(Status(history.session, "main"))["stopped"] is None
    died = Status(history.session, "main", died=True)
    assert status_lines(died)[2:4] == ["stopped      the agent, or what ran it, died", GOES_ON]


def test_status_names_what_differs_without_any_content(history: History) -> None:
    history.add("checkpoint", "C1", "done")
    named = [b"%d" % number for number in range(30)]
    assert status_lines(Status(history.session, "main", metadata=named), limit=3)[2:] == [
        "changed      no content since C1",
        "             permission bits or empty directories: 0, 1, 2 and 27 more",
    ]


def test_status_document(history: History) -> None:
    document = status_document(working(history))
    assert document == {
        "schema": "gitckpt.status/1",
        "session": "20261130-024512-k3f9",
        "line": "main",
        "open": True,
        "last": {
            "id": "C1",
            "kind": "checkpoint",
            "ref": "20261130-024512-k3f9/C1",
            "commit": history.events[1].commit,
            "at": "2026-11-30T02:45:02.000000Z",
        },
        "changes": [
            {"status": "M", "path": "src/api/time.ts", "old_path": None},
            {"status": "A", "path": "raw\\xff", "b64": "cmF3/w==", "old_path": None},
        ],
        "metadata": ["run.sh", "empty/"],
        "missing": [{"path": "big.bin", "reason": "larger than 100 MiB"}],
        "interrupted": "rollback to C1",
        "stopped": None,
    }
    StatusDocument.model_validate(document)
    StatusDocument.model_validate(status_document(Status()))


def test_diff_stat() -> None:
    rows = [
        (6, 6, b"src/api/time.ts", None),
        (0, 0, b"b\n", b"a"),
        (None, None, "图.png".encode(), None),
        (1200, 3, b"package-lock.json", None),
    ]
    assert (
        "\n" + "\n".join(stat_lines(rows, columns=60))
        == """
 src/api/time.ts   |   12 +-
 a → b\\n           |    0
 图.png            |  Bin
 package-lock.json | 1203 +++++++++++++++++++++++++++++++++-
 4 files changed, 1,206 insertions(+), 9 deletions(-)"""
    )


def test_diff_stat_is_exact_where_there_is_room() -> None:
    assert stat_lines([(2, 1, b"a", None)]) == [" a |   3 ++-", " 1 file changed, 2 insertions(+), 1 deletion(-)"]


def test_diff_stat_of_nothing() -> None:
    assert stat_lines([]) == []


def test_diff_stat_stays_within_the_terminal() -> None:
    rows = [(10**6, 1, b"deep/" * 40 + b"file", None), (1, 10**6, b"x", None)]
    assert max(map(width, stat_lines(rows, columns=80))) <= 80
