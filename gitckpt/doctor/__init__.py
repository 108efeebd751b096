"""The checks of `gitckpt doctor`: each has a function, and a row in `CHECKS`."""
