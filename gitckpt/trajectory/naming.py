"""Names of sessions that a client has opened. Pure, and without expressions to compile: hooks are in a hurry."""

from __future__ import annotations

from gitckpt.errors import UsageError

#: Characters of a name.
LONGEST = 64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: By these `wrap` tells the hooks of its agent which session they record into, and which client that is for: one of
#: another kind that the agent starts inherits them.
SESSION_VARIABLE, CLIENT_VARIABLE = "GITCKPT_SESSION", "GITCKPT_CLIENT"


def given_session(client: str, environ: Mapping[str, str]) -> str:
    """The session that `wrap` has named to the hooks of this client; "" for none."""
    given = environ.get(SESSION_VARIABLE, "")
    return given if is_plain(given) and environ.get(CLIENT_VARIABLE, client) == client else ""


def session_name(client: str, session: str, work_tree: str) -> str:
    """The name of our session for one of the client's in the work tree of that name ("" for the main one); always the
    same."""
    plain = f"{client}-{session}"
    if is_plain(plain) and not work_tree:
        return plain
    from hashlib import sha256

    digest = sha256(f"{session}\n{work_tree}".encode("utf-8", "replace")).hexdigest()[:12]
    return f"{plain[:48]}-{digest}" if is_plain(plain[:48]) else f"{client}-{digest}"


def is_plain(name: str) -> bool:
    """Whether a session may go by this name as it is."""
    return (
        0 < len(name) <= LONGEST
        and all((c.isascii() and c.isalnum()) or (c in "._-" and place) for place, c in enumerate(name))
        and ".." not in name
        and not name.endswith((".lock", "."))
    )


def check_name(name: str) -> None:
    """Raise UsageError for what is no name of a session."""
    if not is_plain(name):
        raise UsageError(f"{name!r} is no name for a session", "letters, digits, `.`, `_` and `-`; 64 at most")
