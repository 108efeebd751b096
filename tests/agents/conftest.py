"""A place to give commands in, and a client in one."""

from __future__ import annotations

from places import environment, place, template_place, zygote
from real_runs import begin

__all__ = ["begin", "environment", "place", "template_place", "zygote"]
