"""A place to run commands in, and a client in it."""

from __future__ import annotations

from places import environment, place, template_place, zygote
from real_runs import begin

__all__ = ["begin", "environment", "place", "template_place", "zygote"]
