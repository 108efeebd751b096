"""The command line: one file per command, `app.py` with typer, `fast.py` without it, and `edge.py`, which turns errors
into exit statuses."""
