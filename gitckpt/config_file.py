"""`.gitckpt.yaml`, validated: an error names the key and its line."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from gitckpt.config import size
from gitckpt.errors import UsageError

#: Bytes of a configuration file; a longer one is something else.
LARGEST = 64 * 1024


def _bytes_of(value: object) -> int:
    try:
        return size(value, "max_file_size")
    except UsageError as error:
        raise ValueError(str(error)) from error


class ConfigFile(BaseModel):
    """The keys of `.gitckpt.yaml`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    max_file_size: Annotated[int, BeforeValidator(_bytes_of)] | None = None
    include: list[str] | None = None
    durable: bool | None = None
    freeze: Literal["auto", "on", "off"] | None = None
    on_retry: Literal["fork", "restore"] | None = None
    select: list[str] | None = None
    ignore: list[str] | None = None


def read_file(path: bytes) -> dict[str, Any]:
    """The settings of the file by name, those alone that it gives. Raises UsageError with key and line."""
    name = os.fsdecode(os.path.basename(path))
    try:
        with open(path, "rb") as file:
            text = file.read(LARGEST + 1).decode("utf-8")
        if len(text) > LARGEST:
            raise UsageError(f"{name} is longer than {LARGEST} bytes: that is no configuration")
        node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        given = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(f"{name} cannot be read: {error}") from error
    if not isinstance(given, dict):
        raise UsageError(f"{name}:1: a mapping is wanted, of keys such as `max_file_size: 100M`")
    # YAML reads the bare words on and off as truth values
    if isinstance(given.get("freeze"), bool):
        given["freeze"] = "on" if given["freeze"] else "off"
    try:
        settings = ConfigFile.model_validate(given).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        raise UsageError(f"{name}:{_line(node, key)}: {key}: {first['msg']}") from error
    if "include" in settings:
        settings["include"] = tuple(settings["include"])
    return settings


def _line(node: Any, key: str) -> int:
    """The 1-based line that a key of the top mapping stands on."""
    for name, _ in getattr(node, "value", None) or []:
        if str(name.value) == key:
            return int(name.start_mark.line) + 1
    return 1
