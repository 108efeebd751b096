"""What happened in a session, and what follows from it. Pure: no files, no clock, no randomness, no git.

Nothing is imported here, and the modules below keep off `typing`, `dataclasses` and `re` where `gitckpt log` needs
them: their import is most of what a short command costs."""
