"""The agent as a process: what it needs, how it stops, and that it then says why."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from gitckpt.demo import agent
from gitckpt.demo.picture import on_disk

TIME = "src/api/time.ts"


def run(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gitckpt.demo.agent", *arguments]
    return subprocess.run(command, cwd=root, env=os.environ | environment, capture_output=True, encoding="utf-8")


def test_a_file_without_the_call_gives_no_retry(project: Path) -> None:
    text = (project / TIME).read_text().replace("moment.duration(minutes, 'minutes')", "moment(minutes)")
    (project / TIME).write_text(text)
    done = run(project, "--lang", "en")
    assert done.returncode == 1
    assert "===RETRY===" not in done.stdout
    assert done.stderr == "agent: check src/api/time.ts: dayjs.duration should be missing, and is not used\n"


def test_it_needs_the_standard_library_alone(project: Path, template: Path, tmp_path: Path) -> None:
    expected = run(project).stdout
    other = tmp_path / "other"
    subprocess.run(["cp", "-a", template, other], check=True)
    by_path = [sys.executable, "-I", "-S", agent.__file__]
    assert subprocess.run(by_path, cwd=other, capture_output=True, encoding="utf-8").stdout == expected


def test_the_locale_does_not_bend_the_text(project: Path, template: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["cp", "-a", template, other], check=True)
    assert run(project).stdout == run(other, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0").stdout


def test_a_second_run_is_refused_and_changes_nothing(project: Path) -> None:
    assert run(project).returncode == 0
    before = on_disk(str(project))
    again = run(project, "--lang", "en")
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == (
        "agent: this directory has 0 files with 0 moment calls, not 12 with 47; "
        "if it is on its way already, `gitckpt rollback start` brings it back\n"
    )
    assert on_disk(str(project)) == before


def test_an_edit_that_does_not_fit_stops_the_agent_with_the_reason(project: Path) -> None:
    package = project / "package.json"
    package.write_text(package.read_text().replace("^2.30.1", "^2.29.0"))
    done = run(project)
    assert done.returncode == 1
    assert done.stderr == (
        'agent: edit_file package.json: found 0 times instead of once: \'    "moment": "^2.30.1",\'\n'
    )


def test_a_file_that_is_no_text_stops_the_agent_with_the_reason(project: Path) -> None:
    (project / "package.json").write_bytes(b"\xff\xfe")
    done = run(project)
    assert done.returncode == 1
    assert done.stderr.startswith("agent: 'utf-8' codec can't decode byte 0xff")


def test_a_missing_file_stops_the_agent_with_the_reason(project: Path) -> None:
    (project / "package.json").unlink()
    done = run(project)
    assert done.returncode == 1
    assert done.stderr.startswith("agent: [Errno 2] No such file or directory")


def test_ctrl_c_ends_it_without_a_traceback(project: Path) -> None:
    command = [sys.executable, "-m", "gitckpt.demo.agent", "--pause", "60"]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        while process.stdout.readline() != b"===END===\n":
            pass
        process.send_signal(signal.SIGINT)
        assert (process.wait(30), process.stderr.read()) == (-signal.SIGINT, b"")
