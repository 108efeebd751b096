"""Arguments and options that several commands share, or whose help is too long to fit next to a command."""

from __future__ import annotations

import os
from typing import Annotated, Literal

from typer import Argument, Option

from gitckpt.cli import completion

#: Chinese in a Chinese locale, otherwise English.
DEFAULT_LANGUAGE: Literal["zh", "en"] = (
    "zh" if (os.environ.get("LC_ALL") or os.environ.get("LANG") or "").lower().startswith("zh") else "en"
)

NAMES = "C6, 6, C6~1 (the C6 before the newest one), C6@main, SESSION/C6, start, last, or a commit id."

Json = Annotated[bool, Option("--json", help="Print one JSON document.")]
All = Annotated[bool, Option("--all", help="All sessions of this work tree.")]
AllWorkTrees = Annotated[bool, Option("--all", help="Those of other work trees too.")]
Channel = Annotated[
    str,
    Option("--channel", metavar="NAME", help="What the input is: plain text, or JSON events as of codex, gemini, …"),
]
WrapChannel = Annotated[
    str,
    Option(
        "--channel",
        metavar="NAME",
        show_default=False,
        help="What the output is: plain text, or JSON events of codex, gemini, …; by the command if not given.",
    ),
]
Inject = Annotated[
    str,
    Option("--inject", metavar="auto|off", help="Give a known client hooks and tools of gitckpt, for this run alone."),
]
Auto = Annotated[
    str,
    Option(
        "--auto",
        metavar="tool|turn|off",
        show_default=False,
        help="Checkpoint after each tool or turn that changed something; if not given, turn where there are events.",
    ),
]
Task = Annotated[str, Option("--task", metavar="TEXT", help="What the agent is to do.")]
SessionName = Annotated[
    str | None,
    Option(
        "--session",
        metavar="NAME",
        help="Record into the session of this name; a new one is opened where there is none.",
        autocompletion=completion.sessions,
    ),
]
ShownSession = Annotated[
    str | None,
    Option("--session", metavar="NAME", help="This session.", autocompletion=completion.sessions),
]
Language = Annotated[
    Literal["zh", "en"],
    Option("--lang", metavar="zh|en", show_default=False, help="Chinese or English; by the locale if not given."),
]
AgentLanguage = Annotated[
    Literal["zh", "en"],
    Option(
        "--lang",
        metavar="zh|en",
        show_default=False,
        help="What the agent is told is Chinese or English; by the locale if not given.",
    ),
]
HookLanguage = Annotated[str, Option("--lang", metavar="zh|en", help="What the agent is told is Chinese or English.")]

Id = Annotated[str, Argument(metavar="ID", help=NAMES, autocompletion=completion.ids)]
From = Annotated[str, Argument(metavar="FROM", help="The checkpoint to try again from.", autocompletion=completion.ids)]
ChosenId = Annotated[
    str | None,
    Argument(metavar="[ID]", help=f"{NAMES} Without it, a terminal offers a list.", autocompletion=completion.ids),
]
Sides = Annotated[
    list[str] | None,
    Argument(
        metavar="[A] [B] [PATH]...",
        help="Two checkpoints; or one, or none for the last, against the work tree. Then paths.",
        autocompletion=completion.ids,
    ),
]
Directory = Annotated[
    str | None, Argument(metavar="[DIRECTORY]", help="Where to put it; a new temporary directory if not given.")
]
Input = Annotated[str, Argument(metavar="[FILE]", help="A file, or - for standard input, which is the default.")]
Transcript = Annotated[str, Argument(metavar="FILE", help="A saved transcript; - for standard input.")]

Model = Annotated[str | None, Option("--model", metavar="NAME", help="The model; OPENAI_MODEL or MODEL if not given.")]
BaseUrl = Annotated[
    str | None, Option("--base-url", metavar="URL", help="The endpoint; OPENAI_BASE_URL or BASE_URL if not given.")
]
TokenLimit = Annotated[
    int | None, Option("--token-limit", metavar="N", min=1, help="The same in tokens, as the endpoint counts them.")
]
ReplyLimit = Annotated[
    int | None,
    Option("--reply-limit", metavar="N", min=1, help="Tokens of one reply; the endpoint's own if not given."),
]

WrapTask = Annotated[
    str | None, Option("--task", metavar="TEXT", help="Fill {prompt} in CMD with the protocol prompt for this.")
]
Freeze = Annotated[
    str,
    Option(
        "--freeze",
        metavar="auto|on|off",
        help="Stop the agent while a snapshot is taken; as configured if not given, else auto.",
    ),
]
WrapRetry = Annotated[
    str,
    Option(
        "--on-retry",
        metavar="fork|restore",
        help="What a RETRY does to the files: they stay, or go back too; as configured if not given, else fork.",
    ),
]
RecordRetry = Annotated[
    str | None,
    Option(
        "--on-retry",
        metavar="fork|restore",
        help="What a RETRY does to the files: they stay, or go back too; as configured if not given, else restore.",
    ),
]
Scope = Annotated[
    str,
    Option(
        "--scope",
        metavar="files|staged|all",
        help="The files; or the staging area too; or HEAD and the branch as well.",
    ),
]
OnlyPaths = Annotated[
    list[str] | None, Option("--path", metavar="PATH", help="Only this file or directory; may be given again.")
]
Format = Annotated[str, Option("--format", metavar="text|json|github|sarif", help="How findings are written.")]
RollbackTarget = Annotated[
    str | None,
    Option("--rollback-target", metavar="ID", help="The step that this one, if it failed, goes back to."),
]
