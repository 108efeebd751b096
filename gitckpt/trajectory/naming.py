"""Names of sessions that a client has opened. Pure, and without expressions to compile: hooks are in a hurry."""

from __future__ import annotations

#: Characters of a name.
LONGEST = 64

#: By this `wrap` tells the hooks of its agent which session they record into.
SESSION_VARIABLE = "GITCKPT_SESSION"


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
