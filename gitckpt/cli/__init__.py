"""The command line: a file per command, `app.py` with typer, `fast.py` without it, `edge.py` where errors become exit
statuses."""
