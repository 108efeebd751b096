"""`gitckpt prompt`: the protocol prompt, filled in."""

from __future__ import annotations

from gitckpt.cli import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.protocol.prompt import Language


def prompt(*, task: str = "", language: Language = "zh", resume: bool = False) -> int:
    """Print the prompt that teaches an agent the protocol; with `resume`, including what it has done so far."""
    from gitckpt.protocol.prompt import NOTHING, protocol_prompt

    prior = ""
    if resume:
        from gitckpt.cli.context import prior_context

        prior = prior_context(None)
        if not prior:
            render.say("nothing has been recorded here to go on from: the prompt is that of a beginning")
            prior = NOTHING[language]
    render.out([render.shown(protocol_prompt(task, prior, lang=language).rstrip("\n"))])
    return 0
