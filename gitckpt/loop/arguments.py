"""The arguments of the actions in the work tree. Models read the class docstrings and descriptions as JSON schema."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitckpt.toolbox.arguments import Arguments

Path = Annotated[str, Field(min_length=1, max_length=4096, description="Of a file, relative to the project.")]


class ShellArguments(Arguments):
    """A command line."""

    command: str = Field(description="The command line, for sh.", min_length=1)
    seconds: int = Field(60, description="It is killed after so many.", ge=1, le=600)


class ReadArguments(Arguments):
    """Which lines of which file."""

    path: Path
    first: int = Field(1, description="The first line.", ge=1)
    count: int = Field(200, description="How many lines.", ge=1, le=2000)


class WriteArguments(Arguments):
    """A whole file."""

    path: Path
    content: str = Field(description="All that is to be in it.")


class EditArguments(Arguments):
    """A change of a file."""

    path: Path
    old: str = Field(
        description="The text to replace, as it stands there; enough of it to be there once.", min_length=1
    )
    new: str = Field(description="What is to stand there instead.")
