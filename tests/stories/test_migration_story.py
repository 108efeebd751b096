"""The protocol's own example, recorded for real: twelve files from moment to dayjs, with a step that never reported."""

from __future__ import annotations

import json

from commandline import Place, stable
from migration import FINAL, STEPS, TIME, TRANSCRIPT
from recorded_story import Story

#: The drawing, from the first checkpoint to FINAL; of each row the first words.
DRAWN = """\
TIME   ●   C1   explore    扫描项目，发现 12 个文件引用 moment，总 47 处调用  → 按文件依赖顺序替换，
TIME   ●   C2   implement  读取 src/utils/date.ts，识别 8 处 moment 调用  → 逐个替换，工具：edit_file
TIME   ●   C3   implement  安装 dayjs  → 替换 import，工具：edit_file
TIME   ●   C4   implement  替换 date.ts 的 import  → 替换其余调用，工具：edit_file
TIME   ●   C5   implement  替换 date.ts 全部调用  → src/api/time.ts，工具：read_file
TIME   ◆   S1   summary    (C1-C5): 完成探索 + 替换 src/utils/date.ts 全部 8 处 moment 调用为 dayjs，
TIME   ●   C6   implement  开始替换 src/api/time.ts  → 读取并替换，工具：read_file → edit_file
           ├─╮
TIME   │ ✗ R1   retry      (main) (for C7) from C6: time.ts 第 42 行 moment.duration 不兼容 → 改用 dayjs-
TIME   ●   C8   implement  安装 dayjs-duration，替换 time.ts 全部调用  → 替换下一个文件 src/components/Timer.tsx
TIME   ●   C9   implement  替换 Timer.tsx  → 替换 src/pages，工具：edit_file
TIME   ●   C10  implement  替换 Page1 与 Page2  → 其余页面，工具：edit_file
TIME   ◆   S2   summary    (C6-C10): 已替换 5 个文件的 moment 引用为 dayjs，新增 dayjs 配置。
TIME   ●   C11  verify     替换其余页面，运行测试  → 删除 moment，工具：shell
TIME   ●   C12  finish     删除 moment 依赖  → 无
TIME   ◆   S3   summary    (C11-C12): 其余页面已替换。测试通过。moment 已删除。
""".splitlines()

ENDS = {
    17: ["TIME   ✓        final      (retry-2) 12 个文件全部迁移完成，47 处调用替换，新增 1 个插件依赖"],
    18: [
        "TIME   ✓        final      12 个文件全部迁移完成，47 处调用替换，新增 1 个插件依赖",
        "TIME   ■        end        (retry-2) exit status 0",
    ],
}


def test_the_fork_is_drawn(story: Story) -> None:
    head, start, *rows = stable(story.place.ok("log", "--graph").out).splitlines()
    [count] = [count for count in ENDS if f"  {count} events on 2 lines, current retry-2" in head]
    assert start.startswith("TIME   ▷        start")
    drawn, ends = rows[: len(DRAWN)], rows[len(DRAWN) :]
    assert [row[: len(expected)] for row, expected in zip(drawn, DRAWN, strict=True)] == DRAWN
    assert ends == ENDS[count]


def test_the_retry_starts_a_line_at_c6_and_answers_to_c7(story: Story) -> None:
    events = {event["id"]: event for event in story.place.json("log")["events"]}
    retried = story.place.json("show", "C7")
    assert retried == events["R1"]
    assert (retried["answers_to"], retried["line"], retried["parent_id"]) == (["C7"], "main", "C6")
    assert retried["opens"] == {"session": story.session, "line": "retry-2", "at": events["C6"]["commit"]}
    assert (events["C8"]["line"], events["C8"]["parent_id"]) == ("retry-2", "C6")
    assert retried["files"] == [{"status": "M", "path": TIME, "old_path": None}]


def test_plain_git_reads_the_record(story: Story) -> None:
    refs = f"refs/gitckpt/{story.session}"
    at = story.place.git("rev-parse", f"{refs}/tags/C6", f"{refs}/tags/C8^").splitlines()
    assert at[0] == at[1]
    assert story.place.git("diff", "--name-only", f"{refs}/tags/C6", f"{refs}/tags/C8").splitlines() == [
        "package.json", TIME,
    ]  # fmt: skip
    assert story.place.git("log", "-1", "--format=%s", f"{refs}/tags/C6") == "C6 实施: 开始替换 src/api/time.ts"
    assert story.place.git("branch", "--list") == "* main" and story.place.git("tag") == ""


def test_the_work_tree_comes_back_as_it_was_at_each_step(story: Story) -> None:
    for id in ("C6", "R1", "C1"):
        story.place.ok("rollback", id)
        assert story.place.bytes() == story.at[id]
    for id in ("R1", "C6", "FINAL"):
        story.place.ok("undo")
        assert story.place.bytes() == story.at[id]


def test_a_step_is_undone_as_its_own_hint_says(story: Story) -> None:
    story.place.ok("rollback", "--hint", "C8")
    assert story.place.bytes() == {**story.at["FINAL"], TIME: story.at["R1"][TIME]}


def test_the_record_holds_the_blocks_as_the_transcript_does(story: Story) -> None:
    blocks = story.place.ok("replay", "-", "--json", stdin=TRANSCRIPT).json["blocks"]
    events = [event for event in story.place.json("log")["events"] if event["kind"] not in ("start", "end")]
    assert [(event["kind"], event["fields"]) for event in events] == [
        (block["kind"], block["fields"]) for block in blocks
    ]
    assert [event["id"] or "FINAL" for event in events] == [step.id for step in STEPS]


def test_the_agent_goes_on_from_the_summaries(story: Story) -> None:
    context = story.place.json("context")
    assert [entry["id"] for name in ("summaries", "steps", "latest") for entry in context[name]] == [
        "S1", "S2", "S3", "C12",
    ]  # fmt: skip


def validated(place: Place, transcript: str) -> list[tuple[int, str]]:
    """Line and code of what a finished run is told."""
    answer = place.run("validate", "--finished", "--format", "json", stdin=transcript)
    return [(finding["line"], finding["code"]) for finding in json.loads(answer.out)["findings"]]


def test_final_lists_all_there_is(project: Place) -> None:
    # the example's own summaries are of two sentences
    example = [(36, "P009"), (72, "P009")]
    assert validated(project, TRANSCRIPT) == example
    final = TRANSCRIPT.splitlines().index("===FINAL===") + 1
    for omitted in ("C9, ", ", S3(C11-C12)"):
        assert validated(project, TRANSCRIPT.replace(FINAL, FINAL.replace(omitted, ""))) == [
            *example, (final + (2 if "S3" in omitted else 1), "P011"),
        ]  # fmt: skip
    assert [code for _, code in validated(project, TRANSCRIPT.removesuffix(FINAL))] == ["P009", "P009", "P011"]
    assert [code for _, code in validated(project, TRANSCRIPT.replace("C10, C11", "C10, C99, C11"))][-1] == "P007"
