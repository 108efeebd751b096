"""Take a snapshot: the whole work tree as a tree object, with the bytes exactly as on disk, and a list of what it could
not hold."""

from __future__ import annotations

import os

from gitckpt.errors import GitFailed
from gitckpt.repo import index
from gitckpt.repo.answers import object_id
from gitckpt.repo.cache import ScanCache, own_places
from gitckpt.repo.changes import Changes
from gitckpt.repo.directories import ignored_paths, why_closed
from gitckpt.repo.gateway import split
from gitckpt.repo.head import Head, Heads
from gitckpt.repo.presence import WAIT, ObjectsGone
from gitckpt.repo.private import clear, folds_case, index_path, mend, with_rules
from gitckpt.repo.staging import MOST_PATHSPECS
from gitckpt.repo.staging_seen import StagingSeen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from gitckpt.repo.directories import Directories
    from gitckpt.repo.gateway import Call, Git
    from gitckpt.repo.in_force import SettingsInForce
    from gitckpt.repo.repository import Repository
    from gitckpt.repo.staging import Capture, Staging
    from gitckpt.repo.trees import Change


class Snapshot:
    """A work tree at one moment.

    `tree` is the object id of its tree; `missing` maps each path that is not in the tree to the reason; `modes` are
    permission bits other than those that git and the umask give (a directory ends in `/`); `empty` are the empty
    directories. `head` is where the user's HEAD was, `staging` the user's staging area, or None if it could not be
    read."""

    __slots__ = ("empty", "head", "missing", "modes", "staging", "tree", "umask")

    def __init__(self, tree: str, head: Head, staging: Staging | None) -> None:
        self.tree, self.head, self.staging = tree, head, staging
        self.missing: dict[bytes, str] = {}
        self.modes: dict[bytes, int] = {}
        self.umask = 0o022
        self.empty: list[bytes] = []


