"""The prompt that makes a model follow the protocol.

Agents echo what they were told, so the prompt may come back; nothing in it must read as a block. The one block it shows
has a placeholder for an id, and blocks in the task or the context are quoted with a mark that is not a block frame.
"""

from __future__ import annotations

import pkgutil
import re
from typing import Final, Literal, get_args

from gitckpt.errors import UsageError
from gitckpt.protocol.scanner import Scanner

Language = Literal["zh", "en"]

NOTHING: Final[dict[Language, str]] = {"zh": "（无）", "en": "(none)"}
_SLOT: Final = re.compile(r"\{\{(task|prior_context)\}\}")
_LINE_START: Final = re.compile(r"(?:\A|(?<=\n)|(?<=\r)(?!\n))")


def protocol_prompt(task: str = "", prior_context: str = "", lang: Language = "zh") -> str:
    """Return the prompt with the task and the context of earlier work filled in verbatim: braces in them have no
    meaning.

    Without a task and context the slots `{{task}}` and `{{prior_context}}` stay, to be filled in by hand. If the task
    or the context contains blocks of the protocol, each of its lines is quoted with `| `.

    Raises UsageError for a language other than `zh` and `en`.
    """
    if lang not in get_args(Language):
        raise UsageError(f"there is no prompt in {lang!r}", hint="the languages are zh and en")
    filled = {"task": _quoted(task.strip()), "prior_context": _quoted(prior_context.strip("\n"))}
    if task and not prior_context:
        filled["prior_context"] = NOTHING[lang]
    return _SLOT.sub(lambda slot: filled[slot[1]] or slot[0], _template(lang))


def _template(lang: Language) -> str:
    return (pkgutil.get_data(__name__, f"prompts/{lang}.md") or b"").decode()


def _quoted(passage: str) -> str:
    """Quote the passage with `| ` if a reader would find blocks in it."""
    scanner = Scanner()
    blocks = [*scanner.feed(passage.encode(errors="replace")), *scanner.close()]
    return _LINE_START.sub("| ", passage) if blocks or scanner.take_diagnostics() else passage
