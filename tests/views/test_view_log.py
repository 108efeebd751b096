"""The log: compared whole."""

from __future__ import annotations

import subprocess
import sys

import pyte
from histories import SESSION, History

from gitckpt.trajectory.events import FORMAT
from gitckpt.views.attempts import Drawn
from gitckpt.views.log import LogOptions, fold_autos, log_lines
from gitckpt.views.row import MARKS
from gitckpt.views.text import Style, width

LONG_CHINESE = "读取并替换 src/utils/date.ts 里的全部 moment 调用，然后补上 dayjs 的插件并运行测试"


def log(history: History, **options: object) -> str:
    """The log of a history as one text, with a line break before it."""
    return "\n" + "\n".join(log_lines(history.session, LogOptions(**options)))  # type: ignore[arg-type]


def test_migration(migration: History) -> None:
    assert (
        log(migration, columns=100)
        == """
session 20261130-024512-k3f9  2026-11-30  18 events on 2 lines, current retry-2
02:45:01   ▷      main     start      node agent.js
02:45:02   ● C1            explore    扫描项目，发现 12 个文件引用 moment  → 先改 utils 层再改 api…
02:45:03   ● C2            implement  读取 src/utils/date.ts，识别 8 处 mom…  → 逐个替换，工具：edi…
02:45:04   ● C3            implement  替换 src/utils/date.ts
02:45:05   ● C4            implement  替换 src/utils/date.ts
02:45:06   ● C5            implement  替换 src/utils/date.ts
02:45:07   ◆ S1            summary    完成探索 + 替换 src/utils/date.ts 全部 8 处 moment 调用为 day…
02:45:08   ● C6            implement  开始替换 src/api/time.ts  → 读取并替换，工具：read_file → edi…
02:45:09   ✗ R1            retry      time.ts 第 42 行 moment.duration 不兼容 → 改用 dayjs-duration…
02:45:10   ● C8   retry-2  implement  安装 dayjs-duration  → 替换 src/components/Timer.tsx
02:45:11   ● C9            implement  替换 src/components/Timer.tsx
02:45:12   ● C10           implement  替换 src/components/Timer.tsx
02:45:13   ◆ S2            summary    已替换 5 个文件的 moment 引用为 dayjs。
02:45:14   ● C11           verify     运行测试
02:45:15   ● C12           finish     删除 moment 依赖
02:45:16   ◆ S3            summary    测试通过。
02:45:17   ✓               final      12 个文件全部迁移完成，47 处调用替换
02:45:18   ■               end        exit status 0"""
    )


def test_migration_as_a_graph(migration: History) -> None:
    assert (
        log(migration, columns=100, graph=True)
        == """
session 20261130-024512-k3f9  2026-11-30  18 events on 2 lines, current retry-2
02:45:01   ▷        start      node agent.js
02:45:02   ●   C1   explore    扫描项目，发现 12 个文件引用 moment  → 先改 utils 层再改 api 层，工…
02:45:03   ●   C2   implement  读取 src/utils/date.ts，识别 8 处 moment…  → 逐个替换，工具：edit_f…
02:45:04   ●   C3   implement  替换 src/utils/date.ts
02:45:05   ●   C4   implement  替换 src/utils/date.ts
02:45:06   ●   C5   implement  替换 src/utils/date.ts
02:45:07   ◆   S1   summary    完成探索 + 替换 src/utils/date.ts 全部 8 处 moment 调用为 dayjs。
02:45:08   ●   C6   implement  开始替换 src/api/time.ts  → 读取并替换，工具：read_file → edit_file
           ├─╮
02:45:09   │ ✗ R1   retry      (main) time.ts 第 42 行 moment.duration 不兼容 → 改用 dayjs-duration…
02:45:10   ●   C8   implement  安装 dayjs-duration  → 替换 src/components/Timer.tsx
02:45:11   ●   C9   implement  替换 src/components/Timer.tsx
02:45:12   ●   C10  implement  替换 src/components/Timer.tsx
02:45:13   ◆   S2   summary    已替换 5 个文件的 moment 引用为 dayjs。
02:45:14   ●   C11  verify     运行测试
02:45:15   ●   C12  finish     删除 moment 依赖
02:45:16   ◆   S3   summary    测试通过。
02:45:17   ✓        final      12 个文件全部迁移完成，47 处调用替换
02:45:18   ■        end        (retry-2) exit status 0"""
    )


