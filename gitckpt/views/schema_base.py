"""The base of the models of all documents."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Document(BaseModel):
    """A document, or a part of one: nothing more and nothing less than its fields."""

    model_config = ConfigDict(extra="forbid", strict=True)


class EncodedPath(Document):
    """A path whose bytes are not UTF-8."""

    b64: str = Field(description="The bytes of the path in base64.")


Path = str | EncodedPath


class MissingPath(Document):
    """A path that a snapshot does not hold."""

    path: Path
    reason: str
