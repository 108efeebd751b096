"""The agent keeps the protocol: no rule finds anything, and each hint undoes the step that it belongs to."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from gitckpt.demo import agent
from gitckpt.demo.picture import Picture, on_disk
from gitckpt.protocol.hints import Nothing, RemovePaths, RestorePaths, parse_hint
from gitckpt.protocol.reader import read_text
from gitckpt.protocol.rules import check


def transcript(project: Path, lang: str) -> str:
    words = agent.toml(agent.HERE / "words" / f"{lang}.toml")
    migration = agent.toml(agent.HERE / "migration.toml")
    with redirect_stdout(io.StringIO()) as output:
        agent.Agent(agent.Project(str(project), migration), words, pause=0).migrate()
    return output.getvalue()


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_rule_finds_anything(project: Path, lang: str) -> None:
    text = transcript(project, lang)
    blocks, diagnostics = read_text(text)
    assert [block.id or block.kind for block in blocks] == [
        "C1", "C2", "C3", "C4", "C5", "S1", "C6", "retry", "C8", "C9", "C10", "S2", "C11", "C12", "S3", "final",
    ]  # fmt: skip
    assert check(blocks, diagnostics, text_lines=text.splitlines(), finished=True) == []


def test_the_fields_are_read_as_they_are_meant(project: Path) -> None:
    blocks, _ = read_text(transcript(project, "zh"))
    by_id = {block.id or block.kind: block for block in blocks}
    assert [block.fields["phase"] for block in blocks if block.kind == "checkpoint"] == (
        ["explore"] * 2 + ["implement"] * 7 + ["verify", "finish"]
    )
    assert by_id["C3"].fields["state_ref"] == {"current": "package.json", "dependencies": ["dayjs", "moment"]}
    assert by_id["C5"].fields["done"] == ["src/utils/date.ts 全部替换完成", "删除该文件对 moment 的 import"]
    assert by_id["retry"].fields["from"] == "C7"
    assert by_id["S2"].fields["covers"] == ["C6", "C7", "C8", "C9", "C10"]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_each_hint_undoes_its_step_exactly(project: Path, watched: type, lang: str) -> None:
    pictures: dict[str, Picture] = {}
    hints: dict[str, str] = {}

    def observe(key: str, text: str) -> None:
        if text.startswith("===CHECKPOINT"):
            pictures[key] = on_disk(str(project))
            hints[key] = text.partition("rollback_hint: ")[2].partition("\n")[0]

    watched(project, observe, lang).migrate()
    for id, text in hints.items():
        hint = parse_hint(text, exists=lambda path, id=id: path.encode() in pictures[id] | pictures[before(id)])
        assert (hint.by_hand, hint.refused) == ((), ())
        if hint.actions == (Nothing(),):
            assert pictures[id] == pictures[before(id)]
            continue
        assert hint.target == before(id)
        assert carried_out(hint.actions, pictures[id], pictures[hint.target]) == pictures[hint.target]


def before(id: str) -> str:
    """The checkpoint before this one; the first stands for itself, and C7 never reported."""
    return {"C1": "C1", "C8": "C6"}.get(id, f"C{int(id[1:]) - 1}")


def carried_out(actions: tuple[object, ...], now: Picture, target: Picture) -> Picture:
    result = dict(now)
    for action in actions:
        assert isinstance(action, RestorePaths | RemovePaths)
        for path in map(str.encode, action.paths):
            if isinstance(action, RestorePaths):
                result[path] = target[path]
            else:
                del result[path]
    return result
