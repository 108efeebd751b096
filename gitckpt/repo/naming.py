"""Names for new sessions."""

from __future__ import annotations

import time


def new_session_id() -> str:
    """Return an id that sorts by time and is unique across machines: `20261130-024512-k3f9`."""
    import secrets
    import string

    alphabet = string.ascii_lowercase + string.digits
    return time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + "".join(secrets.choice(alphabet) for _ in range(4))
