"""A person's work tree, as the tests of the command line have it."""

from __future__ import annotations

from places import environment, place, template_place, zygote

__all__ = ["environment", "place", "template_place", "zygote"]
