"""What may be set, where, and what is said of what may not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from project import Project

from gitckpt.config import FILE, MIB, Settings, choice, read_settings, size, validation_codes
from gitckpt.errors import UsageError


def settings(directory: Path, file: str | bytes = "", git: dict[str, Any] | None = None, **environ: str) -> Settings:
    """The settings from a file and from git's configuration."""
    if file:
        (directory / ".gitckpt.yaml").write_bytes(file.encode() if isinstance(file, str) else file)
    entries = [
        f"{name}\n{value}" if value is not None else name
        for name, values in (git or {}).items()
        for value in (values if isinstance(values, list) else [values])
    ]
    return read_settings(os.fsencode(directory), "".join(f"{entry}\0" for entry in entries).encode(), environ)


def as_dictionary(given: Settings) -> dict[str, Any]:
    return {name: getattr(given, name) for name in Settings.__slots__}


DEFAULTS = {
    "author_email": "", "author_name": "", "durable": True, "excludes_file": "", "freeze": "auto", "ignore_case": False, "include": (),
    "max_file_size": 100 * MIB, "auto": "", "on_retry": "", "pack": True, "partial_clone": False, "precompose_unicode": False, "shared_repository": "false", "sparse": False,
    "verify": "",
}  # fmt: skip


def test_without_any_configuration_all_is_as_by_default(tmp_path: Path) -> None:
    assert as_dictionary(settings(tmp_path)) == DEFAULTS


def test_each_setting_of_the_file_counts(tmp_path: Path) -> None:
    text = "max_file_size: 2G\ninclude:\n- '*.log'\n- data/**\ndurable: false\npack: false\nfreeze: off\non_retry: restore\nauto: off\nselect: [P001]\nignore: [P009, P012]\n"
    assert as_dictionary(settings(tmp_path, text)) == DEFAULTS | {
        "max_file_size": 2 * 1024 * MIB, "include": ("*.log", "data/**"), "durable": False, "pack": False, "freeze": "off", "on_retry": "restore", "auto": "off",
    }  # fmt: skip
    assert validation_codes(os.fsencode(tmp_path)) == (("P001",), ("P009", "P012"))


@pytest.mark.parametrize("text", ["# nothing\n", "\n", "---\n", "{}\n"])
def test_a_file_that_sets_nothing(tmp_path: Path, text: str) -> None:
    assert as_dictionary(settings(tmp_path, text)) == DEFAULTS
    assert validation_codes(os.fsencode(tmp_path)) == ((), ())


def test_without_a_file_no_codes_are_chosen(tmp_path: Path) -> None:
    assert validation_codes(os.fsencode(tmp_path)) == ((), ())


def test_gits_configuration_is_over_the_file(tmp_path: Path) -> None:
    git = {
        "gitckpt.maxfilesize": ["1M", "5K"], "gitckpt.durable": None, "gitckpt.pack": "false", "gitckpt.include": ["a", "b"], "gitckpt.freeze": "on",
        "gitckpt.onretry": "fork", "gitckpt.verify": " npm test ", "gitckpt.auto": "turn", "gitckpt.unknown": "x", "gitckpt.some.thing": "x",
    }  # fmt: skip
    text = "max_file_size: 2G\ninclude: [c]\ndurable: false\nfreeze: off\non_retry: restore\n"
    assert as_dictionary(settings(tmp_path, text, git)) == DEFAULTS | {
        "max_file_size": 5 * 1024, "include": ("a", "b"), "durable": True, "pack": False, "freeze": "on", "on_retry": "fork", "auto": "turn",
        "verify": "npm test",
    }  # fmt: skip


def test_what_git_knows_of_this_place(tmp_path: Path) -> None:
    git = {
        "user.name": ["Old", "名 \udcff".encode("utf-8", "replace").decode()], "user.email": "a@b", "core.ignorecase": "TRUE",
        "core.precomposeunicode": "yes", "remote.origin.promisor": "true", "core.sharedrepository": "group", "core.sparsecheckout": "true",
    }  # fmt: skip
    assert as_dictionary(settings(tmp_path, git=git)) == DEFAULTS | {
        "author_name": "名 ?", "author_email": "a@b", "ignore_case": True, "precompose_unicode": True, "partial_clone": True,
        "shared_repository": "group", "sparse": True,
    }  # fmt: skip
    assert settings(tmp_path, git={"extensions.partialclone": "origin"}).partial_clone
    assert settings(tmp_path, git={"core.ignorecase": None}).ignore_case


