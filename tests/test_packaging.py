"""What others install: the wheel, built from the source distribution, in an environment that has nothing else in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from guides import GUIDE, installs, typed
from places import environment

from gitckpt.doctor.installed import LIBRARIES

__all__ = ["environment"]

ROOT = Path(__file__).parents[1]
FOREVER = 600
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def machine(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of somebody who can install packages as the caller can, into a home of his own."""
    bin = tmp_path_factory.mktemp("installed") / "bin"
    settings = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_", "http"))}
    return (
        environment
        | settings
        | {"PIPX_HOME": f"{bin.parent}/pipx", "PIPX_BIN_DIR": str(bin), "UV_TOOL_BIN_DIR": str(bin)}
    )


def run(*command: str | Path, env: dict[str, str], cwd: Path) -> str:
    """What a command prints; it has to succeed."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=FOREVER)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(machine: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution."""
    directory = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", directory, ROOT, env=machine, cwd=directory)
    assert [file.name.endswith(".tar.gz") for file in sorted(directory.iterdir())] == [False, True]
    return next(directory.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, machine: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it."""
    venv = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", venv, env=machine, cwd=venv)
    run(venv / "bin/python", "-m", "pip", "install", "--quiet", wheel, env=machine, cwd=venv)
    return venv


def test_doctor_looks_at_each_library_that_is_needed() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert {re.split(r"[<>=\[]", needed)[0] for needed in project["dependencies"]} == set(LIBRARIES)


def test_the_wheel_has_all_of_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "gitckpt"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert set(tracked.split()) == {name for name in names if name.startswith("gitckpt/")}
    others = {name.partition("/")[2] for name in names if not name.startswith("gitckpt/")}
    assert {"licenses/LICENSE", "entry_points.txt", "data/share/man/man1/gitckpt.1"} < others
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"gitckpt"}


def test_it_runs_without_anything_for_development(installed: Path, machine: dict[str, str], tmp_path: Path) -> None:
    env = machine | {"PATH": f"{installed}/bin:{machine['PATH']}"}
    run("python", "-m", "pip", "check", env=env, cwd=tmp_path)
    assert run("gitckpt", "--version", env=env, cwd=tmp_path).startswith("gitckpt ")
    assert "Checked: " in run("gitckpt", "demo", "demo", "--pause", "0.1", "--lang", "en", env=env, cwd=tmp_path)
    assert run("gitckpt-validate", GUIDE, env=env, cwd=tmp_path) == ""
    assert (installed / "share/man/man1/gitckpt.1").is_file()
    missing = (
        "import importlib.util as u; print([n for n in ('pytest', 'openai', 'matplotlib', 'ruff') if u.find_spec(n)])"
    )
    assert run("python", "-c", missing, env=env, cwd=tmp_path) == "[]\n"


def test_what_the_guide_says_about_installing_can_be_typed(machine: dict[str, str]) -> None:
    steps = [
        line for step in typed(GUIDE.read_text(encoding="utf-8")) if installs(step) for line in step.text.splitlines()
    ]
    tools = [line.partition(" ")[0] for line in steps]
    if missing := [tool for tool in tools if tool != "gitckpt" and shutil.which(tool) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    for line in steps:
        run("sh", "-c", line, env=machine | {"PATH": f"{machine['PIPX_BIN_DIR']}:{machine['PATH']}"}, cwd=ROOT)
    assert tools.count("gitckpt") == 1 and not (Path(machine["PIPX_BIN_DIR"]) / "gitckpt").exists()
