"""Event ⇄ commit message: a subject for people, a blank line, one YAML document.

    C6 实施: 开始替换 src/api/time.ts

    gitckpt: 1
    kind: "checkpoint"
    session: "20261130-024512-k3f9"
    …

The document begins with a header of one-line scalars in double quotes, which lists read without a YAML parser; the rest
is what PyYAML writes. The whole is plain YAML, and is read as such wherever more than a list is needed."""

from __future__ import annotations

from gitckpt.errors import Damaged
from gitckpt.repo.answers import is_object_id
from gitckpt.repo.plain_yaml import NotPlain, plain_yaml
from gitckpt.trajectory.events import FORMAT, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: The header, in this order. `next` and `phase` are stored only here: they are left out of `fields`, and put back when
#: it is read.
HEADER = (
    "kind", "session", "line", "seq", "at", "worktree", "id", "written", "flag", "phase", "next", "source", "heard",
)  # fmt: skip

_NAMES = frozenset(("gitckpt", *HEADER))

#: The hint for a damaged record.
OTHERS = "gitckpt log shows the others"

#: Maximum columns of a subject; a longer one is cut.
SUBJECT = 100

#: The subject of our root commit, which is the same object in every repository.
ROOT = "gitckpt: the root of all sessions"


def encode(event: Event) -> str:
    """Return the commit message of an event. It reads back to the same event, whatever text is in it."""
    lines = [one_line(event.subject)[:SUBJECT] or event.kind, "", f"gitckpt: {event.format}"]
    for name in HEADER:
        value = getattr(event, name)
        if value is not None and value != "":
            lines.append(f"{name}: {value}" if isinstance(value, int) else f"{name}: {quote(value)}")
    rest = _without_header_fields(event.document)
    return "\n".join(lines) + "\n" + (_dump(rest) if rest else "")


def _without_header_fields(document: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in document.items() if value not in (None, {}, [])}
    if "fields" in rest:
        rest["fields"] = {name: value for name, value in rest["fields"].items() if name not in ("phase", "next")}
    return rest


def _dump(document: dict[str, Any]) -> str:
    try:
        return plain_yaml(document)
    except NotPlain:
        return _dump_any(document)


def _dump_any(document: dict[str, Any]) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    # a line break inside a plain scalar would read back, but is not what people want to see: hence the width
    return str(yaml.dump(_sound(document), Dumper=dumper, allow_unicode=True, sort_keys=False, width=1 << 20))


