"""What the agent says is true of the files at the moment at which it says it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gitckpt.demo import agent
from gitckpt.demo.picture import Picture, on_disk

BLOCKS = ["C1", "C2", "C3", "C4", "C5", "S1", "C6", "RETRY", "C8", "C9", "C10", "S2", "C11", "C12", "S3", "FINAL"]

HEADERS = """\
===CHECKPOINT 1===
===CHECKPOINT 2===
===CHECKPOINT 3===
===CHECKPOINT 4===
===CHECKPOINT 5===
===SUMMARY S1 (covers C1-C5)===
===CHECKPOINT 6===
===RETRY===
===CHECKPOINT 8===
===CHECKPOINT 9===
===CHECKPOINT 10===
===SUMMARY S2 (covers C6-C10)===
===CHECKPOINT 11===
===CHECKPOINT 12===
===SUMMARY S3 (covers C11-C12)===
===FINAL===
""".splitlines()

DATE, TIME = "src/utils/date.ts", "src/api/time.ts"

MIGRATED = [
    "src/api/time.ts",
    "src/components/Calendar.tsx",
    "src/components/DatePicker.tsx",
    "src/components/EventCard.tsx",
    "src/components/Timer.tsx",
    "src/hooks/useCountdown.ts",
    "src/jobs/cleanup.ts",
    "src/jobs/reminders/schedule.ts",
    "src/legacy/report.js",
    "src/locales/中文日期.ts",
    "src/store/events.ts",
    "src/utils/date.ts",
]


def calls(root: Path, library: str = "moment") -> dict[str, int]:
    """Counted here and not by the agent."""
    call = re.compile(rf"\b{library}(?:\.\w+)?\(")
    files = [file for file in (root / "src").rglob("*") if file.is_file()]
    counts = {str(file.relative_to(root)): len(call.findall(file.read_text("utf-8"))) for file in files}
    return {path: count for path, count in counts.items() if count}


def run(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gitckpt.demo.agent", *arguments]
    return subprocess.run(command, cwd=root, env=os.environ | environment, capture_output=True, encoding="utf-8")


def name_status(root: Path) -> str:
    """What differs from the commit, by plain git."""
    command = ["git", "-c", "core.quotePath=false", "diff", "--name-status", "--no-renames", "HEAD"]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, encoding="utf-8").stdout


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_blocks_come_in_the_order_of_the_protocol(project: Path, lang: str) -> None:
    done = run(project, "--lang", lang)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("===") and line != "===END==="] == HEADERS
    assert lines.count("===END===") == len(HEADERS)


def test_the_final_block_names_everything(project: Path) -> None:
    assert run(project).stdout.endswith("""\