def undone(history: History) -> History:
    """Rolled back to C1, undone, redone: the last line has no event yet."""
    history.add("start", said="bash")
    c1 = history.add("checkpoint", "C1", "one", phase="implement")
    history.add("checkpoint", "C2", "two", phase="implement", next="three")
    r1 = history.add("rollback", said=f"to {SESSION}/C1: 2 paths")
    r2 = history.add("rollback", said="undo", line="rollback-2", after=c1)
    history.add("rollback", said="redo", line="undo-3", after=r1)
    history.open("redo-4", r2)
    return history


def test_rollback_undo_and_redo(history: History) -> None:
    assert (
        log(undone(history), graph=True)
        == """
session 20261130-024512-k3f9  2026-11-30  6 events on 4 lines, current redo-4
02:45:01   ▷       start      bash
02:45:02   ●   C1  implement  one
           ├─╮
02:45:03   │ ● C2  implement  two  → three
02:45:04   │ ↶     rollback   (main) to C1: 2 paths
02:45:05   ↶ │     rollback   (rollback-2) undo
02:45:06   │ ↶     rollback   (undo-3) redo
           @   redo-4 goes on here, after rollback"""
    )


def test_rollback_undo_and_redo_in_ascii_without_a_graph(history: History) -> None:
    assert (
        log(undone(history), style=Style(unicode=False))
        == """
session 20261130-024512-k3f9  2026-11-30  6 events on 4 lines, current redo-4
02:45:01   >     main        start      bash
02:45:02   * C1              implement  one
02:45:03   * C2              implement  two  -> three
02:45:04   <                 rollback   to C1: 2 paths
02:45:05   <     rollback-2  rollback   undo
02:45:06   <     undo-3      rollback   redo
           @ redo-4 goes on here, after rollback"""
    )


def test_line_opened_at_an_event_of_another_session(history: History, other_history: History) -> None:
    c1 = other_history.add("checkpoint", "C1", "elsewhere", phase="explore")
    history.add("start", said="bash")
    history.add("checkpoint", "C1", "here", phase="explore")
    history.add("checkpoint", "C2", "back there", line="rollback-2", after=c1, phase="explore")
    history.open("rollback-3", c1)
    history.events.append(c1)
    assert (
        log(history, graph=True)
        == """
session 20261130-024512-k3f9  2026-11-30  3 events on 3 lines, current rollback-3
02:45:01   ▷       start      bash
02:45:02   ●   C1  explore    (main) here
02:45:03     ● C2  explore    (rollback-2) (from 20261129-101010-aaaa/C1) back there
           @   rollback-3 goes on here, after 20261129-101010-aaaa/C1"""
    )


def test_many_lines_that_end_at_one_event(history: History) -> None:
    c1 = history.add("checkpoint", "C1", "one", phase="explore")
    for number in range(2, 9):
        history.open(f"rollback-{number}", c1)
    assert log(history, graph=True).splitlines()[2:] == [
        "02:45:01   ● C1  explore    (main, rollback-2, rollback-3, 4 more) one",
        "           @ rollback-8 goes on here, after C1",
    ]


