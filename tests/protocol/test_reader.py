"""From streams to blocks: the texts of the source as they stand, what clients print, and what must not be recorded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_texts import MIGRATION, PROMPT, THREE_BLOCKS
from test_scanner import CORPUS, PIECES, cut

from gitckpt.protocol.blocks import MAX_BLOCK, Block, Diagnostic
from gitckpt.protocol.reader import MAX_REMEMBERED, MAX_WRITTEN, BlockReader, read_text

FIELDS = "phase: explore\ndone: [a]\nnext: [b]\nstate_ref: [c]\nrollback_hint: [git checkout .]\n"


def block(id: object, fields: str = FIELDS, end: str = "===END===\n") -> str:
    return f"===CHECKPOINT {id}===\n{fields}{end}"


def retry(target: object, reason: str = "r") -> str:
    return f"===RETRY===\nfrom: {target}\nreason: {reason}\nnew_strategy: s\n===END===\n"


def recorded(text: str | bytes) -> list[str | None]:
    return [read.id or read.kind for read in read_text(text)[0]]


def codes(text: str | bytes, **options: Any) -> list[tuple[int, str]]:
    return [(found.line, found.code) for found in read_text(text, **options)[1]]


def step(number: int, phase: str, written: str, line: int, **fields: Any) -> Block:
    fields = {"phase": phase, "phase_written": written} | fields
    return Block("checkpoint", f"C{number}", str(number), fields, line, line + 6)


def test_the_prompt_of_the_source_holds_no_block() -> None:
    assert read_text(PROMPT) == ([], [])
    shown, diagnostics = read_text(PROMPT, keep_all=True)
    assert [(read.id, read.written, read.line) for read in shown] == [(None, "{{step_id}}", 7)]
    assert [(found.line, found.code) for found in diagnostics] == [(7, "P004")]


def test_the_three_blocks_of_the_source() -> None:
    assert read_text(THREE_BLOCKS) == (
        [
            step(
                7, "implement", "实施", 5,
                done=["已读取 package.json 发现 moment 依赖", "已扫描出 12 个引用 moment 的文件"],
                next="逐个替换 moment 为 dayjs，先从 src/utils/date.ts 开始，工具：edit_file",
                state_ref={
                    "affected_files": ["src/utils/date.ts", "src/api/time.ts", "..."],
                    "current_file": "src/utils/date.ts",
                },
                rollback_hint="若 edit_file 失败，回退到 CHECKPOINT 6（替换前），"
                "用 git checkout src/utils/date.ts 撤销",
            ),
            Block(
                "summary", "S2", "S2",
                {
                    "covers": ["C6", "C7", "C8", "C9", "C10"],
                    "text": "已替换 5 个文件的 moment 引用为 dayjs，新增 dayjs 配置。当前进度 5/12，无报错。",
                },
                17, 19,
            ),
            Block(
                "retry", None, "",
                {
                    "from": "C7",
                    "reason": "edit_file 报错：src/utils/date.ts 第 42 行有 moment.duration，dayjs 无等价 API",
                    "new_strategy": "用 dayjs-duration 插件替代，先 npm install dayjs-duration，再改 import",
                },
                25, 29,
            ),
        ],
        [],
    )  # fmt: skip


def test_the_run_of_the_source() -> None:
    assert read_text(MIGRATION) == (
        [
            step(
                1, "explore", "探索", 3,
                done=["扫描项目，发现 12 个文件引用 moment，总 47 处调用"],
                next="按文件依赖顺序替换，先改 utils 层再改 api 层，工具：read_file",
                state_ref={"affected": "12 files", "calls": "47"},
                rollback_hint="本步只读不写，无需回退",
            ),
            step(
                2, "implement", "实施", 11,
                done=["读取 src/utils/date.ts，识别 8 处 moment 调用"],
                next="逐个替换，工具：edit_file",
                state_ref={"current": "src/utils/date.ts", "remaining_in_file": "8"},
                rollback_hint="若替换失败，git checkout src/utils/date.ts 回到 C1 后状态",
            ),
            Block(
                "summary", "S1", "S1",
                {
                    "covers": ["C1", "C2", "C3", "C4", "C5"],
                    "text": "完成探索 + 替换 src/utils/date.ts 全部 8 处 moment 调用为 dayjs，"
                    "新增 dayjs-duration 插件。进度 1/12 文件，无报错。",
                },
                21, 23,
            ),
            step(
                6, "implement", "实施", 25,
                done=["开始替换 src/api/time.ts"],
                next="读取并替换，工具：read_file → edit_file",
                state_ref={"current": "src/api/time.ts", "progress": "1/12"},
                rollback_hint="回退到 C5（date.ts 已完成），git checkout src/api/time.ts",
            ),
            Block(
                "retry", None, "",
                {
                    "from": "C7",
                    "reason": "time.ts 第 42 行 moment.duration 不兼容",
                    "new_strategy": "改用 dayjs-duration 插件，先安装再改 import",
                },
                33, 37,
            ),
            step(
                8, "implement", "实施", 39,
                done=["安装 dayjs-duration，替换 time.ts 全部调用"],
                next="替换下一个文件 src/components/Timer.tsx",
                state_ref={"current": "src/components/Timer.tsx", "progress": "2/12"},
                rollback_hint="回退到 C7，git checkout src/api/time.ts",
            ),
            Block(
                "final", None, "",
                {
                    "checkpoints": [
                        "C1", "C2", "C3", "C4", "C5", "C6", "RETRY→C7", "C8", "C9", "C10", "C11", "C12",
                    ],
                    "summaries": [
                        {"id": "S1", "covers": ["C1", "C2", "C3", "C4", "C5"]},
                        {"id": "S2", "covers": ["C6", "C7", "C8", "C9", "C10"]},
                        {"id": "S3", "covers": ["C11", "C12"]},
                    ],
                    "result": "12 个文件全部迁移完成，47 处调用替换，新增 1 个插件依赖",
                },
                49, 53,
            ),
        ],
        [],
    )  # fmt: skip


LONG = (
    "state_ref: [affected_files=[src/utils/date.js, src/api/time.js], branch=main, "
    'env={"TZ": "UTC", "NODE_ENV": "test"}, note=**long on purpose** so that it wraps]'
)
SAID = {
    "phase": "implement",
    "phase_written": "实施",
    "done": ["替换 src/utils/date.js 中全部 4 处调用，新增 customParseFormat 插件"],
    "next": "write src/dayjs_setup.js, then edit src/api/time.js; tools: write_file, edit_file",
    "state_ref": {
        "affected_files": ["src/utils/date.js", "src/api/time.js"],
        "branch": "main",
        "env": {"TZ": "UTC", "NODE_ENV": "test"},
        "note": "**long on purpose** so that it wraps",
    },
    "rollback_hint": "回退到 CHECKPOINT 1，用 git checkout -- src/utils/date.js 撤销",
}
ASKED = f"""\
===CHECKPOINT 2===
phase: 实施
done: [替换 src/utils/date.js 中全部 4 处调用，新增 customParseFormat 插件]
next: [write src/dayjs_setup.js, then edit src/api/time.js; tools: write_file, edit_file]
{LONG}
rollback_hint: [回退到 CHECKPOINT 1，用 git checkout -- src/utils/date.js 撤销]
===END===
"""

#: The block above as clients print it, in the ways that were seen.
PRINTED = {
    "plain lines": f"I'll find it first.\n{ASKED}\nNow I read the first file.\n",
    "on a terminal": ASKED.replace("\n", "\r\n"),
    "reset before": f"\x1b[0m\r\n{ASKED}\x1b[0m$ \x1b[0msed -i\r\n",
    "among coloured tool lines": f"   \x1b[90m⎿ \x1b[0m\x1b[2ma.js\x1b[0m\r\n{ASKED}\x1b[36m[editor]\x1b[0m {{}}\r\n",
    "fenced": f"The block of this step is fenced, as some models do:\n\n```\n{ASKED}```\n",
    "behind a bullet": "● " + ASKED.replace("\n", "\n  "),
    "wrapped at 80 columns": ASKED.replace("customParseFormat 插件", "customParseFormat \n插件")
    .replace("tools: write_file, ", "tools: write_file, \n")
    .replace("date.js, src/api", "date.js, \nsrc/api")
    .replace("**long on purpose** so", "**long on \npurpose** so")
    .replace("checkout -- ", "checkout -- \n"),
}


@pytest.mark.parametrize("form", PRINTED)
def test_what_clients_print(form: str) -> None:
    blocks, diagnostics = read_text(PRINTED[form])
    assert [(read.id, read.fields) for read in blocks] == [("C2", SAID)]
    assert diagnostics == []


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(CORPUS + PIECES), max_size=12).map(b"".join), st.lists(st.integers(0, 5000), max_size=12)
)
def test_any_chunking_gives_the_same(data: bytes, at: list[int]) -> None:
    reader = BlockReader()
    blocks = [read for chunk in cut(data, at) for read in reader.feed(chunk)] + reader.close()
    assert (blocks, reader.take_diagnostics()) == read_text(data)


@settings(deadline=None)
@given(st.lists(st.sampled_from(CORPUS + PIECES), max_size=12).map(b"".join))
def test_what_is_recorded_is_part_of_what_is_shown(data: bytes) -> None:
    shown, _ = read_text(data, keep_all=True)
    positions = iter(shown)
    assert all(read in positions for read in read_text(data)[0])


@pytest.mark.parametrize("id", ["{{step_id}}", "<id>", "N", "..."])
def test_a_template_is_left_out_and_hides_nothing(id: str) -> None:
    assert read_text(block(id)) == ([], [])
    assert recorded(block(id) + block(3)) == ["C3"]
    assert recorded(block(id, end="") + block(3)) == ["C3"]
    assert codes(block(id), keep_all=True) == [(1, "P004")]


def test_templates_of_the_other_kinds() -> None:
    templates = (
        "===SUMMARY S{{n}} (covers C{{a}}-C{{b}})===\nthree sentences\n===END===\n"
        + retry("CHECKPOINT {{step_id}}")
        + "===FINAL===\ncheckpoints: [{{C1, C2, …}}]\nsummaries: [{{S1}}]\nresult: {{result}}\n===END===\n"
    )
    assert read_text(templates) == ([], [])
    assert len(read_text(templates, keep_all=True)[0]) == 3


def test_a_redraw_is_recorded_once() -> None:
    assert recorded(block(7) * 3 + "noise\n" + block(7)) == ["C7"]
    assert recorded(block(7) + "> " + block(7).replace("\n", "\r\n> ")) == ["C7"]
    assert recorded(block(7) + block(7, FIELDS.replace("[a]", "[other]"))) == ["C7", "C7"]
    assert len(read_text(block(7) * 3, keep_all=True)[0]) == 3


def test_after_a_retry_steps_may_come_again() -> None:
    assert recorded(block(6) + block(7) + block(8) + retry(7) + block(8) * 2) == ["C6", "C7", "C8", "retry", "C8"]
    assert recorded(block(6) + block(7) + retry(7) + block(6) + block(7)) == ["C6", "C7", "retry"]
    # A target that never reported: what has a higher number may come again.
    assert recorded(block(6) + block(8) + retry(7) + block(6) + block(8)) == ["C6", "C8", "retry", "C8"]
    assert recorded(block("setup") + block("build") + retry("setup") + block("build")) == [
        "setup",
        "build",
        "retry",
        "build",
    ]
    assert recorded(retry(7) * 2) == ["retry"]
    assert recorded(block(6) + retry("somewhere") + block(6)) == ["C6", "retry"]


def test_memory_of_repetitions_is_bounded() -> None:
    first = "".join(block(number) for number in range(MAX_REMEMBERED))
    assert recorded(first + block(0) + block("new") + block(0)) == [
        *(f"C{number}" for number in range(MAX_REMEMBERED)),
        "new",
        "C0",
    ]


def test_a_block_without_footer_is_recorded_if_it_has_its_fields() -> None:
    blocks, diagnostics = read_text(
        block(1, end="") + block(2) + block(3, "phase: implement\n", end="") + block(4, end="\nNow I go on.\nNote: x\n")
    )
    assert [(read.id, read.terminated, read.line, read.end_line) for read in blocks] == [
        ("C1", False, 1, 6),
        ("C2", True, 7, 13),
        ("C4", False, 16, 21),
    ]
    assert blocks[2].fields == blocks[1].fields
    not_terminated = "the CHECKPOINT block is not terminated: end it with ===END==="
    lost = (
        "the block CHECKPOINT 3 is not terminated, and lacks done, next, state_ref, rollback_hint; it is not recorded: "
        "end it with ===END==="
    )
    assert diagnostics == [
        Diagnostic(1, 1, "P003", not_terminated),
        Diagnostic(14, 1, "P003", lost),
        Diagnostic(16, 1, "P003", not_terminated),
    ]
    assert [read.id for read in read_text(block(3, "phase: implement\n", end=""), keep_all=True)[0]] == ["C3"]


def test_the_other_kinds_without_footer() -> None:
    text = "===SUMMARY S1 (covers C1-C5)===\nOne. Two.\nThree.\n\nProse.\n" + retry(7).removesuffix("===END===\n")
    blocks, _ = read_text(text)
    assert [(read.kind, read.fields) for read in blocks] == [
        ("summary", {"covers": ["C1", "C2", "C3", "C4", "C5"], "text": "One. Two.\nThree."}),
        ("retry", {"from": "C7", "reason": "r", "new_strategy": "s"}),
    ]
    # Headings of other programs are no summaries.
    assert recorded("===== SUMMARY =====\n3 files changed\n") == []
    assert recorded("===== Summary info =====\n3 files changed\n") == []


@pytest.mark.parametrize(
    "id",
    ["", "../heads/main", "--help", "-f", "a b", "C1^{/x}", "@{0}", "x.lock", "a..b", "~", "*", "x" * 5000, "a\u202eb",
     "$(touch x)", "`touch x`", "x."],
)  # fmt: skip
def test_a_hostile_id_costs_no_block(id: str) -> None:
    blocks, diagnostics = read_text(block(id))
    assert [(read.id, read.written) for read in blocks] == [(None, id[:MAX_WRITTEN])]
    assert blocks[0].fields["done"] == ["a"]
    assert list(blocks[0].diagnostics) == diagnostics
    assert [(found.line, found.code) for found in diagnostics] == [(1, "P004")]


def test_a_title_behind_the_number() -> None:
    blocks, diagnostics = read_text(block("7: replace date.ts"))
    assert [(read.id, read.written) for read in blocks] == [("C7", "7: replace date.ts")]
    assert diagnostics == [Diagnostic(1, 1, "P004", "the header says more than the id C7; write ===CHECKPOINT 7===")]


@pytest.mark.parametrize(
    ("header", "id", "covers", "extra"),
    [
        ("S2 (covers C6-C10)", "S2", ["C6", "C7", "C8", "C9", "C10"], None),
        ("Ｓ２（covers C6–C8）", "S2", ["C6", "C7", "C8"], None),
        ("2 covers C1, C3", "S2", ["C1", "C3"], None),
        ("s2: 覆盖 1-2", "S2", ["C1", "C2"], None),
        ("S2", "S2", [], None),
        ("S2 (all of the above)", "S2", [], {"header": "(all of the above)"}),
    ],
)
def test_the_header_of_a_summary(header: str, id: str, covers: list[str], extra: dict[str, str] | None) -> None:
    blocks, diagnostics = read_text(f"===SUMMARY {header}===\nOne. Two. Three.\n===END===\n")
    fields = {"covers": covers, "text": "One. Two. Three."} | ({"extra": extra} if extra else {})
    assert [(read.id, read.fields) for read in blocks] == [(id, fields)]
    assert diagnostics == []


def test_a_block_too_long_is_cut_and_told() -> None:
    blocks, diagnostics = read_text("intro\n" + block(1, FIELDS + "x" * MAX_BLOCK + "\n") + block(2))
    assert [(read.id, read.terminated, read.diagnostics) for read in blocks] == [("C1", False, ()), ("C2", True, ())]
    assert [(found.line, found.code) for found in diagnostics] == [(2, "P003")]


def test_diagnostics_of_stream_and_blocks_by_line() -> None:
    text = "===END===\n" + block("a b", FIELDS + "facts:\n- x\n") + "===END===\n" + block(3, "", end="")
    assert codes(text) == [(1, "P003"), (2, "P004"), (9, "P015"), (11, "P003"), (12, "P003")]
    reader = BlockReader()
    reader.feed(text.encode())
    reader.close()
    assert [(found.line, found.code) for found in reader.take_diagnostics()] == codes(text)
    assert reader.take_diagnostics() == []


def test_text_is_valid_unicode_whatever_came() -> None:
    fields = read_text(block(1, "done: [\ud800, \ud83d\ude00]\nnext: x\x00\n"))[0][0].fields
    assert fields == {"done": ["\ufffd", "\U0001f600"], "next": "x\x00"}


@settings(deadline=None)
@given(st.binary(max_size=1000), st.booleans())
def test_no_bytes_raise(data: bytes, keep_all: bool) -> None:
    blocks, _ = read_text(b"===CHECKPOINT 1===\n" + data, keep_all=keep_all)
    assert all(read.written.encode() is not None and len(read.written) <= MAX_WRITTEN for read in blocks)