===FINAL===
checkpoints: [C1, C2, C3, C4, C5, C6, RETRY→C7, C8, C9, C10, C11, C12]
summaries: [S1(C1-C5), S2(C6-C10), S3(C11-C12)]
result: 12 个文件全部迁移完成，47 处调用替换，启用 1 个插件（dayjs/plugin/duration）
===END===
""")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_figure_in_a_block_is_that_of_the_files(project: Path, watched: type, lang: str) -> None:
    left: dict[str, int] = {}
    figures: list[str] = []

    def observe(key: str, text: str) -> None:
        if key not in BLOCKS:
            return
        now = calls(project)
        left[key] = sum(now.values())
        for pattern, true in (
            (r"affected=(\d+) files", len(now)),
            (r"affected=12 files, calls=(\d+)", left[key]),
            (r"(?:progress=|[Pp]rogress |进度 )(\d+)/12", 12 - len(now)),
            (r"(?:remaining_calls=|剩余 )(\d+)|(\d+) calls left", left[key]),
            (r"moment_calls=(\d+)", left[key]),
            (r"dayjs_calls=(\d+)", sum(calls(project, "dayjs").values())),
            (rf"current={DATE}, remaining_in_file=(\d+)", now.get(DATE, 0)),
            (rf"current={TIME}, remaining_in_file=(\d+)", now.get(TIME, 0)),
        ):
            for match in re.finditer(pattern, text):
                figures.append(pattern)
                assert next(filter(None, match.groups())) == str(true), (key, pattern)

    watched(project, observe, lang).migrate()
    assert list(left) == BLOCKS
    assert list(left.values()) == [47, 47, 47, 44, 39, 39, 37, 33, 33, 17, 0, 0, 0, 0, 0, 0]
    assert len(figures) == 22


def test_every_file_that_a_block_names_is_there(project: Path, watched: type) -> None:
    named: set[str] = set()

    def observe(key: str, text: str) -> None:
        if key not in BLOCKS:
            return
        for path in re.findall(
            r"(?:src|docs)/[\w./-]+\.(?:tsx?|js|md)|package\.json|vite\.config\.ts|README\.md", text
        ):
            named.add(path)
            gone = {"C12": "docs/why-moment.md"}.get(key)
            assert (project / path).exists() != (path == gone), (key, path)

    watched(project, observe).migrate()
    others = {"README.md", "docs/why-dayjs.md", "docs/why-moment.md", "package.json", "vite.config.ts"}
    assert named == set(MIGRATED) | others


def test_the_retry_is_caused_by_the_files(project: Path, watched: type) -> None:
    seen: dict[str, str] = {}

    def observe(key: str, text: str) -> None:
        seen[key] = text
        seen[f"time.ts at {key}"] = (project / TIME).read_text()

    watched(project, observe).migrate()
    broken = seen["time.ts at RETRY"]
    assert broken.splitlines()[41] == "  const span = dayjs.duration(minutes, 'minutes');"
    assert "dayjs/plugin" not in broken and "moment" not in broken
    assert seen["check_failed"].endswith("第 42 行：dayjs 本体没有 dayjs.duration，需要插件 dayjs/plugin/duration")
    assert seen["RETRY"] == (
        "===RETRY===\n"
        "from: CHECKPOINT 7\n"
        "reason: [src/api/time.ts 第 42 行 moment.duration 不兼容：dayjs 本体没有 dayjs.duration]\n"
        "new_strategy: [撤销这次编辑，改用 dayjs 自带的插件 dayjs/plugin/duration，先 dayjs.extend 再替换余下调用]\n"
        "===END==="
    )
    assert seen["time.ts at undo"] == seen["time.ts at C6"]
    assert seen["time.ts at C8"] == broken.replace(
        "import dayjs from 'dayjs';\nimport type { Booking } from '../types';\n",
        "import dayjs from 'dayjs';\nimport duration from 'dayjs/plugin/duration';\n"
        "import type { Booking } from '../types';\n\ndayjs.extend(duration);\n",
    )


def test_what_is_changed_in_the_end_and_what_is_not(project: Path) -> None:
    before = on_disk(str(project))
    assert run(project).returncode == 0
    edited = sorted([*MIGRATED, "README.md", "package.json", "vite.config.ts"])
    lines = [f"M\t{path}" for path in edited] + ["D\tdocs/why-moment.md"]
    assert sorted(name_status(project).splitlines()) == sorted(lines)

    after = on_disk(str(project))
    changed = {path.encode() for path in edited} | {b"docs/why-moment.md", b"docs/why-dayjs.md"}
    assert without(after, changed) == without(before, changed)
    assert {path: after[path][0] for path in changed & after.keys()} == dict.fromkeys(
        changed - {b"docs/why-moment.md"}, b"100644"
    )


def without(picture: Picture, paths: set[bytes]) -> Picture:
    return {path: entry for path, entry in picture.items() if path not in paths}


def test_nothing_of_moment_is_left(project: Path) -> None:
    assert run(project).returncode == 0
    files = [file for file in project.rglob("*") if file.is_file() and ".git" not in file.parts]
    assert [file for file in files if b"moment" in file.read_bytes().lower()] == []
    assert sum(calls(project, "dayjs").values()) == 47 + 1
    report = (project / "src/legacy/report.js").read_bytes()
    assert report.count(b"\n") == report.count(b"\r\n") == 15
    assert (project / "README.md").read_text().endswith("the front desk relies on them.\n")


def test_both_languages_leave_the_same_bytes(project: Path, template: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["cp", "-a", template, other], check=True)
    chinese, english = run(project, "--lang", "zh"), run(other, "--lang", "en")
    assert on_disk(str(project)) == on_disk(str(other))
    assert re.sub(r"[\w/]+/[\w.]*中文日期\.ts", "", english.stdout).replace("→", "").replace("●", "").isascii()
    assert not chinese.stdout.isascii()


def test_every_text_is_there_in_both_languages() -> None:
    chinese, english = (agent.toml(agent.HERE / "words" / f"{lang}.toml") for lang in ("zh", "en"))
    assert list(chinese) == list(english)
    places = re.compile(r"\{\w+\}")
    assert {key: set(places.findall(text)) for key, text in chinese.items() if key not in BLOCKS} == {
        key: set(places.findall(text)) for key, text in english.items() if key not in BLOCKS
    }


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("dayjs().add(1, 'day'); dayjs.unix(0); dayjs.isDayjs(x); dayjs.locale('de');", []),
        ("\n\ndayjs.duration(1)", [(3, "dayjs.duration", "dayjs/plugin/duration")]),
        (
            "import duration from 'dayjs/plugin/duration';\ndayjs.duration(1)",
            [(2, "dayjs.duration", "dayjs/plugin/duration")],
        ),
        ("import d from 'dayjs/plugin/duration';\ndayjs.extend(d);\ndayjs.duration(1)", []),
        (
            "dayjs.utc()\ndayjs.max(a, b)",
            [(1, "dayjs.utc", "dayjs/plugin/utc"), (2, "dayjs.max", "dayjs/plugin/minMax")],
        ),
    ],
)
def test_the_check_knows_which_calls_need_a_plugin(
    project: Path, source: str, found: list[tuple[int, str, str]]
) -> None:
    (project / TIME).write_text(source)
    checked = agent.Project(str(project), agent.toml(agent.HERE / "migration.toml")).problems(TIME)
    assert [(problem.line, problem.call, problem.plugin) for problem in checked] == found