def test_attempts_beside_the_line_that_they_began_at(history: History) -> None:
    history.add("start", said="bash")
    c1 = history.add("checkpoint", "C1", "one", phase="explore")
    history.add("checkpoint", "C2", "two", phase="verify", at="2026-11-30T02:46:30Z")
    drawn = []
    for number, test in ((1, 1), (2, None)):
        id = f"20261130-024550-aa0{number}"
        attempt = History(id)
        step = attempt.add("checkpoint", "C9", f"tried {number}", line="rollback-2", after=c1, phase="verify")
        step.at = history.events[0].at if number == 2 else step.at.replace("02:45:01", "02:46:00")
        attempt.add("end", said="exit status 0", line="rollback-2")
        attempt.add("end", said="attempt", line="rollback-2", at=f"2026-11-30T02:46:0{number}Z")
        row = {
            "session": id, "number": number, "of": c1.ref, "status": number - 1, "seconds": 1234.56, "test": test,
            "files": 2, "added": 1000, "deleted": 1, "picked": number == 2,
        }  # fmt: skip
        drawn.append(Drawn(row, attempt.events, c1.commit))  # type: ignore[arg-type]
        assert step.parent == c1.commit
    assert (
        log(history, graph=True, attempts=drawn)
        == """
session 20261130-024512-k3f9  2026-11-30  3 events and 2 attempts on main
02:45:01   ▷         start              bash
02:45:02   ●     C1  explore            one
           ├─╮
02:45:01   │ ●   C9  verify             tried 2
           ├─│─╮
02:46:00   │ │ ● C9  verify             tried 1
02:46:01   │ │ ■     end        failed  (attempt 1) 1,234.6 s, 2 files +1,000 -1, 20261130-024550-aa01
02:46:02   │ ■       end                (attempt 2) exit status 1, 1,234.6 s, 2 files +1,000 -1, picked, 20261130-024550-aa02
02:46:30   ●     C2  verify             two
           @     main goes on here, after C2"""
    )


def autos(history: History) -> History:
    history.add("start", said="claude")
    for said in ("Read a.ts", "Edit a.ts", "Edit b.ts"):
        history.add("auto", said=said)
    history.add("note", said="resumed")
    history.add("auto", said="Bash")
    history.add("checkpoint", "C1", "tests pass", phase="verify")
    return history


def test_runs_of_auto_events_share_a_row(history: History) -> None:
    assert (
        log(autos(history))
        == """
session 20261130-024512-k3f9  2026-11-30  7 events on main
02:45:01   ▷     start      claude
02:45:02   ·     auto       3 steps until 02:45:04, last: Edit b.ts
02:45:05   ¶     note       resumed
02:45:06   ·     auto       Bash
02:45:07   ● C1  verify     tests pass
           @ main goes on here, after C1"""
    )


def test_every_auto_event_where_all_are_asked_for(history: History) -> None:
    rows = log(autos(history), fold=False).splitlines()[2:]
    assert rows[1:4] == [
        "02:45:02   ·     auto       Read a.ts",
        "02:45:03   ·     auto       Edit a.ts",
        "02:45:04   ·     auto       Edit b.ts",
    ]


def test_no_run_hides_where_a_line_begins(history: History) -> None:
    steps = [history.add("auto", said=f"step {number}") for number in range(4)]
    history.add("checkpoint", "C1", "another way", line="rollback-2", after=steps[1], phase="verify")
    assert (
        log(history, graph=True)
        == """
session 20261130-024512-k3f9  2026-11-30  5 events on 2 lines, current rollback-2
02:45:01   ·       auto       2 steps until 02:45:02, last: step 1
           ├─╮
02:45:03   │ ·     auto       (main) 2 steps until 02:45:04, last: step 3
02:45:05   ●   C1  verify     another way
           @   rollback-2 goes on here, after C1"""
    )


def test_folding_loses_and_reorders_nothing(history: History) -> None:
    autos(history)
    runs = fold_autos(history.events)
    assert [event for run in runs for event in run] == history.events
    assert [len(run) for run in runs] == [1, 3, 1, 1, 1]
    assert fold_autos([]) == []


def test_what_came_of_commands_has_a_column_that_no_agent_writes_in(history: History) -> None:
    autos(history)
    *_, c1 = history.events
    edit = history.events[2]
    runs = {
        edit.commit: [(("make", "test"), 2), (("true",), 0)],
        c1.commit: [(("sh", "-c", "make test"), 0), (("maybe",), 125)],
        history.events[0].commit: [(("maybe",), 125)],
        history.events[4].commit: [(("make", "test"), 2)],  # `note failed` would be read as something else
    }
    assert (
        log(history, runs=runs)
        == """
session 20261130-024512-k3f9  2026-11-30  7 events on main
02:45:01   ▷     start              claude
02:45:02   ·     auto       failed  2 steps until 02:45:03, last: Edit a.ts
02:45:04   ·     auto               Edit b.ts
02:45:05   ¶     note               resumed
02:45:06   ·     auto               Bash
02:45:07   ● C1  verify     passed  tests pass
           @ main goes on here, after C1"""
    )
    rows = log(history, runs=runs, files={c1.commit: []}, style=Style(colour=True)).splitlines()
    assert "\x1b[32mpassed\x1b[0m  tests pass" in rows[-4]
    assert [row.strip() for row in rows[-3:-1]] == ["\x1b[32mpassed\x1b[0m: make test", "skipped: maybe"]


