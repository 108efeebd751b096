"""Detect secrets: keys and tokens by their known formats, and files whose names are used for nothing else. Pure.

Only patterns with almost no false positives are used: users who see ten false alarms ignore the eleventh warning."""

from __future__ import annotations

import re
from typing import NamedTuple

#: The maximum length in bytes of a token; content that is read in pieces must overlap by this much.
LONGEST = 8192

#: The number of bytes after the name of a key that are needed to tell whether it is one.
LONGEST_KEY = 512


class Shape(NamedTuple):
    """A kind of secret: its name, a few bytes that it always contains (searching for bytes is far faster than for
    patterns), and its pattern. A match begins exactly `before` bytes ahead of these bytes, or, if `may_begin` is set,
    at most that many bytes ahead."""

    name: str
    needle: bytes
    pattern: re.Pattern[bytes]
    before: int = 0
    may_begin: int = 0

    def stands_in(self, held: bytes) -> bool:
        """Return whether the content contains one, ignoring documentation examples."""
        at = held.find(self.needle)
        while at >= 0:
            found = self._around(held, at)
            if found and not SHOWN.search(found[0]):
                return True
            at = held.find(self.needle, at + 1)
        return False

    def _around(self, held: bytes, at: int) -> re.Match[bytes] | None:
        if self.may_begin:
            return self.pattern.search(held, max(at - self.may_begin, 0), at + 2 * LONGEST_KEY)
        return self.pattern.match(held, at - self.before) if at >= self.before else None


def _shape(name: str, needle: bytes, pattern: bytes, before: int = 0, may_begin: int = 0) -> Shape:
    whole = re.compile(rb"(?<![A-Za-z0-9_])(?:" + pattern + rb")(?![A-Za-z0-9_-])")
    return Shape(name, needle, whole, before, may_begin)


_PRIVATE_KEY = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rb"(?:[\r\n \\n\"+]|[A-Za-z-]{1,30}: [^\r\n]{0,200}){0,40}[A-Za-z0-9+/=]{40}"
)

#: What follows the name of an AWS secret key in an assignment; the key itself has no recognizable format.
_AWS_SECRET = rb"[\"']?[ \t]{0,20}[:=][ \t]{0,20}[\"']?[A-Za-z0-9/+]{40}(?![/+=])"

SHAPES = (
    Shape("a private key", b"PRIVATE KEY", _PRIVATE_KEY, may_begin=100),
    _shape("an AWS access key", b"AKIA", rb"AKIA[A-Z2-7]{16}"),
    _shape("an AWS access key", b"ASIA", rb"ASIA[A-Z2-7]{16}"),
    _shape("an AWS secret key", b"aws_secret_access_key", rb"aws_secret_access_key" + _AWS_SECRET),
    _shape("an AWS secret key", b"AWS_SECRET_ACCESS_KEY", rb"AWS_SECRET_ACCESS_KEY" + _AWS_SECRET),
    _shape("a GitHub token", b"ghp_", rb"ghp_[A-Za-z0-9]{36}"),
    _shape("a GitHub token", b"gho_", rb"gho_[A-Za-z0-9]{36}"),
    _shape("a GitHub token", b"ghu_", rb"ghu_[A-Za-z0-9]{36}"),
    _shape("a GitHub token", b"ghs_", rb"ghs_[A-Za-z0-9]{36}"),
    _shape("a GitHub token", b"ghr_", rb"ghr_[A-Za-z0-9]{36}"),
    _shape("a GitHub token", b"github_pat_", rb"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _shape("a GitLab token", b"glpat-", rb"glpat-[A-Za-z0-9_-]{20,}"),
    _shape("a Slack token", b"xox", rb"xox[abeoprs]-(?:[A-Za-z0-9]{1,64}-){1,4}[A-Za-z0-9]{12,200}"),
    _shape(
        "a Slack web hook", b"hooks.slack.com",
        rb"hooks\.slack\.com/services/T[A-Z0-9]{6,40}/B[A-Z0-9]{6,40}/[A-Za-z0-9]{20,80}",
    ),
    _shape("a Google API key", b"AIza", rb"AIza[A-Za-z0-9_-]{35}"),
    _shape("a Stripe key", b"_live_", rb"[sr]k_live_[A-Za-z0-9]{20,200}", before=2),
    _shape("an Anthropic key", b"sk-ant-", rb"sk-ant-[a-z0-9]{2,10}-[A-Za-z0-9_-]{40,200}"),
    _shape("an OpenAI key", b"T3BlbkFJ", rb"sk-[A-Za-z0-9_-]{10,200}T3BlbkFJ[A-Za-z0-9_-]{10,200}", may_begin=210),
    _shape("an npm token", b"npm_", rb"npm_[A-Za-z0-9]{36}"),
    _shape("a PyPI token", b"pypi-AgEI", rb"pypi-AgEI[A-Za-z0-9_-]{50,}"),
    _shape("a Hugging Face token", b"hf_", rb"hf_[A-Za-z]{34}"),
    _shape("a SendGrid key", b"SG.", rb"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _shape("an age secret key", b"AGE-SECRET-KEY-1", rb"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _shape(
        "a JSON web token", b"eyJ", rb"eyJ[A-Za-z0-9_-]{12,4000}\.eyJ[A-Za-z0-9_-]{12,4000}\.[A-Za-z0-9_-]{20,2000}"
    ),
)  # fmt: skip

#: Marks of keys in documentation, which open nothing.
SHOWN = re.compile(rb"EXAMPLE|example|xxxxxxxx|XXXXXXXX|00000000")

#: Byte order marks of UTF-16, which Windows shells write.
UTF_16 = (b"\xff\xfe", b"\xfe\xff")

#: Names used only for secrets; `.env` files count unless they are templates meant to be copied.
NAMES = re.compile(
    rb"(?:\.env|\.netrc|_netrc|\.git-credentials|\.pgpass|\.htpasswd|\.vault_pass|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"
    rb"|.*\.(?:p12|pfx|jks|keystore|kdbx|ppk))\Z",
    re.DOTALL,
)
ENVIRONMENT = re.compile(rb"\.env\.(?!.*(?:example|sample|template|dist|default|schema|test))[^/]+\Z", re.DOTALL)
PLACES = re.compile(rb"(?:\A|/)(?:\.aws/credentials|\.docker/config\.json|\.ssh/[^/.]+)\Z")


def confidential_name(path: bytes) -> str:
    """Return why a file of this name is confidential; "" if its name does not suggest it."""
    name = path.rpartition(b"/")[2]
    if PLACES.search(path) and not path.endswith((b"/known_hosts", b"/config", b"/authorized_keys")):
        return "a file of credentials, by its name"
    return "a file of credentials, by its name" if NAMES.match(name) or ENVIRONMENT.match(name) else ""


def confidential_content(content: bytes | bytearray | memoryview) -> str:
    """Return what kind of secret the content contains; "" if none."""
    held = bytes(content)
    if held.startswith(UTF_16):
        held = held.replace(b"\0", b"")
    return next((f"it holds {shape.name}" for shape in SHAPES if shape.stands_in(held)), "")
