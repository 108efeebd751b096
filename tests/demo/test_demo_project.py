"""The project that the demo starts from is the one that the story speaks of, and comes out the same everywhere."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from gitckpt.demo.project import README_EDIT, SHIPPED, UNCOMMITTED, create_project
from gitckpt.errors import Refused

#: One call: `moment(` or `moment.name(`.
CALL = re.compile(r"\bmoment(?:\.\w+)?\(")

CALLS = {
    "src/api/time.ts": 6,
    "src/components/Calendar.tsx": 5,
    "src/components/DatePicker.tsx": 4,
    "src/components/EventCard.tsx": 3,
    "src/components/Timer.tsx": 4,
    "src/hooks/useCountdown.ts": 3,
    "src/jobs/cleanup.ts": 3,
    "src/jobs/reminders/schedule.ts": 4,
    "src/legacy/report.js": 3,
    "src/locales/中文日期.ts": 2,
    "src/store/events.ts": 2,
    "src/utils/date.ts": 8,
}

WITHOUT_CALLS = [
    ".editorconfig",
    ".gitignore",
    "README.md",
    "docs/会议室看板.md",
    "docs/why-moment.md",
    "index.html",
    "package.json",
    "public/icon.png",
    "src/main.tsx",
    "src/types.ts",
    "tsconfig.json",
    "vite.config.ts",
]


def git(directory: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-c", "core.quotePath=false", *arguments], cwd=directory, check=True, capture_output=True, text=True
    ).stdout


def tree(directory: Path) -> dict[str, str]:
    """Path → mode of all that is committed."""
    lines = git(directory, "ls-tree", "-r", "HEAD").splitlines()
    return {line.split("\t")[1]: line.split(" ")[0] for line in lines}


def calls(directory: Path) -> dict[str, int]:
    sources = [file for file in (directory / "src").rglob("*") if file.is_file()]
    counts = {str(file.relative_to(directory)): len(CALL.findall(file.read_text("utf-8"))) for file in sources}
    return {path: count for path, count in counts.items() if count}


def test_the_commit_holds_every_kind_of_file(template: Path) -> None:
    expected = dict.fromkeys([*CALLS, *WITHOUT_CALLS], "100644")
    assert tree(template) == expected | {"scripts/release.sh": "100755", "docs/README.md": "120000"}
    assert git(template, "log", "--format=%an <%ae> %cn %aI %cI", "--branches") == (
        "Lin Wei <lin.wei@example.com> Lin Wei 2026-08-24T09:30:00+08:00 2026-08-24T09:30:00+08:00\n"
    )


def test_twelve_files_hold_forty_seven_calls(template: Path) -> None:
    assert calls(template) == CALLS
    assert (len(CALLS), sum(CALLS.values())) == (12, 47)


def test_the_call_that_dayjs_lacks_is_on_line_42(template: Path) -> None:
    lines = (template / "src/api/time.ts").read_text().splitlines()
    assert [number for number, line in enumerate(lines, 1) if "moment.duration(" in line] == [42]


def test_what_git_status_calls_the_work_of_the_person(template: Path) -> None:
    assert git(template, "status", "--porcelain", "--ignored") == " M README.md\n?? notes.txt\n!! .env\n"
    assert git(template, "show", "HEAD:README.md") + README_EDIT == (template / "README.md").read_text()
    assert {path: (template / path).read_text("utf-8") for path in UNCOMMITTED} == UNCOMMITTED


def test_files_that_are_easily_bent(template: Path) -> None:
    report = (template / "src/legacy/report.js").read_bytes()
    assert report.count(b"\n") == report.count(b"\r\n") == 15
    assert os.readlink(template / "docs/README.md") == "../README.md"
    assert (template / "scripts/release.sh").stat().st_mode & 0o777 == 0o755
    assert "时间一律按办公室所在时区显示" in (template / "docs/会议室看板.md").read_text("utf-8")


def test_the_icon_is_a_real_picture(template: Path) -> None:
    png = (template / "public/icon.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (16, 16)
    pixels = zlib.decompress(png[png.index(b"IDAT") + 4 : png.index(b"IEND") - 8])
    assert len(pixels) == 16 * (1 + 16 * 3)


def test_what_ships_survives_a_package() -> None:
    files = [file for file in SHIPPED.rglob("*") if not file.is_dir()]
    assert [file for file in files if file.name.startswith(".") or not str(file.name).isascii()] == []
    assert [file for file in files if file.is_symlink()] == []
    assert [file for file in files if b"\r" in file.read_bytes() and file.suffix != ".png"] == []


CREATE = "import sys; from gitckpt.demo.project import create_project; create_project(sys.argv[1])"


def created(directory: Path, environment: dict[str, str], umask: int = -1) -> str:
    """The commit id of a project that another process made."""
    command = [sys.executable, "-c", CREATE, str(directory)]
    subprocess.run(command, env=environment, umask=umask, check=True, capture_output=True)
    return git(directory, "rev-parse", "HEAD")


def test_nothing_of_the_caller_makes_a_difference(template: Path, tmp_path: Path) -> None:
    expected = git(template, "rev-parse", "HEAD")
    assert created(tmp_path / "bare", {"PATH": os.environ["PATH"]}) == expected
    no_utf8 = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0"}
    assert created(tmp_path / "no-utf-8", no_utf8) == expected

    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    (tmp_path / "ignore").write_text("*.ts\n")
    (tmp_path / "config").write_text(
        f"[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n\texcludesFile = {tmp_path}/ignore\n"
        "[commit]\n\tgpgSign = true\n[init]\n\tdefaultBranch = other\n"
    )
    hostile = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": str(tmp_path / "config"),
        "GIT_DIR": str(template / ".git"),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_CONFIG_PARAMETERS": f"'core.hooksPath={hooks}'",
        "GIT_AUTHOR_NAME": "somebody else",
    }
    assert created(tmp_path / "hostile", hostile, umask=0o077) == expected
    assert git(tmp_path / "hostile", "status", "--porcelain") == " M README.md\n?? notes.txt\n"
    assert git(tmp_path / "hostile", "symbolic-ref", "HEAD") == "refs/heads/main\n"
    assert not (tmp_path / "index").exists()


def test_an_empty_directory_is_used(template: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    create_project(str(tmp_path / "empty"))
    assert tree(tmp_path / "empty") == tree(template)


def test_a_directory_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(Refused, match="is not empty") as refusal:
        create_project(tmp_path)
    assert refusal.value.hint == "gitckpt demo DIR, where DIR is new or empty"
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("target", ["mine.txt", "dangling"])
def test_what_is_no_directory_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(Refused, match="is not a directory"):
        create_project(tmp_path / target)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["dangling", "mine.txt"]


def test_a_place_that_cannot_be_written_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="Not a directory"):
        create_project(tmp_path / "file" / "demo")


def test_without_git_the_error_says_so(tmp_path: Path) -> None:
    wrapped = (
        "import sys\nfrom gitckpt.errors import GitFailed\nfrom gitckpt.demo.project import create_project\n"
        "try:\n    create_project(sys.argv[1])\nexcept GitFailed as error:\n    print(error.hint)\n"
    )
    command = [sys.executable, "-c", wrapped, str(tmp_path / "demo")]
    answer = subprocess.run(command, env={"PATH": "/nowhere"}, check=True, capture_output=True, text=True)
    assert answer.stdout == "install git 2.30 or newer\n"
