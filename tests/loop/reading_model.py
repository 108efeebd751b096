"""A deterministic model that reads: it does one step after the other, knows only what is in the last `sight` characters
of what it is sent, and fills in what follows from that.

It shows how a context affects an agent, not what a language model can do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scripted import RESET, Message, Turn, call, say

from gitckpt.loop.evaluation.facts import planted_facts
from gitckpt.loop.evaluation.tasks import Task

Step = tuple[str, str]

#: Tool → the argument that identifies a step.
ARGUMENT = {"search": "query", "open_page": "url", "fill_form": "field", "submit": ""}

KEPT = re.compile(r"Keep: [^\n]+?\.(?= \(source|\n|$)")


class ReadingModel:
    """`steps` are tools with their arguments; `recognised` maps the sentences that it knows to matter to their sources;
    `conclude` returns what it fills in, by field, given the sentences that it sees. With `thorough` it saves after each
    page, otherwise when it is told to."""

    def __init__(
        self,
        task: Task,
        steps: Sequence[Step],
        *,
        sight: int,
        recognised: Mapping[str, str],
        conclude: Callable[[list[str]], Mapping[str, Any]],
        thorough: bool = True,
    ) -> None:
        self._steps, self._sight, self._thorough = list(steps), sight, thorough
        self._recognised, self._conclude = recognised, conclude
        self._planted = planted_facts(task)

    def __call__(self, messages: list[Message]) -> Turn:
        seen = "".join(map(_shown, messages[1:]))[-self._sight :]
        last = messages[-1]
        if "answer: unknown" in str(last["content"]):
            return say(self._reply(str(last["content"])))
        has_memory = "checkpoint saves" in messages[0]["content"]
        called = [called["function"]["name"] for called in messages[-2].get("tool_calls", [])]
        if last["role"] == "user" and "reset" in last["content"] and len(messages) > 2:
            return RESET if "Call reset now" in last["content"] else self._checkpoint(seen)
        if has_memory and self._thorough and called == ["open_page"]:
            return self._checkpoint(seen)
        return self._next(seen)

    def _reply(self, asked: str) -> str:
        return next((f.value for f in self._planted if f.question in asked and f.text in asked), "unknown")

    def _next(self, seen: str) -> Turn:
        done = self._done(seen)
        name, what = self._steps[min(done, len(self._steps) - 1)]
        arguments = {ARGUMENT[name]: what} if what else {}
        if name == "fill_form":
            arguments["value"] = self._conclude(self._known(seen)).get(what, "0")
        return call(name, arguments)

    def _done(self, seen: str) -> int:
        """Return how many steps are done as far as the model can see: the last one that it sees itself do, or has on
        record.
        """
        places = {seen.rfind(f"<{name} {what}>"): number for number, (name, what) in enumerate(self._steps, 1)}
        noted = max(map(int, re.findall(r"step (\d+) is done", seen)), default=0)
        return max(noted, places[max(places)] if max(places) >= 0 else 0)

    def _known(self, seen: str) -> list[str]:
        return [sentence for sentence in self._recognised if sentence in seen]

    def _checkpoint(self, seen: str) -> Turn:
        done = self._done(seen)
        facts = [{"text": sentence, "source": self._recognised[sentence]} for sentence in self._known(seen)]
        kept = [{"text": text, "source": "the state"} for text in dict.fromkeys(KEPT.findall(seen))]
        steps = [f"step {number} is done" for number in range(max(1, done - 3), done + 1)]
        return call(
            "checkpoint",
            {"goal": "fill in the form", "facts": facts + kept, "done": steps, "todo": [f"step {done + 1}"]},
        )


def _shown(message: Message) -> str:
    """Return a message as the model sees it: its text, and what it called."""
    calls = "".join(_marked(called["function"]) for called in message.get("tool_calls") or ())
    return f"\n{message.get('content') or ''}{calls}\n"


def _marked(function: Mapping[str, str]) -> str:
    name, arguments = function["name"], function["arguments"]
    return f"<{name} {json.loads(arguments).get(ARGUMENT.get(name, ''), '')}> {arguments}"


def way_through(task: Task) -> list[Step]:
    """Search for and open each page that a task needs, in order."""
    return [
        step
        for page in task.pages
        if page.says
        for step in ([("search", page.via)] if page.via else []) + [("open_page", page.url)]
    ]


def filling(task: Task) -> list[Step]:
    """Fill in each field, and submit the form."""
    return [*(("fill_form", field.name) for field in task.fields), ("submit", "")]


def needed(task: Task) -> dict[str, str]:
    """Return the sentences needed to solve a task, with their pages."""
    return {page.says: page.url for page in task.pages if page.says}


def perfect(task: Task) -> Callable[[list[str]], Mapping[str, Any]]:
    """Give the right answers if all needed sentences are known, otherwise placeholders."""

    def conclude(known: list[str]) -> Mapping[str, Any]:
        if set(known) < set(needed(task)):
            return {field.name: (*field.options, "2000-01-01")[0] for field in task.fields}
        return {
            field.name: list(field.answer) if isinstance(field.answer, tuple) else field.answer for field in task.fields
        }

    return conclude
