"""Machines that share a server."""

from __future__ import annotations

from pathlib import Path

from commandline import Place


class Shared:
    """The machines: `one` has recorded, `two` has nothing yet; `server` is the bare repository."""

    def __init__(self, top: Path, like: Place) -> None:
        self.top, self._like = top, like
        self.one = self.machine("one")
        self.server = Place(top / "server.git", like.env, like.zygote)

    def machine(self, name: str) -> Place:
        """Return the clone with this name, creating it if necessary."""
        path = self.top / name
        if not path.exists():
            self._like.git("clone", "-q", "--no-local", str(self.top / "server.git"), str(path))
            Place(path, self._like.env, self._like.zygote).git("config", "gitckpt.durable", "false")
            Place(path, self._like.env, self._like.zygote).git("remote", "set-url", "origin", "../server.git")
        return Place(path, self._like.env, self._like.zygote)

    @property
    def two(self) -> Place:
        return self.machine("two")


def refs(place: Place, prefix: str = "refs/gitckpt") -> dict[str, str]:
    """Map the names of gitckpt's refs to object ids."""
    rows = place.git("for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
    return dict(tuple(row.split()) for row in rows)  # type: ignore[misc]