@pytest.mark.parametrize(
    ("configured", "environ", "file"),
    [
        ("", {}, ""),
        ("", {"HOME": "/h"}, "/h/.config/git/ignore"),
        ("", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/git/ignore"),
        ("", {"XDG_CONFIG_HOME": "/x"}, "/x/git/ignore"),
        ("/a/b", {"HOME": "/h"}, "/a/b"),
        ("relative", {"HOME": "/h"}, "relative"),
    ],
)
def test_the_users_own_ignore_file(tmp_path: Path, configured: str, environ: dict[str, str], file: str) -> None:
    git = {"core.excludesfile": configured} if configured else {}
    assert settings(tmp_path, git=git, **environ).excludes_file == file


@pytest.mark.parametrize(
    ("key", "meant"),
    [("nope", ""), ("automatic", ""), ("max-filesize", "max_file_size"), ("exclude", "include"), ("atuo", "auto")],
)
def test_only_a_setting_that_is_alike_is_taken_for_the_one_that_was_meant(tmp_path: Path, key: str, meant: str) -> None:
    (tmp_path / ".gitckpt.yaml").write_text(f"{key}: 1\n")
    with pytest.raises(UsageError) as error:
        settings(tmp_path)
    assert error.value.hint.startswith(f"did you mean {meant}?" if meant else "the settings are max_file_size, ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_file_size: huge\n", ".gitckpt.yaml:1: max_file_size: 'huge' is no size"),
        ("max_file_size: -1\n", ".gitckpt.yaml:1: max_file_size: -1 is no size"),
        ("max_file_size: true\n", ".gitckpt.yaml:1: max_file_size: True is not a size, such as 500K, 100M or 2G"),
        (
            "# a\n\ninclude: x\n",
            '.gitckpt.yaml:3: include: \'x\' is not a list of patterns, such as [".env", "build/*.map"]',
        ),
        ("durable: maybe\n", ".gitckpt.yaml:1: durable: 'maybe' is not true or false"),
        ("freeze: never\n", ".gitckpt.yaml:1: freeze: 'never' is not auto, on or off"),
        ("durable: true\non_retry: no\n", ".gitckpt.yaml:2: on_retry: False is not fork or restore"),
        ("durable: true\ncommand: rm -rf /\n", ".gitckpt.yaml:2: command: there is no such setting"),
        (
            "include:\n- a\n- /etc/passwd\n",
            ".gitckpt.yaml:1: include: '/etc/passwd' is absolute, and patterns are of paths in the work tree",
        ),
        ("include: [~/x]\n", ".gitckpt.yaml:1: include: '~/x' is absolute, and patterns are of paths in the work tree"),
        ("include: [a/../../b]\n", ".gitckpt.yaml:1: include: 'a/../../b' leads out of the work tree"),
        ("include: ['']\n", ".gitckpt.yaml:1: include: '' is empty, and matches nothing"),
        ('include: ["a\\0b"]\n', ".gitckpt.yaml:1: include: 'a\\x00b' has a control character in it"),
        (
            "include: [a/.Git/config]\n",
            ".gitckpt.yaml:1: include: 'a/.Git/config' is git's own, which cannot be recorded",
        ),
        ("include: [1]\n", '.gitckpt.yaml:1: include: [1] is not a list of patterns, such as [".env", "build/*.map"]'),
        (f"durable: {'x' * 99}\n", f".gitckpt.yaml:1: durable: '{'x' * 59}… is not true or false"),
        ("durable: true\nfreeze: [\n", ".gitckpt.yaml:3: this is not YAML: did not find expected node content"),
        ("- a\n", ".gitckpt.yaml:1: a mapping is wanted, of keys such as `max_file_size: 100M`"),
        ("just text\n", ".gitckpt.yaml:1: a mapping is wanted, of keys such as `max_file_size: 100M`"),
    ],
)
def test_a_mistake_is_named_by_key_and_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings(tmp_path, text)
    assert (str(caught.value), caught.value.exit_status) == (message, 2)


