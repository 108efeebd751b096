"""Histories to display."""

from __future__ import annotations

import pytest
from histories import History


@pytest.fixture
def history() -> History:
    return History()


@pytest.fixture
def other_history() -> History:
    return History("20261129-101010-aaaa")


@pytest.fixture
def migration(history: History) -> History:
    """The migration from moment to dayjs: C7 never reported, R1 answers to it, retry-2 continues from C6."""
    add = history.add
    add("start", said="node agent.js")
    add(
        "checkpoint",
        "C1",
        "扫描项目，发现 12 个文件引用 moment",
        phase="explore",
        next="先改 utils 层再改 api 层，工具：read_file",
    )
    add(
        "checkpoint",
        "C2",
        "读取 src/utils/date.ts，识别 8 处 moment 调用",
        phase="implement",
        next="逐个替换，工具：edit_file",
    )
    for number in (3, 4, 5):
        add("checkpoint", f"C{number}", "替换 src/utils/date.ts", phase="implement")
    add("summary", "S1", "完成探索 + 替换 src/utils/date.ts 全部 8 处 moment 调用为 dayjs。")
    c6 = add(
        "checkpoint",
        "C6",
        "开始替换 src/api/time.ts",
        phase="implement",
        next="读取并替换，工具：read_file → edit_file",
    )
    add("retry", "R1", "time.ts 第 42 行 moment.duration 不兼容 → 改用 dayjs-duration 插件")
    add(
        "checkpoint",
        "C8",
        "安装 dayjs-duration",
        line="retry-2",
        after=c6,
        phase="implement",
        next="替换 src/components/Timer.tsx",
    )
    for number in (9, 10):
        add("checkpoint", f"C{number}", "替换 src/components/Timer.tsx", line="retry-2", phase="implement")
    add("summary", "S2", "已替换 5 个文件的 moment 引用为 dayjs。", line="retry-2")
    add("checkpoint", "C11", "运行测试", line="retry-2", phase="verify")
    add("checkpoint", "C12", "删除 moment 依赖", line="retry-2", phase="finish")
    add("summary", "S3", "测试通过。", line="retry-2")
    add("final", said="12 个文件全部迁移完成，47 处调用替换", line="retry-2")
    add("end", said="exit status 0", line="retry-2")
    return history
