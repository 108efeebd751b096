"""Where clients keep their files: in the home directory, unless a variable of theirs names another place."""

from __future__ import annotations

import os
from collections.abc import Mapping

#: A client's variables, each with the directory that it replaces, relative to the home directory ("" for all of it).
Moved = tuple[tuple[str, str], ...]


def placed(path: str, home: str, moved: Moved, environ: Mapping[str, str]) -> str:
    """Return the absolute path of a client's file, given its `path` relative to the home directory. The first variable
    in `moved` that is set and replaces a directory above the file counts."""
    for variable, directory in moved:
        value = environ.get(variable, "").strip()
        if value and (not directory or path.startswith(f"{directory}/")):
            value = home + value[1:] if value == "~" or value.startswith("~/") else value
            return os.path.join(os.path.abspath(value), path[len(directory) :].lstrip("/"))
    return os.path.join(home, path)
