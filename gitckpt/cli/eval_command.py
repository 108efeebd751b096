"""`gitckpt eval` as typer declares it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gitckpt.cli.options import BaseUrl, Json, Model, ReplyLimit, TokenLimit
from gitckpt.cli.usage import end


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Measure")(eval)


def eval(
    tasks: Annotated[
        str,
        typer.Option(
            "--tasks",
            metavar="LIST",
            help="Numbers, names or kinds (search, compare, form), with commas; all if empty.",
        ),
    ] = "",
    arm: Annotated[
        Literal["A", "B", "both"],
        typer.Option("--arm", metavar="A|B|both", help="A: plain ReAct. B: with checkpoint and reset."),
    ] = "both",
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", min=1, help="Runs of each task in each arm.")] = 1,
    model: Model = None,
    base_url: BaseUrl = None,
    temperature: Annotated[
        str, typer.Option("--temperature", metavar="T", help="A number; own leaves it to the endpoint.")
    ] = "0",
    max_turns: Annotated[int, typer.Option("--max-turns", metavar="N", min=1, help="Replies of a run.")] = 40,
    char_limit: Annotated[
        int, typer.Option("--char-limit", metavar="N", min=1, help="Characters over which B's context is cleared.")
    ] = 24_000,
    token_limit: TokenLimit = None,
    reply_limit: ReplyLimit = None,
    context_window: Annotated[
        int | None,
        typer.Option(
            "--context-window",
            metavar="N",
            min=1,
            help="Tokens that the model reads: what does not fit falls out, the oldest first, in both arms.",
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Where results are kept, and gone on with.")
    ] = "gitckpt-eval",
    chart: Annotated[
        str | None, typer.Option("--chart", metavar="FILE", help="Draw the results too: a .svg, .png or .pdf file.")
    ] = None,
    report: Annotated[bool, typer.Option("--report", help="Only report what DIR holds; run nothing.")] = False,
    json: Json = False,
) -> None:
    """Measure on any OpenAI-compatible endpoint what checkpoint and reset are worth: twenty tasks, with and without.

    Giving the same command again continues an interrupted evaluation."""
    from gitckpt.cli.eval import Wanted, report_on
    from gitckpt.cli.eval import evaluate as command

    if report:
        end(lambda: report_on(output, chart=chart, json=json), json=json)
    wanted = Wanted(
        tasks,
        arm,
        repeat,
        model,
        base_url,
        temperature,
        max_turns,
        char_limit,
        token_limit,
        reply_limit,
        context_window,
        output,
    )
    end(lambda: command(wanted, chart=chart, json=json), json=json)
