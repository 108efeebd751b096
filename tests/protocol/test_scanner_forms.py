"""The bent forms of a block that must be read as the block, and the look-alikes that must not."""

from __future__ import annotations

import pytest

from gitckpt.protocol.blocks import RawBlock
from gitckpt.protocol.scanner import Scanner

BODY = "phase: 实施\ndone: [a, b]\nnext: [c]"
LINES = ["===CHECKPOINT 7===", *BODY.split("\n"), "===END==="]
PLAIN = "\n".join(LINES) + "\n"


def scanned(text: str | bytes) -> tuple[list[RawBlock], list[tuple[int, str]]]:
    scanner = Scanner()
    blocks = scanner.feed(text.encode() if isinstance(text, str) else text) + scanner.close()
    return blocks, [(found.line, found.code) for found in scanner.take_diagnostics()]


def framed(before: str, after: str = "") -> str:
    return "".join(f"{before}{line}{after}\n" for line in LINES)


def header(line: str) -> str:
    return "\n".join([line, *LINES[1:]]) + "\n"


FORMS = {
    "plain": PLAIN,
    "fence": f"```\n{PLAIN}```\n",
    "fence inside": f"===CHECKPOINT 7===\n```yaml\n{BODY}\n```\n===END===\n",
    "quote": framed("> "),
    "quote without blank": framed(">"),
    "nested quote": framed("> > "),
    "quoted fence": "> ```\n" + framed("> ") + "> ```\n",
    "indent": framed("    "),
    "tab": framed("\t"),
    "body indented": "===CHECKPOINT 7===\n" + "".join(f"  {line}\n" for line in LINES[1:-1]) + "===END===\n",
    "list item": "- " + "\n  ".join(LINES) + "\n",
    "list item with star": "* " + "\n  ".join(LINES) + "\n",
    "numbered item": "12. " + "\n    ".join(LINES) + "\n",
    "bullet of a screen": "• " + "\n  ".join(LINES) + "\n",
    "quoted list item": "> - " + "\n>   ".join(LINES) + "\n",
    "bold": f"**{LINES[0]}**\n{BODY}\n**{LINES[-1]}**\n",
    "bold inside": f"===**CHECKPOINT 7**===\n{BODY}\n=== **END** ===\n",
    "back-ticks": f"`{LINES[0]}`\n{BODY}\n`{LINES[-1]}`\n",
    "heading": header("### ===CHECKPOINT 7==="),
    "CRLF": PLAIN.replace("\n", "\r\n"),
    "CR CRLF": PLAIN.replace("\n", "\r\r\n"),
    "lone CR before": framed("\r"),
    "progress before": "50%\r100%\r" + PLAIN,
    "lone CR for LF": PLAIN.replace("\n", "\r"),
    "trailing blanks": framed("", " \t\u3000"),
    "BOM": "\ufeff" + PLAIN,
    "NBSP": framed("\xa0\xa0"),
    "ideographic": header("　===CHECKPOINT　7===　"),
    "zero width": header("\u200b===\u200bCHECK\u200bPOINT 7\ufeff=\u2060=="),
    "spaces inside": f"=== CHECKPOINT  7 ===\n{BODY}\n=== END ===\n",
    "SGR around": f"\x1b[1m\x1b[36m===CHECKPOINT 7===\x1b[0m\n{BODY}\n\x1b[1m===END===\x1b[0m\n",
    "SGR inside": f"===\x1b[1mCHECKPOINT\x1b[22m \x1b[38;5;3m7\x1b[0m===\n{BODY}\n===\x1b[1mE\x1b[mND\x1b[0m===\n",
    "erase in line": framed("\x1b[2K\r", "\x1b[K"),
    "title": "\x1b]0;agent\x07" + PLAIN,
    "link": f"\x1b]8;;file:///x\x1b\\===CHECKPOINT 7===\x1b]8;;\x1b\\\n{BODY}\n===END===\n",
    "C1 colours": f"\x9b1m===CHECKPOINT 7===\x9b0m\n{BODY}\n===END===\n",
    "colours in the body": PLAIN.replace("phase", "\x1b[33mphase\x1b[0m").replace("[c]", "\x1b[2m[c]\x1b[0m"),
    "more signs": f"=======CHECKPOINT 7=====\n{BODY}\n==========END====\n",
    "wide signs": f"＝＝＝CHECKPOINT 7＝＝＝\n{BODY}\n＝＝＝END＝＝＝\n",
    "mixed signs": f"＝==CHECKPOINT 7==＝＝\n{BODY}\n==＝END=＝=\n",
    "any case": f"===Checkpoint 7===\n{BODY}\n===end===\n",
    "wide letters": f"===ＣＨｅｃｋＰＯＩＮＴ 7===\n{BODY}\n===ＥＮＤ===\n",
    "no blank": header("===CHECKPOINT7==="),
    "colon": header("===CHECKPOINT: 7==="),
    "named footer": f"===CHECKPOINT 7===\n{BODY}\n===END CHECKPOINT 7===\n",
    "text after the footer": PLAIN[:-1] + "Now I go on.\n",
    "no line end": PLAIN[:-1],
}


