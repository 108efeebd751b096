"""What a library user may import, and that importing it costs nothing."""

from __future__ import annotations

import subprocess
import sys

import gitckpt


def test_every_public_name_is_there() -> None:
    for name in gitckpt.__all__:
        assert getattr(gitckpt, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(gitckpt, "no_such_name")


def test_importing_the_package_loads_none_of_its_modules() -> None:
    script = "import sys, gitckpt; print([m for m in sys.modules if m.startswith(('gitckpt.', 'typer', 'yaml'))])"
    output = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert output == "[]\n"


def test_the_replayer_of_the_first_source_document() -> None:
    text = """
===CHECKPOINT 6===
phase: implement
done: [a]
next: [b]
state_ref: [x=1]
rollback_hint: [back to C5, git checkout a.ts]
===END===
===CHECKPOINT 7===
phase: implement
done: [c]
next: [d]
state_ref: [x=2]
rollback_hint: [back to CHECKPOINT 6, git checkout a.ts]
===END===
"""
    steps = gitckpt.parse_trajectory(text)
    for name in ("7", "C7", "c7", "CHECKPOINT 7"):
        step = gitckpt.replay_to(steps, name)
        target = gitckpt.find_rollback_target(steps, name)
        assert step is not None
        assert target is not None
        assert (step.next, target.next) == ("d", "b")
