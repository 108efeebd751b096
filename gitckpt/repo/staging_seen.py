"""The user's staging area as last seen. It is read again only if its file was written."""

from __future__ import annotations

from gitckpt.errors import GitFailed
from gitckpt.repo.index_file import stat_key
from gitckpt.repo.staging import Capture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.cache import ScanCache
    from gitckpt.repo.gateway import Git
    from gitckpt.repo.index import Seed
    from gitckpt.repo.repository import Repository
    from gitckpt.repo.staging import Staging


class StagingSeen:
    """Reads the staging area and keeps what is known of it in the cache. `rules` is git in the private directory under
    the user's ignore rules; in a `partial` clone objects may be missing."""

    def __init__(self, repository: Repository, rules: Git, cache: ScanCache, *, partial: bool) -> None:
        self._repository, self._rules, self._cache, self._partial = repository, rules, cache, partial

    def key(self) -> tuple[int, ...]:
        """Return what changes whenever the index file is written."""
        return stat_key(self._repository.index_path)

    def read(self, *, again: bool) -> tuple[Staging | None, bool]:
        """Return the staging area, or None if it cannot be read, and whether it has changed. With `again` nothing is
        taken as known, because which tracked paths a rule ignores is part of it."""
        key = self.key()
        if key == self._cache.staging_key and not again:
            return self._cache.staging, False
        try:
            capture = self._capture(None if again else self._cache.staging)
        except GitFailed:
            return None, False
        return self.captured(capture, key)

    def ahead(self, seed: Seed) -> Capture | None:
        """Start reading the staging area that a private index has just been made from; None if it has changed since."""
        try:
            capture = self._capture(None, seed.listing, plain=seed.plain)
        except GitFailed:
            return None
        if self.key() == seed.key:
            return capture
        capture.kill()
        return None

    def captured(self, capture: Capture, key: tuple[int, ...]) -> tuple[Staging | None, bool]:
        """Like `read`, for a capture that was started when the index file had this key."""
        known = self._cache.staging
        try:
            staging = capture.wait()
        except GitFailed:
            return None, False
        self._cache.staging_key, self._cache.staging = key, staging
        return staging, staging is not known

    def _capture(self, known: Staging | None, listing: bytes = b"", *, plain: bool = False) -> Capture:
        return Capture(
            self._repository, self._rules, missing_ok=self._partial, known=known, listing=listing, plain=plain
        )
