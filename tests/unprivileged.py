"""Run a process that is bound by permission bits, even if the suite runs as root."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

DROP_FROM_BOUNDING_SET = 24  # PR_CAPBSET_DROP of <linux/prctl.h>


def run(code: str, directory: Path) -> Any:
    """Run Python code in `directory` without any capability; return what it assigns to `answer`, as plain data."""
    program = f"import json\n{code}\nprint(json.dumps(answer))"
    places = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=directory, env=environment, preexec_fn=_drop_capabilities,
        capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def _drop_capabilities() -> None:
    """Empty the bounding set, so that the next exec does not give the capabilities back to root."""
    libc = ctypes.CDLL(None)
    for capability in range(64):
        libc.prctl(DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