@pytest.mark.parametrize("form", FORMS)
def test_a_bent_form_is_the_same_block(form: str) -> None:
    blocks, diagnostics = scanned(f"intro\n{FORMS[form]}outro\n" if form != "no line end" else FORMS[form])
    assert [(b.kind, b.argument, b.body.strip(), b.terminated, b.cut) for b in blocks] == [
        ("checkpoint", "7", BODY, True, False)
    ]
    assert diagnostics == []


NO_BLOCKS = {
    "added lines": framed("+"),
    "removed lines": framed("-"),
    "indented lines of a diff": framed("+    ") + framed("-    "),
    "combined diff": framed("++") + framed(" +"),
    "mention": "the ===CHECKPOINT 7=== block and its ===END=== line\n",
    "mention at the start": "===CHECKPOINT 7=== is what I write, ===END=== ends it\n",
    "mention in code": 'header = "===CHECKPOINT 7==="\n',
    "comment behind": "===CHECKPOINT 7=== # the seventh\n",
    "not closed": "===CHECKPOINT 7\n",
    "two signs": "==CHECKPOINT 7==\n",
    "closed by two": "===CHECKPOINT 7==\n",
    "broken over lines": "===CHECKPOINT\n7===\n",
    "other word": "===CHECKPOINTS===\n===ENDING===\n===FINALLY===\n===RETRY_ALL===\n",
    "letters of other scripts": "===CHEC\u212aPOINT 7===\n===\u017fUMMARY S1===\n===СHECKPOINT 7===\n",
    "headings": "=== Final results ===\n=== Summary of changes ===\n=== Retry 2/3 ===\n=== retrying failed tests ===\n",
    "test run": "=========================== short test summary info ============================\n=== 5 passed ===\n",
    "rules": "=" * 5000 + "\n" + "===\n" * 5,
    "code": "if (a === checkpoint && b === end) {\n  x = summary\n}\n",
    "merge conflict": "<<<<<<< ours\n=======\n>>>>>>> theirs\n",
    "paragraph of a renderer": PLAIN.replace("\n", " ") + "\n",
}


@pytest.mark.parametrize("form", NO_BLOCKS)
def test_a_look_alike_is_no_block(form: str) -> None:
    assert scanned(f"intro\n{NO_BLOCKS[form]}outro\n") == ([], [])


@pytest.mark.parametrize(
    ("line", "kind", "argument"),
    [
        ("===SUMMARY S2 (covers C6-C10)===", "summary", "S2 (covers C6-C10)"),
        ("＝＝＝summary　Ｓ２（covers C6–C10）＝＝＝", "summary", "Ｓ２（covers C6–C10）"),
        ("===SUMMARY===", "summary", ""),
        ("===SUMMARY {{id}} (covers {{ids}})===", "summary", "{{id}} (covers {{ids}})"),
        ("===RETRY===", "retry", ""),
        ("=== Retry from C7 ===", "retry", "from C7"),
        ("===FINAL===", "final", ""),
        ("===CHECKPOINT===", "checkpoint", ""),
        ("===CHECKPOINT {{step_id}}===", "checkpoint", "{{step_id}}"),
        ("===CHECKPOINT a=b===", "checkpoint", "a=b"),
        ("===CHECKPOINT 7: replace date.ts===", "checkpoint", "7: replace date.ts"),
        (f"===CHECKPOINT {'x' * 5000}===", "checkpoint", "x" * 5000),
    ],
)
def test_what_a_header_says(line: str, kind: str, argument: str) -> None:
    blocks, diagnostics = scanned(f"{line}\ntext\n===END===\n")
    assert [(b.kind, b.argument, b.body) for b in blocks] == [(kind, argument, "text")]
    assert diagnostics == []


def test_the_frame_of_the_header_comes_off_and_no_more() -> None:
    body = scanned("> ===RETRY===\n> reason: a\n> > quoted\n>   - deeper\n> - item  \n>\n> end\n> ===END===\n")[0][
        0
    ].body
    assert body == "reason: a\n> quoted\n  - deeper\n- item\n\nend"
    body = scanned("===RETRY===\nreason: see\n> quoted\n\n  kept\n===END===\n")[0][0].body
    assert body == "reason: see\n> quoted\n\n  kept"


def test_lines_are_counted_by_line_feeds() -> None:
    blocks, diagnostics = scanned(f"a\r\n\r\nb\rc\n{PLAIN}x\n===END===\n{PLAIN}")
    assert [(b.line, b.end_line) for b in blocks] == [(4, 8), (11, 15)]
    assert diagnostics == [(10, "P003")]


def test_a_block_without_footer_ends_at_the_next_header_or_the_end() -> None:
    blocks, diagnostics = scanned(f"===CHECKPOINT 1===\n{BODY}\n\n{PLAIN}===RETRY===\nfrom: 7\n")
    assert [(b.kind, b.body, b.line, b.end_line, b.terminated) for b in blocks] == [
        ("checkpoint", BODY, 1, 4, False),
        ("checkpoint", BODY, 6, 10, True),
        ("retry", "from: 7", 11, 12, False),
    ]
    assert diagnostics == []


def test_bytes_that_are_no_text_stay_in_their_place() -> None:
    body = scanned(b"===CHECKPOINT 1===\ndone: [a\0b\xff\xfe\xc3(\xed\xa0\x80]\n===END===\n")[0][0].body
    assert body == "done: [a\0b\ufffd\ufffd\ufffd(\ufffd\ufffd\ufffd]"
