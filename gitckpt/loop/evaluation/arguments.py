"""The arguments of the tools that solve the tasks. Models read the class docstrings and descriptions as JSON schema."""

from __future__ import annotations

from pydantic import Field

from gitckpt.toolbox.arguments import Arguments


class SearchArguments(Arguments):
    """What is searched."""

    query: str = Field(description="Words that the page should hold.", min_length=1, max_length=300)


class OpenArguments(Arguments):
    """Which page."""

    url: str = Field(description="The whole address of a page.", min_length=1, max_length=500)


class FillArguments(Arguments):
    """One field of the form."""

    field: str = Field(description="The name of the field.", min_length=1, max_length=100)
    value: str | int | float | list[str] = Field(description="Its value; a date as YYYY-MM-DD; a list for several.")


class SubmitArguments(Arguments):
    """None."""