def _sound(value: Any) -> Any:
    """Return the same data with lone surrogates replaced: git and YAML hold Unicode, and half a character is not
    Unicode."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, dict):
        return {_sound(key): _sound(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_sound(item) for item in value]
    return value


def sound(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if not _is_sound(text) else text


def _is_sound(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def one_line(text: str) -> str:
    """Return the text on one line: control characters and runs of blanks become one blank."""
    return " ".join("".join(c if c.isprintable() else " " for c in sound(text)).split())


def quote(text: str) -> str:
    """Return a YAML scalar in double quotes, on one line, for any text."""
    text = sound(text)
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_escape(c) for c in text) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    if character.isprintable():
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def decode(commit: str, parents: Sequence[str], message: str, tree: str = "") -> Event | None:
    """Return the event that a commit of ours holds; None for the root commit.

    A message that is not ours, or that cannot be read, gives an event of kind `unreadable`; one of a newer format keeps
    its header and its `format`. Nothing is raised here, because a list has to show what is wrong."""
    subject, _, text = message.partition("\n\n")
    if subject.rstrip() == ROOT:
        return None
    header = _readable_header(text)
    if not (_is_number(header.get("gitckpt")) and header.get("kind") and _is_number(header.get("seq"))):
        return Event(
            kind="unreadable", session="", line="", seq=0, at="", subject=subject, commit=commit, parents=parents,
            tree=tree,
        )  # fmt: skip
    return Event(
        kind=header["kind"], session=header.get("session", ""), line=header.get("line", ""), seq=int(header["seq"]),
        at=header.get("at", ""), id=header.get("id"), written=header.get("written", ""),
        worktree=header.get("worktree", ""), subject=subject, phase=header.get("phase", ""),
        flag=header.get("flag", ""), next=header.get("next", ""), source=header.get("source", ""),
        heard=header.get("heard", ""),
        commit=commit, parents=parents, tree=tree, format=int(header["gitckpt"]), text=text, load=load,
    )  # fmt: skip


def _readable_header(text: str) -> dict[str, str]:
    """Return the header, or {} if it cannot be read: a list shows such an event as unreadable."""
    try:
        return _header(text)
    except ValueError:
        return {}


def _header(text: str) -> dict[str, str]:
    """Return the scalars at the start of the document, read without a parser."""
    header: dict[str, str] = {}
    for line in text.split("\n", len(HEADER) + 2)[: len(HEADER) + 2]:
        name, colon, value = line.partition(": ")
        if not colon or name not in _NAMES:
            break
        header[name] = value if value[:1] != '"' else value[1:-1] if "\\" not in value else _unquote(value)
    return header


def _is_number(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdigit() and len(text) < 12


def _unquote(value: str) -> str:
    """Return the value of a quoted scalar. Raise ValueError."""
    import yaml

    try:
        return str(yaml.load(value, Loader=_loader()))
    except yaml.YAMLError as error:
        raise ValueError(value) from error


def _loader() -> Any:
    """Return PyYAML's C loader if it is available, else the Python one."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def recorded_head(event: Event) -> str | None:
    """Return the commit that the user's HEAD was at, None before the first commit. It is read without a parser if the
    record has the form in which we write it."""
    _, found, rest = event.text.partition("\ngit:\n  head: ")
    commit = rest.partition("\n")[0]
    if found and is_object_id(commit) and "\ngit:" not in rest:
        return commit
    head: str | None = event.git.get("head")
    return head


def load(text: str) -> dict[str, Any]:
    """Return the document of a message as plain data, with `phase` and `next` back among the fields. Raise Damaged."""
    import yaml

    loader = _loader()
    try:
        # we never write aliases, and a few lines of them can expand beyond any memory
        if "*" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=loader)):
            raise Damaged(
                "the record of a checkpoint has YAML aliases in it, which gitckpt never writes",
                OTHERS,
            )
        document = yaml.load(text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Damaged(f"the record of a checkpoint is no YAML that can be read: {error}", OTHERS) from error
    if not isinstance(document, dict):
        raise Damaged("the record of a checkpoint is no mapping", OTHERS)
    if document.get("gitckpt") == FORMAT:
        _check_shape(document)
    if document.get("gitckpt") == FORMAT and isinstance(document.get("fields"), dict):
        document["fields"] = _with_header_fields(document)
    return document


#: Keys whose value, if present, must be a mapping, and keys whose value must be a list.
MAPPINGS = ("fields", "git", "coverage", "agent", "opens", "rollback", "modes")
LISTS = ("answers_to", "empty")


def _check_shape(document: dict[str, Any]) -> None:
    wrong = [name for name in MAPPINGS if not isinstance(document.get(name) or {}, dict)]
    wrong += [name for name in LISTS if not isinstance(document.get(name) or [], list)]
    coverage = document.get("coverage")
    rows = coverage.get("missing") if isinstance(coverage, dict) else None
    if rows and not (isinstance(rows, list) and all(isinstance(row, dict) and "path" in row for row in rows)):
        wrong.append("coverage")
    if wrong:
        raise Damaged(f"the record of a checkpoint has a wrong form in {', '.join(wrong)}", OTHERS)


def _with_header_fields(document: dict[str, Any]) -> dict[str, Any]:
    """Return `fields` with `phase` and `next` in the order of the protocol."""
    fields = dict(document["fields"])
    head = {"phase": document["phase"]} if "phase" in document else {}
    for name in ("phase_written", "done"):
        if name in fields:
            head[name] = fields.pop(name)
    if "next" in document:
        head["next"] = document["next"]
    return head | fields