class Snapshotter:
    """Takes successive snapshots of one work tree. The caller holds the work tree's lock."""

    def __init__(self, repository: Repository, raw: Git, in_force: SettingsInForce) -> None:
        self.repository, self._raw, self._in_force = repository, raw, in_force
        self._settings = in_force.settings
        self._heads = Heads(repository)
        self._follow_settings()
        self._seed: index.Seed | None = None
        self._running: list[Call | Capture | None] = []

    def take(self, also: Collection[bytes] = (), *, verifying: bool = False, recorded: str = "") -> Snapshot:
        """Return a snapshot of the work tree now. `also` are paths to hold although a rule ignores them; `recorded` is
        a tree that is on record, if the caller knows one that this may be.

        With `verifying`, recorded paths are kept even if a rule ignores them by now: dropping them is left to the next
        snapshot.

        Raise GitFailed if no tree can be made that exactly matches the work tree, apart from what `missing` names.
        """
        if self._in_force.refresh():
            self._follow_settings()
        # another process may use different settings, because of its home directory or environment
        mend(self.repository, self._settings)
        try:
            try:
                if not self._cache.is_current():
                    self._resume()
                if not verifying:
                    self._heed_limit()
                self._cache.trust(recorded)
                return self._take(also, verifying)
            except GitFailed:
                # the index may rely on objects that a gc has removed, or be damaged: try once more without it
                self._stop()
                self.renew()
                return self._take(also, verifying)
        except BaseException:
            self._cache.drop()  # what it learned belongs to a snapshot that does not exist
            self._stop()
            raise

    def _stop(self) -> None:
        """Stop the calls that a snapshot has started and not waited for: nothing may write the index after it."""
        for call in self._running:
            if call is not None:
                call.kill()
        self._running = []
        clear(index_path(self.repository) + b".lock")  # a git that was killed leaves it

    def _follow_settings(self) -> None:
        self._rules = with_rules(self._raw, self._settings)
        self._exact = self._settings.ignore_case and not folds_case(self.repository)
        self._cache = ScanCache(self.repository, self._rules, self._heads)
        self._staged = StagingSeen(self.repository, self._rules, self._cache, partial=self._settings.partial_clone)

    def _resume(self) -> None:
        """Continue from what an earlier process left, as far as it is intact."""
        if not index.is_whole(self.repository):
            self.renew()
        elif not self._cache.load():
            self._cache.drop()
            self._cache.limit = max(map(self._size, index.paths(self._raw)), default=0)

    def _heed_limit(self) -> None:
        """Start over if a held file may be larger than the current limit on file size."""
        if self._cache.limit > self._settings.max_file_size:
            self.renew()
        self._cache.limit = self._settings.max_file_size

    def _size(self, path: bytes) -> int:
        try:
            return os.lstat(self.repository.at(path)).st_size
        except OSError:
            return 0

    def _seeded(self) -> index.Seed:
        return index.seed(self.repository, self._raw, self._read_directories, sparse=self._settings.sparse)

    def _read_directories(self, tracked: set[bytes]) -> Directories:
        self._look(tracked)
        return self._cache.directories

    def renew(self) -> None:
        """Discard everything that was learned: the next snapshot starts from the user's index, reads every file that is
        not known to match it, and writes the objects that are missing."""
        self._cache.drop()
        self._seed = self._seeded()
        self._cache.limit = self._settings.max_file_size

    def follow(self, changes: Collection[Change]) -> None:
        """Note that git has just changed these paths in the work tree and private index; everything else learned still
        holds."""
        self._cache.follow(changes)

    def settle(self, snapshot: Snapshot) -> None:
        """Note that the snapshot is on record: its tree is reachable, and can be used again as long as nothing
        changes."""
        self._cache.tree = snapshot.tree

    def unsettle(self) -> None:
        """Note that the last snapshot was not recorded: the next one checks again which ignored paths are content."""
        self._cache.unreconciled = True

    def close(self) -> None:
        """Keep what was learned for the next process."""
        self._cache.save()
        index.tidy(self.repository, self._raw)

    def _take(self, also: Collection[bytes], verifying: bool) -> Snapshot:
        cache = self._cache
        cache.begin()
        seed, self._seed = self._seed, None
        ahead = self._staged.ahead(seed) if seed and seed.plain else None
        dirty = self._raw.start("diff-files", "-z", "--name-status", "--no-renames", ok=(0, 1))
        # most often nothing differs then, and the tree is that of the index as it is
        written = self._start_tree() if verifying else None
        head = self._heads.start()
        self._running = [ahead, dirty, written, head[1]]
        rules_changed, untracked, unseen = self._look_around(seed)
        # what is known of the staging area includes which tracked paths a rule ignores
        staging, staging_changed = (
            self._staged.captured(ahead, seed.key) if seed and ahead else self._staged.read(again=rules_changed)
        )
        as_staged = seed is not None and seed.as_is and seed.key == cache.staging_key == self._staged.key()
        changes = Changes(self.repository, self._raw, cache, self._settings.max_file_size)
        changes.look(split(dirty.wait()), untracked)
        known = self._take_tree(written) if written else ""  # before anything else writes the index
        changes.read_again(unseen)
        if self._note_include() or rules_changed or staging_changed:
            cache.unreconciled = True
        if as_staged:
            cache.unlisted = set()  # both indexes have the same paths
        else:
            self._reconcile(changes, staging, verifying)
        cache.unreconciled = bool(also) or (verifying and cache.unreconciled and not as_staged)
        changes.take_back_unlisted()
        changes.consider([*self._included(), *also])
        changes.apply()
        self._leave(changes.removed)
        cache.directories.enter(index.parents(changes.added))
        cache.note_unlisted(changes)
        # git has just written the staging area's tree, and checked that all its objects exist
        tree = staging.tree if staging and as_staged and not changes.any else self._tree(changes.any, known)
        snapshot = Snapshot(tree, self._heads.read(head), staging)
        snapshot.missing, cache.left_out = changes.missing, changes.left_out
        self._describe(snapshot, changes)
        if seed is not None:
            index.settle(self.repository)
        return snapshot

    def _look_around(self, seed: index.Seed | None) -> tuple[bool, list[bytes], list[bytes]]:
        """Return whether an ignore rule changed; the untracked paths that no rule ignores; the recorded paths whose
        files may have changed without git noticing."""
        cache, all_known = self._cache, self._cache.modes_known
        others = None if all_known or (seed and self._is_all(seed)) else self._ask_for_others()
        self._running.append(others)
        paths = None if all_known and cache.tracked is not None else self._recorded(seed)
        if cache.tracked is None:
            cache.tracked = seed.directories if seed else index.parents(paths or ())
        # if the index has just been made, the directories were read then
        looked = seed is not None and bool(cache.directories.known)
        rules_changed = looked or self._look(cache.tracked)
        if all_known:
            return rules_changed, self._untracked(rules_changed), cache.edited_unseen()
        untracked = self._not_ours(self._kept(others)) if others else []
        return rules_changed, untracked, self._look_at_all(seed, [*(paths or ()), *untracked])

    def _note_include(self) -> bool:
        """Return whether the `include` setting, which overrides all rules, has changed since the last snapshot."""
        before, self._cache.include = self._cache.include, self._settings.include
        return before != self._cache.include

    def _reconcile(self, changes: Changes, staging: Staging | None, verifying: bool) -> None:
        """Drop paths that a rule ignores by now, and hold ignored paths that the user tracks."""
        if self._cache.unreconciled and not verifying:
            ignored = split(self._rules.run("ls-files", "-z", "-c", "-i", "--exclude-standard"))
            changes.reconcile(staging, set(ignored), sparse=self._settings.sparse)
            # reconcile has just dropped those of them that the index has
            changes.consider(self._included("-c"))
        elif staging and staging.skipped:
            if self._cache.directories.changed:
                changes.take_back_skipped()
            if self._settings.sparse and not verifying:
                changes.hold_outside(staging)

    def _recorded(self, seed: index.Seed | None) -> list[bytes]:
        return index.paths(self._raw) if seed is None else seed.paths

    def _is_all(self, seed: index.Seed) -> bool:
        """Return whether every file on disk is in the index, given that the directories have just been read."""
        # two passes over names: git would read each directory once more
        return bool(seed.paths) and set(seed.paths).issuperset(self._cache.directories.take_files())

    def _look_at_all(self, seed: index.Seed | None, paths: list[bytes]) -> list[bytes]:
        """Learn the permission bits of all these paths; return those whose files may have changed without git
        noticing."""
        found = self._cache.read_all_modes(paths)
        return [path for path, status in found.items() if seed and seed.may_hide_edits(status)]

    def _look(self, tracked: set[bytes]) -> bool:
        """Return whether an ignore rule changed."""
        return self._cache.directories.look(tracked, self._rule_files(), self._manner())

    def _untracked(self, rules_changed: bool) -> list[bytes]:
        """Return untracked paths that no rule ignores, where new ones may have appeared since the last look;
        everywhere, if a rule has changed.

        Paths that were left out last time are checked again: they are no longer new, and still not in the index. Only
        git can tell whether they are content now.
        """
        asked = self._cache.directories.changed | self._cache.left_out
        if rules_changed or b"" in asked or len(asked) > MOST_PATHSPECS:
            return self._not_ours(self._kept(self._ask_for_others()))
        return self._not_ours(self._kept(self._ask_for_others("--", *sorted(asked)))) if asked else []

    def _leave(self, removed: Collection[bytes]) -> None:
        """Forget ignored directories that were entered for tracked files, and hold none any more."""
        cache = self._cache
        left = [path for path in index.parents(removed) if cache.is_directory(path) and path in (cache.tracked or ())]
        if left:
            named = sorted(left) if len(left) <= MOST_PATHSPECS else []
            users = self._raw.view(GIT_INDEX_FILE=self.repository.index_path)  # may be damaged; reported elsewhere
            listed = [git.run("ls-files", "-z", "--", *named, ok=(0, 128)) for git in (self._raw, users)]
            tracked = index.parents(path for output in listed for path in split(output))
            cache.leave([path for path in left if path not in tracked])

    def _ask_for_others(self, *paths: bytes | str) -> Call:
        return self._raw.start("ls-files", "-z", "-o", "--exclude-standard", *paths)

    def _kept(self, others: Call) -> list[bytes]:
        """Return the untracked paths that git lists, except those that the user's own rules ignore."""
        found = split(others.wait())
        # git folds case in both rules and names, or in neither
        ignored = ignored_paths(self._rules, found) if self._exact and found else ()
        return [path for path in found if path not in ignored]

    def _not_ours(self, paths: list[bytes]) -> list[bytes]:
        """Return the paths except those of a git directory that is in the work tree under another name than `.git`."""
        places = own_places(self.repository)
        return [p for p in paths if not any(p == place or p.startswith(place + b"/") for place in places)]

    def _rule_files(self) -> list[bytes]:
        info = os.path.join(self.repository.common_dir, b"info")
        found = [os.path.join(info, b"exclude"), os.path.join(info, b"attributes")]
        personal = os.fsencode(self._settings.excludes_file)
        return [*found, os.path.join(self.repository.work_tree, personal)] if personal else found

    def _manner(self) -> tuple[int, ...]:
        """Return the settings that decide how rules are read and what is outside the checkout."""
        settings = self._settings
        return (settings.ignore_case, settings.precompose_unicode, settings.sparse)

    def _included(self, kind: str = "-o") -> list[bytes]:
        """Return the paths to record whatever a rule says: with `-o` those not in the index, with `-c` the others."""
        if not self._settings.include:
            return []
        git = self._raw.view(GIT_LITERAL_PATHSPECS="0")
        patterns = [f":(glob){pattern}" for pattern in self._settings.include]
        return [p for p in split(git.run("ls-files", "-z", kind, "--", *patterns)) if not p.endswith(b"/")]

    def _tree(self, changed: bool, known: str) -> str:
        """Return the tree of the index, which was `known` unless it has `changed`."""
        if changed:
            self._cache.tree = self._cache.tree_left = known = ""
        return self._cache.tree or known or self._take_tree(self._start_tree())

    def _start_tree(self) -> Call:
        # here git checks that everything the index names still exists
        return self._raw.start("write-tree", *(["--missing-ok"] if self._settings.partial_clone else []))

    def _take_tree(self, call: Call) -> str:
        try:
            return object_id(call.wait(), call.words)
        except GitFailed as error:
            if "invalid object" in str(error):
                raise ObjectsGone(str(error), WAIT) from error
            raise

    def _describe(self, snapshot: Snapshot, changes: Changes) -> None:
        """Add permission bits, empty directories, and what is not in the tree."""
        cache = self._cache
        cache.note_modes(changes)
        index.distrust(self._raw, cache.take_hiding())
        snapshot.modes, snapshot.umask = dict(cache.modes), cache.umask
        for path, directory in cache.directories.known.items():
            if path and directory.mode not in (-1, 0o777 & ~cache.umask) and not directory.boundary:
                snapshot.modes[path + b"/"] = directory.mode
            if directory.empty:
                snapshot.empty.append(path)
            if directory.boundary:
                snapshot.missing[path] = "a repository of its own: never entered, never touched"
            elif directory.unreadable:
                snapshot.missing[path] = why_closed(self.repository.at(path))
            for name, kind in directory.special.items():
                snapshot.missing[path + b"/" + name if path else name] = f"a {kind}"
        if snapshot.staging is None:
            snapshot.missing[b".git/index"] = "the staging area cannot be read"
        cache.remember_index()
