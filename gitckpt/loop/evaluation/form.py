"""The form of a task. It is a file in the work tree, so every checkpoint holds its present state."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from gitckpt.errors import Refused
from gitckpt.loop.actions import Action, Finished, action_of
from gitckpt.loop.evaluation.answers import accepted, is_right
from gitckpt.loop.evaluation.arguments import FillArguments, SubmitArguments

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gitckpt.loop.evaluation.tasks import Field

FILE: Final = "form.json"


class Form:
    """The form in a directory. `submitted` says whether it was handed in."""

    def __init__(self, fields: Sequence[Field], directory: Path) -> None:
        self._fields = {field.name: field for field in fields}
        self._path = directory / FILE
        self.submitted = False
        self._write(dict.fromkeys(self._fields))

    def actions(self) -> list[Action]:
        """Return what a model can do with the form."""
        return [
            action_of(FillArguments, "fill_form", "Fill in one field of the form, or fill it in anew.", self.fill,
                      changes_files=True),
            action_of(SubmitArguments, "submit", "Hand in the form, once all fields are filled in.", self.submit),
        ]  # fmt: skip

    def description(self) -> str:
        """Return the fields as the task names them."""
        return "\n".join(f"- {field.name} ({_type(field)}): {field.label}" for field in self._fields.values())

    def fill(self, call: FillArguments) -> str:
        """Fill in a field. Raises UsageError if the field does not accept the value, Refused if there is no such
        field."""
        field = self._fields.get(call.field)
        if field is None:
            raise Refused(f"the form has no field {call.field!r}", f"the fields are {', '.join(self._fields)}")
        accepted(field, call.value)
        self._write(self.values() | {field.name: call.value})
        return f"{field.name} is filled in. {self._left()}"

    def submit(self, call: SubmitArguments) -> str:
        """Hand in the form, which ends the run. Raises Finished, or Refused if a field is empty."""
        if self._empty():
            raise Refused(f"the form was not handed in: {self._left()}")
        self.submitted = True
        raise Finished("the form is handed in")

    def right(self) -> dict[str, bool]:
        """Return for each field whether its right answer is filled in."""
        values = self.values()
        return {
            name: values[name] is not None and is_right(field, values[name]) for name, field in self._fields.items()
        }

    def values(self) -> dict[str, Any]:
        """Return the values filled in, None for an empty field."""
        values: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
        return values

    def _empty(self) -> list[str]:
        return [name for name, value in self.values().items() if value is None]

    def _left(self) -> str:
        empty = self._empty()
        return f"Still empty: {', '.join(empty)}." if empty else "No field is empty: look it over, then submit."

    def _write(self, values: dict[str, Any]) -> None:
        self._path.write_text(json.dumps(values, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _type(field: Field) -> str:
    described = {"set": "a list", "date": "a date as YYYY-MM-DD", "choice": f"one of {', '.join(field.options)}"}
    return described.get(field.type, f"a {field.type}")
