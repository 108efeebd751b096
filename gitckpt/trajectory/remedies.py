"""The commands that help if history is damaged, as shown by verify. Pure."""

from __future__ import annotations

#: What can be wrong with an object.
MISSING = "missing"
DAMAGED = "damaged"
IN_A_PACK = "damaged in its pack"


def hold_again(ref: str) -> str:
    """Explain how to find the commits that a deleted or moved ref held, and how to make a ref hold them again."""
    return (
        "git fsck --unreachable --no-reflogs names the commits that no ref holds; "
        f"git update-ref {ref} COMMIT holds one again"
    )


def bring_back(oid: str, kind: str, fault: str) -> str:
    """Explain how to restore an object that is missing, or damaged as a loose file or in a pack, from another copy."""
    if fault == IN_A_PACK:
        return "a copy of this repository may hold it: echo COPY/.git/objects >>.git/objects/info/alternates"
    first = f"move objects/{oid[:2]}/{oid[2:]} of the git directory away; " if fault == DAMAGED else ""
    copied = f"git -C COPY cat-file {kind} {oid} | git hash-object -w -t {kind} --stdin"
    return f"{first}a copy of this repository may hold it: {copied}"
