"""`gitckpt mcp`: tools for an agent, over the Model Context Protocol."""

from __future__ import annotations


def mcp() -> int:
    """Serve on standard input and output until the client disconnects."""
    from gitckpt.mcp import serve

    serve()
    return 0
