"""Where sentences end in prose about code."""

from __future__ import annotations

import pytest

from gitckpt.protocol.sentences import count_sentences


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("一。二！三？", 3),
        ("One. Two! Three?", 3),
        ("One. Two. Three without a stop", 3),
        ("已替换 5 个文件的 moment 引用为 dayjs，新增 dayjs 配置。当前进度 5/12，无报错。", 2),
        ("完成迁移.测试通过.", 2),
        ("他说“好。”然后走。", 2),
        # numbers, versions, file names, back-ticks, addresses
        ("Progress is 5/12. It took 3.5 s. No errors.", 3),
        ("dayjs v1.11.", 1),
        ("用 dayjs v1.11. 替换 moment", 1),
        ("Upgraded to dayjs v1.11. Tests pass. Done.", 3),
        ("改了 src/a.ts 和 b.ts。好。", 2),
        ("Edited src/a.ts. Then b.ts. Done", 3),
        ("A `x. y. z.` b. C.", 2),
        ("Saved to https://a.b/c?d=e. Two.", 2),
        ("a!=b holds. Is x?y ok? Yes!", 3),
        ("e.g. this one. Two.", 2),
        ("One... two.", 2),
        # lines end no sentence, list items do
        ("wrapped\nline. Two", 2),
        ("- a\n- b\n- c", 3),
        ("1. One\n2. Two\n3. Three", 3),
    ],
)
def test_sentences_are_counted(text: str, count: int) -> None:
    assert count_sentences(text) == count
