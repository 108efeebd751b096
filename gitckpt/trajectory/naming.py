"""Names of sessions that a client has opened. Pure, and without compiled expressions: hooks must be fast."""

from __future__ import annotations

from gitckpt.errors import UsageError

#: The maximum length of a name.
LONGEST = 64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: Environment variables by which `wrap` tells the hooks of its agent which session to record into, and for which
#: client: a client of another kind started by the agent inherits them.
SESSION_VARIABLE, CLIENT_VARIABLE = "GITCKPT_SESSION", "GITCKPT_CLIENT"


def given_session(client: str, environ: Mapping[str, str]) -> str:
    """Return the session that `wrap` assigned to the hooks of this client; "" if none."""
    given = environ.get(SESSION_VARIABLE, "")
    return given if is_plain(given) and environ.get(CLIENT_VARIABLE, client) == client else ""


def session_name(client: str, session: str, work_tree: str) -> str:
    """Return the name of our session for a client's session in the named work tree ("" for the main one). The mapping
    is stable."""
    plain = f"{client}-{session}"
    if is_plain(plain) and not work_tree:
        return plain
    from hashlib import sha256

    digest = sha256(f"{session}\n{work_tree}".encode("utf-8", "replace")).hexdigest()[:12]
    return f"{plain[:48]}-{digest}" if is_plain(plain[:48]) else f"{client}-{digest}"


def is_plain(name: str) -> bool:
    """Return whether a session can use this name unchanged."""
    return (
        0 < len(name) <= LONGEST
        and all((c.isascii() and c.isalnum()) or (c in "._-" and place) for place, c in enumerate(name))
        and ".." not in name
        and not name.endswith((".lock", "."))
    )


def check_name(name: str) -> None:
    """Raise UsageError if `name` is not a valid session name."""
    if not is_plain(name):
        raise UsageError(f"{name!r} is no name for a session", "letters, digits, `.`, `_` and `-`; 64 at most")