def test_files_of_each_event(history: History) -> None:
    history.add("start", said="bash")
    one = history.add("auto", said="Edit")
    two = history.add("auto", said="Edit")
    c1 = history.add("checkpoint", "C1", "left", phase="verify")
    c2 = history.add("checkpoint", "C2", "right", line="rollback-2", after=two, phase="verify")
    files = {
        one.commit: [("M", b"src/a.ts", None), ("A", "新文件.md".encode(), None)],
        two.commit: [],
        c1.commit: [("R", b"new\xff", b"old\n"), ("D", b"gone\x1b[2J", None)],
        c2.commit: [("M", {"b64": "/w=="}, None)],
    }
    assert (
        log(history, graph=True, files=files)
        == """
session 20261130-024512-k3f9  2026-11-30  5 events on 2 lines, current rollback-2
02:45:01   ▷       start      bash
02:45:02   ·       auto       Edit
           │     M src/a.ts
           │     A 新文件.md
02:45:03   ·       auto       Edit
           ├─╮
02:45:04   │ ● C1  verify     (main) left
           │     R old\\n → new\\xff
           │     D gone\\x1b[2J
02:45:05   ●   C2  verify     right
           │     M \\xff
           @   rollback-2 goes on here, after C2"""
    )


def test_day_changes_and_local_time(history: History) -> None:
    history.add("start", said="bash", at="2026-11-29T23:59:59.5Z")
    history.add("note", said="still there", at="2026-11-30T00:00:01Z")
    history.add("note", said="later", at="2026-12-01T08:00:00Z")

    def an_hour_on(at: str) -> str:
        return {"29T23": "2026-11-30T00:59:59", "30T00": "2026-11-30T01:00:01"}.get(at[8:13], "2026-12-01T09:00:00")

    assert (
        log(history)
        == """
session 20261130-024512-k3f9  2026-11-29  3 events on main
23:59:59   ▷     start      bash
2026-11-30
00:00:01   ¶     note       still there
2026-12-01
08:00:00   ¶     note       later
           @ main goes on here, after note"""
    )
    assert log(history, clock=an_hour_on).splitlines()[1:5] == [
        "session 20261130-024512-k3f9  2026-11-30  3 events on main",
        "00:59:59   ▷     start      bash",
        "01:00:01   ¶     note       still there",
        "2026-12-01",
    ]


def test_the_log_warns_of_what_is_torn_uncovered_or_unknown(history: History) -> None:
    torn = history.add("checkpoint", "C1", "half a block", phase="explore")
    part = history.add("checkpoint", "C2", "", phase="explore", next="go on")
    history.add("checkpoint", "C3", "from the future", phase="explore", format=FORMAT + 1)
    history.add("telepathy", said="a kind that is not known yet", format=FORMAT + 1)
    history.events.append(type(torn)(kind="unreadable", session="", line="", seq=0, at="", subject="not ours"))
    assert (
        log(history, flags={torn.commit: "unterminated", part.commit: "not covered: big.bin"})
        == """
session 20261130-024512-k3f9  2026-11-30  5 events on main
           !     unreadable  not ours
02:45:01   ● C1  explore     (unterminated) half a block
02:45:02   ● C2  explore     (not covered: big.bin)   → go on
02:45:03   ● C3  explore     (written by a newer gitckpt, format 2) from the future
02:45:04   ?     telepathy   (written by a newer gitckpt, format 2) a kind that is not known yet
           @ main goes on here, after telepathy"""
    )


