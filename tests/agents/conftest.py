"""A place to give commands in."""

from __future__ import annotations

from places import environment, place, template_place, zygote

__all__ = ["environment", "place", "template_place", "zygote"]
