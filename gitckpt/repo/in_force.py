"""The settings in force in a work tree. A long-lived process refreshes them, because the user or the agent may have
changed them."""

from __future__ import annotations

import os

from gitckpt.config import FILE, Settings, read_settings
from gitckpt.errors import UsageError
from gitckpt.repo.answers import reads, unknown_form
from gitckpt.repo.gateway import split
from gitckpt.repo.index_file import stat_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitckpt.repo.repository import Repository

    Say = Callable[[str], None]


class SettingsInForce:
    """`settings` is one object, which `refresh` updates in place.

    With `lenient`, invalid settings of gitckpt are reported and ignored; otherwise the first read raises UsageError. If
    they become invalid later, that is reported and the previous settings stay in force."""

    def __init__(self, repository: Repository, say: Say | None = None, *, lenient: bool = False) -> None:
        self._repository, self._say = repository, say
        self._files: list[bytes] = []
        self._stamps: list[object] = []
        self.settings = self._read(lenient=lenient)
        self._stamps = self._look()

    def refresh(self) -> bool:
        """Read the settings again if a file that they come from has changed, and return whether they were."""
        stamps = self._look()
        if stamps == self._stamps:
            return False
        known = len(self._files)
        try:
            read = self._read(lenient=False)
        except UsageError as error:
            if self._say:
                self._say(f"{error}; going on with the settings from before")
            return False
        finally:
            # a file that has changed since the stamps were taken is read again the next time
            self._stamps = stamps if known == len(self._files) else self._look()
        for name in Settings.__slots__:
            setattr(self.settings, name, getattr(read, name))
        return True

    def _read(self, *, lenient: bool) -> Settings:
        output = self._repository.user_git().run("config", "--list", "-z", "--includes", "--show-origin")
        origins, entries = _origins(output)
        self._files = self._places(origins, entries)
        try:
            return read_settings(self._repository.work_tree, b"\0".join(entries), os.environ)
        except UsageError as error:
            if not lenient:
                raise
            if self._say:
                self._say(f"{error}; going on without the settings of gitckpt")
            theirs = [entry for entry in entries if not entry.startswith(b"gitckpt.")]
            return read_settings(None, b"\0".join(theirs), os.environ)

    def _look(self) -> list[object]:
        return [stat_key(path) for path in self._files]

    def _places(self, origins: list[bytes], entries: list[bytes]) -> list[bytes]:
        """Return every file that settings come from, or would come from if it existed."""
        repository, home = self._repository, os.path.expanduser(b"~")
        personal = os.environb.get(b"XDG_CONFIG_HOME") or os.path.join(home, b".config")
        usual = [
            os.path.join(repository.work_tree, FILE),
            os.path.join(repository.common_dir, b"config"),
            os.path.join(repository.git_dir, b"config.worktree"),
            os.environb.get(b"GIT_CONFIG_GLOBAL") or os.path.join(home, b".gitconfig"),
            os.path.join(personal, b"git", b"config"),
            os.environb.get(b"GIT_CONFIG_SYSTEM") or b"/etc/gitconfig",
        ]
        if any(entry.startswith(b"includeif.onbranch:") for entry in entries):
            usual.append(os.path.join(repository.git_dir, b"HEAD"))
        files = [origin.removeprefix(b"file:") for origin in origins if origin.startswith(b"file:")]
        read = [os.path.join(repository.work_tree, file) for file in files]
        return list(dict.fromkeys([*usual, *read, *_included(origins, entries, repository.work_tree)]))


def _included(origins: list[bytes], entries: list[bytes], work_tree: bytes) -> list[bytes]:
    """Return the files that other files include, whether they exist or not."""
    found = []
    for origin, entry in zip(origins, entries, strict=True):
        name, _, value = entry.partition(b"\n")
        if name == b"include.path" or (name.startswith(b"includeif.") and name.endswith(b".path")):
            directory = os.path.dirname(os.path.join(work_tree, origin.removeprefix(b"file:")))
            found.append(os.path.join(directory, os.path.expanduser(value)))
    return found


@reads("config --list")
def _origins(output: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the origin of each entry, and the entry: name, line end, value."""
    fields = split(output)
    origins, entries = fields[::2], fields[1::2]
    if len(origins) != len(entries) or any(b"." not in entry.partition(b"\n")[0] for entry in entries):
        raise unknown_form("config --list")
    return origins, entries
