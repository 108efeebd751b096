"""The commands that agents' own integrations call, as typer reads them."""

from __future__ import annotations

import typer

from gitckpt.cli import edge

PANEL = "Agents"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel=PANEL)(mcp)


def mcp() -> None:
    """Serve checkpoint, reset, summary, retry, rollback, log, diff and context to an agent over MCP (stdio)."""
    from gitckpt.cli.mcp import mcp as command

    raise typer.Exit(edge.run(command))