def test_run_that_ended_before_it_was_done(history: History) -> None:
    history.add("start", said="bash")
    history.add("checkpoint", "C1", "begun", phase="explore")
    history.add("end", said="killed by signal 9")
    assert log(history).splitlines()[-2:] == [
        "02:45:03   ■     end        killed by signal 9",
        "The run ended without FINAL.",
    ]


def test_some_of_the_events(migration: History) -> None:
    lines = log_lines(migration.session, events=migration.session.events[-2:])
    assert lines == [
        "session 20261130-024512-k3f9  2026-11-30  2 of 18 events on 2 lines, current retry-2",
        "02:45:17   ✓     final      12 个文件全部迁移完成，47 处调用替换",
        "02:45:18   ■     end        exit status 0",
    ]


def test_empty_session(history: History) -> None:
    assert log(history) == "\nsession 20261130-024512-k3f9  0 events on main"


def test_long_task_fits_on_a_screen(history: History) -> None:
    """Thirty checkpoints, their summaries, start, FINAL and end: 40 lines of 100 columns."""
    history.add("start", said="claude -p " + LONG_CHINESE)
    for number in range(1, 31):
        history.add("checkpoint", f"C{number}", LONG_CHINESE, phase="implement", next=LONG_CHINESE)
        if number % 5 == 0:
            history.add("summary", f"S{number // 5}", LONG_CHINESE)
    history.add("final", said=LONG_CHINESE)
    history.add("end", said="exit status 0")
    lines = log_lines(history.session, LogOptions(columns=100))
    assert len(lines) == 40
    assert max(map(width, lines)) == 100


def test_ten_thousand_events_are_listed_from_their_headers(history: History) -> None:
    for number in range(10_000):
        history.add("checkpoint", f"C{number}", LONG_CHINESE, phase="verify", next=LONG_CHINESE)
    lines = log_lines(history.session, LogOptions(columns=100, graph=True))
    assert (len(lines), lines[0]) == (10_002, f"session {SESSION}  2026-11-30  10,000 events on main")


def test_columns_line_up_on_a_terminal(migration: History) -> None:
    """What a terminal shows of the coloured log is the plain log, to the column."""
    plain = log_lines(migration.session, LogOptions(columns=100, graph=True))
    coloured = log_lines(migration.session, LogOptions(columns=100, graph=True, style=Style(colour=True)))
    screen = pyte.Screen(100, 30)
    pyte.Stream(screen).feed("\r\n".join(coloured))
    assert coloured != plain
    assert [line.rstrip() for line in screen.display if line.strip()] == plain


def test_kinds_have_marks_of_their_own() -> None:
    assert len({mark for mark, _, _ in MARKS.values()}) == len({ascii for _, ascii, _ in MARKS.values()}) == len(MARKS)


def test_hostile_text_stays_in_its_row(history: History) -> None:
    evil = "\x1b[2J\r\n\u202eevil\x07"
    history.add("checkpoint", "C1" + evil, evil, phase=evil, next=evil, line=evil, at="2026\x1b[2J\n-30T02")
    history.add("\x1b[31m", None, evil, line="main")
    for options in (LogOptions(), LogOptions(graph=True, columns=80)):
        text = "".join(log_lines(history.session, options))
        assert text.replace("│", "").replace("●", "").isprintable()


def test_log_imports_nothing_dear() -> None:
    """Each of these costs more than listing a thousand events."""
    code = """
import sys
from gitckpt.views.log import LogOptions, log_lines
from gitckpt.views.text import Style
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.session import Session
header = {"session": "s", "line": "main", "seq": 1, "at": "2026-11-30T02:45:12Z", "subject": "C1: 中文", "commit": "a"}
event = Event(kind="checkpoint", id="C1", **header)
for graph in (False, True):
    options = LogOptions(graph=graph, columns=40, style=Style(colour=True), files={"a": [("M", b"src", None)]})
    assert len(log_lines(Session("s", [event], {"main": "a"}), options)) == 4
dear = "typing dataclasses re json pathlib inspect datetime enum functools collections yaml pydantic".split()
print([name for name in dear if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
