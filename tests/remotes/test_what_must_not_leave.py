"""What `push` refuses to send: content that a filter keeps out of commits, ignored files, keys and tokens."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from commandline import Place, checkpoint
from machines import Shared, refs

from gitckpt.trajectory.confidential import confidential_content, confidential_name

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz234567"


def letters(count: int) -> str:
    return (LETTERS * 5)[7 : 7 + count]


#: What each kind of secret looks like, put together here so that this file holds none.
SECRETS = {
    "an AWS access key": "AK" + "IA" + letters(40).upper()[:16].replace("0", "2").replace("1", "2"),
    "an AWS secret key": "aws_secret" + "_access_key = '" + letters(40),
    "a GitHub token": "gh" + "p_" + letters(36),
    "a GitLab token": "glp" + "at-" + letters(20),
    "a Slack token": "xo" + "xb-123456789012-123456789012-" + letters(24),
    "a Slack web hook": "https://hooks.sl" + "ack.com/services/T01ABCDEFGH/B01ABCDEFGH/" + letters(24),
    "a Google API key": "AI" + "za" + letters(35),
    "a Stripe key": "sk_" + "live_" + letters(24),
    "an Anthropic key": "sk-" + "ant-api03-" + letters(80),
    "an npm token": "np" + "m_" + letters(36),
    "a PyPI token": "py" + "pi-AgEI" + letters(60),
    "a SendGrid key": "S" + "G." + letters(22) + "." + letters(43),
    "a JSON web token": "ey" + "J" + letters(20) + ".ey" + "J" + letters(40) + "." + letters(43),
    "a private key": "-----BEGIN OPENSSH PRI" + "VATE KEY-----\n" + letters(64) + "\n",
}


@pytest.mark.parametrize("name", SECRETS)
def test_each_kind_is_known_by_its_shape(name: str) -> None:
    secret = SECRETS[name].encode()
    assert confidential_content(b"key = '" + secret + b"'\n") == f"it holds {name}"
    assert confidential_content(b"before\0" + secret + b"\0after") == f"it holds {name}"
    if name != "a private key":
        assert confidential_content(b"word" + secret[: len(secret) // 3]) == ""


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_text_in_utf_16_is_read_too(encoding: str) -> None:
    held = f"\ufeffset TOKEN={SECRETS['a GitHub token']}\r\n".encode(encoding)
    assert confidential_content(held) == "it holds a GitHub token"


@pytest.mark.parametrize(
    "text",
    [
        b"aws_secret_access_key = os.environ['KEY']", b"AWS_SECRET_ACCESS_KEY=" + b"a" * 64,
        b"AKIAIOSFODNN7EXAMPLE", b"ghp_short", b"sk_test_" + b"a" * 30, b"-----BEGIN PUBLIC KEY-----\n" + b"A" * 64,
        b"the words PRIVATE KEY stand here", b"AIzaNot", b"eyJhbGciOi.eyJ", b"xoxo-love", b"glpat-", b"notghp_" + b"a" * 36,
    ],
)  # fmt: skip
def test_what_only_looks_a_little_like_one_is_none(text: bytes) -> None:
    assert confidential_content(text) == ""


def test_a_large_content_without_any_is_read_fast() -> None:
    content = b"the quick brown fox ghp_ AKIA eyJ jumps over the lazy dog -----BEGIN\n" * 100_000
    start = time.process_time()
    assert confidential_content(content) == ""
    assert time.process_time() - start < 30  # a pattern that goes back and forth would take hours


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        (b".env", True), (b"app/.env.production", True), (b".env.example", False), (b"env", False), (b"id_rsa", True),
        (b"keys/id_ed25519", True), (b"id_rsa.pub", False), (b"a/.netrc", True), (b"server.p12", True),
        (b".aws/credentials", True), (b"src/credentials.py", False), (b".ssh/config", False), (b"environment.env", False),
        (b".envrc", False), (b"app/.env.sample", False),
    ],
)  # fmt: skip
def test_names_that_hold_nothing_else(path: bytes, is_one: bool) -> None:
    assert bool(confidential_name(path)) == is_one


# -- what push says and does


def refused(place: Place, *arguments: str) -> str:
    answer = place.run("push", *arguments)
    assert (answer.status, answer.out) == (3, ""), answer
    assert "nothing was sent: this is not meant for others" in answer.err
    return answer.err


def test_a_token_in_any_checkpoint_bars_the_way_until_it_is_allowed(shared: Shared) -> None:
    one = shared.one
    one.write("src/settings.py", f"token = '{SECRETS['a GitHub token']}'\n")
    one.ok("save", "--session", "run", "-m", "with a token")
    one.write("src/settings.py", "token = None\n")
    one.ok("save", "--session", "run", "-m", "without")
    told = refused(one)
    assert "  src/settings.py: it holds a GitHub token (since run/C4)\n" in told
    assert SECRETS["a GitHub token"] not in told
    assert refs(shared.server) == {}
    assert "objects" in shared.server.git("count-objects")
    document = one.run("push", "--dry-run", "--json")
    assert document.status == 1
    assert document.json["barred"] == [
        {"path": "src/settings.py", "checkpoint": "run/C4", "reason": "it holds a GitHub token"}
    ]
    assert "src/settings.py" in refused(one, "--allow", "src/other.py")
    assert one.run("push", "--allow", "settings.py", cwd=one.path / "src").status == 0
    assert refs(shared.server) == refs(one)
    one.ok("save", "--session", "run", "-m", "more")
    one.ok("push")  # what was sent once is not asked about again


def test_names_and_whole_directories(shared: Shared) -> None:
    one = shared.one
    one.write("deploy/.env", "A=1\n")
    one.write("deploy/id_rsa", "x")
    one.ok("save", "--session", "run")
    told = refused(one)
    assert "deploy/.env: a file of credentials, by its name (since run/C4)" in told and "deploy/id_rsa" in told
    one.ok("push", "--allow", "deploy")


def test_what_a_filter_keeps_out_of_commits(shared: Shared) -> None:
    one = shared.one
    one.git("config", "filter.secret.clean", "tr a-z b-za")
    one.git("config", "filter.secret.smudge", "tr b-za a-z")
    one.write(".gitattributes", "*.key filter=secret\n")
    one.write("door.key", "open sesame\n")
    one.git("add", "-A")
    one.git("commit", "-q", "-m", "encrypted")
    one.ok("save", "--session", "run")
    told = refused(one)
    assert "  door.key: the filter secret keeps this content out of commits" in told and "run/C4" in told
    assert told.count("since run/") == 1
    # the rule is gone from the work tree; the snapshot had it
    one.write(".gitattributes", "")
    assert "door.key" in refused(one)
    one.ok("push", "--allow", "door.key")


def test_a_filter_that_is_named_only_now_or_in_the_users_own_attributes(shared: Shared) -> None:
    shared.one.write(".git/info/attributes", "new2.txt filter=git-crypt\n")
    assert "new2.txt: the filter git-crypt keeps" in refused(shared.one)


def test_content_that_the_filter_leaves_as_it_is_or_that_is_there_already(shared: Shared) -> None:
    one = shared.one
    one.write(".gitattributes", "a.txt filter=same\n")
    one.write("a.txt", "a as committed\n")
    one.git("add", "-A")
    one.git("commit", "-q", "-m", "attributes")
    one.git("push", "-q", "origin", "HEAD:main")
    one.ok("record", "--session", "clean", stdin=checkpoint("1"))
    one.ok("push", "--session", "clean")


def test_files_that_a_rule_ignores(shared: Shared) -> None:
    one = shared.one
    one.write(".gitckpt.yaml", "include: ['local/**']\n")
    one.write(".gitignore", "*.log\nlocal/\ntracked.txt\n")
    one.write("tracked.txt", "tracked all the same\n")
    one.git("add", "-f", "tracked.txt")
    one.write("local/notes.txt", "for me alone\n")
    one.ok("save", "--session", "run")
    told = refused(one)
    assert "  local/notes.txt: a rule ignores it, and git does not track it (since run/C4)" in told
    assert "tracked.txt" not in told
    one.ok("push", "--allow", "local/notes.txt")


def test_words_of_an_agent_and_of_a_command_line(shared: Shared) -> None:
    token = SECRETS["an AWS access key"]
    shared.one.ok("record", "--session", "run", stdin=checkpoint("4", f"used {token} for it"))
    assert "the record of run/C4: it holds an AWS access key" in refused(shared.one)
    assert token not in refused(shared.one)
    shared.one.ok("push", "--allow", "run/C4")


def test_what_is_staged_or_committed_and_nowhere_on_the_server(shared: Shared) -> None:
    one = shared.one
    one.write("old.txt", SECRETS["a Stripe key"])
    one.git("add", "old.txt")
    one.git("commit", "-q", "-m", "too early")
    one.write("old.txt", "cleaned\n")
    one.write("staged.txt", SECRETS["a Google API key"])
    one.git("add", "staged.txt")
    one.write("staged.txt", "cleaned\n")
    one.ok("save", "--session", "run")
    told = refused(one)
    assert re.search(r"  old.txt: it holds a Stripe key \(since commit [0-9a-f]{12}\)", told)
    assert re.search(r"  staged.txt: it holds a Google API key \(since commit [0-9a-f]{12}\)", told)
    answer = one.ok("push", "--allow-all")
    assert "with them went 2 commits of yours that origin did not have" in answer.out


@pytest.mark.slow
def test_a_secret_in_a_large_file_is_found_wherever_it_stands(shared: Shared) -> None:
    one = shared.one
    content = bytearray(18 << 20)
    content[(4 << 20) - 20 : (4 << 20) - 20] = SECRETS["a GitHub token"].encode()
    one.write("large.bin", bytes(content))
    one.ok("save", "--session", "run")
    assert "large.bin: it holds a GitHub token" in refused(one)


def test_odd_names_are_told_and_can_be_allowed(shared: Shared, tmp_path: Path) -> None:
    one = shared.one
    name = "od\nd \x1b[31m.pfx"
    one.write(name, "x")
    one.ok("save", "--session", "run")
    told = refused(one)
    assert "\x1b" not in told
    one.ok("push", "--allow", name)
