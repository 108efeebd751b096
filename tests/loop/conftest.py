"""The user's work tree, as in the tests of the command line."""

from __future__ import annotations

from places import environment, place, template_place, zygote

__all__ = ["environment", "place", "template_place", "zygote"]
