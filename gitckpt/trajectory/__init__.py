"""What happened in a session, and what follows from it. Pure: no files, no clock, no randomness, no git.

This file imports nothing, and the modules that `gitckpt log` needs avoid `typing`, `dataclasses` and `re`, because
imports are most of the cost of a short command."""