@pytest.mark.parametrize(
    "text",
    [
        b"a: [\n", b"\xff\xfe", b"\0", b"a: b: c\n", b"\ta\n", b"? [a]\n: b\n", b"1: x\n", b"include: [2026-13-45]\n", b"max_file_size: 2026-13-45\n",
        b"durable: !!int x\n", b"include: &a [*a]\n", b"a: !!python/object/apply:os.system ['true']\n", b"[" * 3000, b"<<: x\n", b"null: x\n",
    ],
    ids=repr,
)  # fmt: skip
def test_whatever_else_stands_there_is_a_usage_error(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(UsageError, match=r"^\.gitckpt\.yaml"):
        settings(tmp_path, text)


@pytest.mark.parametrize("kind", ["directory", "dangling link", "loop", "FIFO"])
def test_what_is_no_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / os.fsdecode(FILE)
    match kind:
        case "directory":
            path.mkdir()
        case "FIFO":
            os.mkfifo(path)
        case _:
            path.symlink_to("nowhere" if kind == "dangling link" else path.name)
    with pytest.raises(UsageError) as caught:
        settings(tmp_path)
    assert (str(caught.value), caught.value.hint) == (
        ".gitckpt.yaml is not a file",
        "remove it, or make it a YAML file",
    )


@pytest.mark.parametrize(
    ("git", "message"),
    [
        ({"gitckpt.maxfilesize": "many"}, "git config gitckpt.maxfilesize: 'many' is no size"),
        ({"gitckpt.freeze": "never"}, "git config gitckpt.freeze: 'never' is none of auto, on, off"),
        ({"gitckpt.include": ["ok", "../x"]}, "git config gitckpt.include: '../x' leads out of the work tree"),
        ({"gitckpt.onretry": "x"}, "git config gitckpt.onretry: 'x' is none of fork, restore"),
        ({"gitckpt.durable": "ture"}, "git config gitckpt.durable: 'ture' is not true or false"),
        ({"gitckpt.pack": "maybe"}, "git config gitckpt.pack: 'maybe' is not true or false"),
    ],
)
def test_a_mistake_in_gits_configuration(tmp_path: Path, git: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings(tmp_path, git=git)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("word", "truth"),
    [("true", True), ("Yes", True), ("on", True), ("1", True), ("false", False), ("No", False), ("off", False),
     ("0", False), ("", False)],
)  # fmt: skip
def test_true_and_false_in_gits_words(tmp_path: Path, word: str, truth: bool) -> None:
    assert settings(tmp_path, git={"gitckpt.durable": word}).durable is truth


@pytest.mark.parametrize(
    ("text", "bytes_of_it"),
    [
        ("0", 0),
        ("4096", 4096),
        (4096, 4096),
        ("500k", 512_000),
        ("500 K", 512_000),
        ("1KiB", 1024),
        ("100M", 100 * MIB),
        ("2gb", 2048 * MIB),
        (" 7 ", 7),
        ("10b", 10),
    ],
)
def test_a_size_in_any_spelling_is_bytes(text: object, bytes_of_it: int) -> None:
    assert size(text, "x") == bytes_of_it


@pytest.mark.parametrize(
    "text", ["", " ", "M", "1.5G", "-1", "1e3", "²", "١", "1 2", "1T", "1kk", True, None, [], "0x10", "1_000"]
)
def test_what_is_no_size(text: object) -> None:
    with pytest.raises(UsageError) as caught:
        size(text, "x")
    assert caught.value.hint == "write it as 4096, 500K, 100M or 2G"


@given(st.text(max_size=8))
def test_any_text_is_a_size_or_a_usage_error(text: str) -> None:
    try:
        assert size(text, "x") >= 0
    except UsageError as error:
        assert str(error) == f"x: {text!r} is no size"


def test_a_choice_is_one_of_those_allowed() -> None:
    assert choice("on", ("on", "off"), "x") == "on"
    with pytest.raises(UsageError, match="^x: None is none of on, off$"):
        choice(None, ("on", "off"), "x")


@pytest.mark.parametrize("place", ["file", "git"])
def test_a_real_repository_is_refused_with_a_bad_setting_and_nothing_is_recorded(project: Project, place: str) -> None:
    if place == "file":
        project.write(".gitckpt.yaml", "max_file_size: huge\n")
    else:
        project.git("config", "gitckpt.maxFileSize", "huge")
    with pytest.raises(UsageError, match="'huge' is no size"):
        project.checkpoint("C1")
    assert project.git("for-each-ref", "refs/gitckpt") == ""


def test_settings_of_one_person_reach_a_recording(project: Project, home: Path) -> None:
    (home / "more").write_text("[gitckpt]\n\tmaxFileSize = 10\n")
    project.git("config", "--global", "include.path", str(home / "more"))
    project.write("big", b"x" * 11)
    assert [missing["path"] for missing in project.checkpoint("C1").missing] == ["big"]


def test_a_setting_that_is_nearly_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        settings(tmp_path, "inclued: [a]\n")
    assert caught.value.hint == "did you mean include?"


def test_no_wording_of_a_library_reaches_the_person(tmp_path: Path) -> None:
    for key in (
        "max_file_size",
        "include",
        "durable",
        "pack",
        "freeze",
        "on_retry",
        "auto",
        "select",
        "ignore",
        "other",
    ):
        for value in ("{a: b}", "[[1]]", "2026-11-30", "1.5", "!!binary aGk="):
            with pytest.raises(UsageError, match=rf"^\.gitckpt\.yaml:2: {key}: ") as caught:
                settings(tmp_path, f"# first\n{key}: {value}\n")
            assert "nput" not in str(caught.value)
