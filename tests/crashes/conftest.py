"""A place in which commands are interrupted."""

from __future__ import annotations

from places import environment, place, template_place, zygote

__all__ = ["environment", "place", "template_place", "zygote"]
