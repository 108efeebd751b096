"""What a checkpoint says compared with what its snapshot shows, as lines and as JSON. It states facts without
judging.
"""

from __future__ import annotations

from gitckpt.trajectory.paths import path_data
from gitckpt.views.paths import path_text
from gitckpt.views.text import PLAIN, Style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitckpt.trajectory.claims import Claims

#: The maximum number of paths on one line; the number of further paths follows them.
MOST = 8

UNCHANGED = "said, not changed"
UNNAMED = "changed, not said"


def claim_lines(claims: Claims, style: Style = PLAIN) -> list[str]:
    """Return at most two lines; none if the claims match the changes."""
    lines = []
    if claims.unchanged:
        lines.append(style.yellow(f"{UNCHANGED}: {_listed(claims.unchanged)}"))
    if claims.unnamed:
        lines.append(style.dim(f"{UNNAMED}: {_listed(claims.unnamed)}"))
    return lines


def _listed(paths: Sequence[bytes]) -> str:
    more = f" and {len(paths) - MOST:,} more" if len(paths) > MOST else ""
    return ", ".join(map(path_text, paths[:MOST])) + more


def claims_json(claims: Claims | None) -> dict[str, Any] | None:
    """Return `{"unchanged": [PATH…], "unnamed": [PATH…]}`, or None if nothing was compared."""
    if claims is None:
        return None
    return {"unchanged": list(map(path_data, claims.unchanged)), "unnamed": list(map(path_data, claims.unnamed))}
