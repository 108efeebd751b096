"""The migration from moment to dayjs in the protocol's own example: the project, and what the agent does step by step.

Blocks shown in the example are copied from it; those that it leaves out are filled in.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

DATE, TIME, TIMER = "src/utils/date.ts", "src/api/time.ts", "src/components/Timer.tsx"
OTHERS = [f"src/pages/Page{number}.tsx" for number in range(1, 10)]


class Step(NamedTuple):
    """What the agent writes to files, and the block that it then prints. `id` is the event's id in gitckpt."""

    id: str
    files: dict[str, str]
    block: str


def moment(name: str) -> str:
    return f'import moment from "moment";\nexport const {Path(name).stem} = () => moment();\n'


def dayjs(name: str) -> str:
    return moment(name).replace("moment", "dayjs")


def package(*dependencies: str) -> str:
    return "{\n" + ",\n".join(f'  "{name}": "*"' for name in dependencies) + "\n}\n"


PROJECT = {"package.json": package("moment"), **{name: moment(name) for name in (DATE, TIME, TIMER, *OTHERS)}}


def checkpoint(number: int, phase: str, done: str, following: str, state: str, hint: str) -> str:
    return (
        f"===CHECKPOINT {number}===\nphase: {phase}\ndone: [{done}]\nnext: [{following}]\nstate_ref: [{state}]\n"
        f"rollback_hint: [{hint}]\n===END===\n"
    )


def summary(number: int, covers: str, text: str) -> str:
    return f"===SUMMARY S{number} (covers {covers})===\n{text}\n===END===\n"


RETRY = (
    "===RETRY===\nfrom: CHECKPOINT 7\nreason: [time.ts 第 42 行 moment.duration 不兼容]\n"
    "new_strategy: [改用 dayjs-duration 插件，先安装再改 import]\n===END===\n"
)
FINAL = (
    "===FINAL===\ncheckpoints: [C1, C2, C3, C4, C5, C6, RETRY→C7, C8, C9, C10, C11, C12]\n"
    "summaries: [S1(C1-C5), S2(C6-C10), S3(C11-C12)]\n"
    "result: 12 个文件全部迁移完成，47 处调用替换，新增 1 个插件依赖\n===END===\n"
)

STEPS = [
    Step("C1", {}, checkpoint(
        1, "探索", "扫描项目，发现 12 个文件引用 moment，总 47 处调用",
        "按文件依赖顺序替换，先改 utils 层再改 api 层，工具：read_file", "affected=12 files, calls=47",
        "本步只读不写，无需回退",
    )),
    Step("C2", {}, checkpoint(
        2, "实施", "读取 src/utils/date.ts，识别 8 处 moment 调用", "逐个替换，工具：edit_file",
        "current=src/utils/date.ts, remaining_in_file=8", "若替换失败，git checkout src/utils/date.ts 回到 C1 后状态",
    )),
    Step("C3", {"package.json": package("moment", "dayjs")}, checkpoint(
        3, "实施", "安装 dayjs", "替换 import，工具：edit_file", "current=package.json", "git checkout package.json",
    )),
    Step("C4", {DATE: moment(DATE).replace('from "moment"', 'from "dayjs"')}, checkpoint(
        4, "实施", "替换 date.ts 的 import", "替换其余调用，工具：edit_file", "current=src/utils/date.ts",
        "回退到 C3，git checkout src/utils/date.ts",
    )),
    Step("C5", {DATE: dayjs(DATE)}, checkpoint(
        5, "实施", "替换 date.ts 全部调用", "src/api/time.ts，工具：read_file",
        "current=src/utils/date.ts, progress=1/12", "回退到 C4，git checkout src/utils/date.ts",
    )),
    Step("S1", {}, summary(
        1, "C1-C5",
        "完成探索 + 替换 src/utils/date.ts 全部 8 处 moment 调用为 dayjs，新增 dayjs-duration 插件。"
        "进度 1/12 文件，无报错。",
    )),
    Step("C6", {}, checkpoint(
        6, "实施", "开始替换 src/api/time.ts", "读取并替换，工具：read_file → edit_file",
        "current=src/api/time.ts, progress=1/12", "回退到 C5（date.ts 已完成），git checkout src/api/time.ts",
    )),
    Step("R1", {TIME: "dayjs.duration(1); // does not exist\n"}, RETRY),
    Step("C8", {"package.json": package("moment", "dayjs", "dayjs-duration"), TIME: dayjs(TIME)}, checkpoint(
        8, "实施", "安装 dayjs-duration，替换 time.ts 全部调用", "替换下一个文件 src/components/Timer.tsx",
        "current=src/components/Timer.tsx, progress=2/12", "回退到 C7，git checkout src/api/time.ts",
    )),
    Step("C9", {TIMER: dayjs(TIMER)}, checkpoint(
        9, "实施", "替换 Timer.tsx", "替换 src/pages，工具：edit_file",
        "current=src/components/Timer.tsx, progress=3/12", "回退到 C8，git checkout src/components/Timer.tsx",
    )),
    Step("C10", {name: dayjs(name) for name in OTHERS[:2]}, checkpoint(
        10, "实施", "替换 Page1 与 Page2", "其余页面，工具：edit_file", "progress=5/12",
        "回退到 C9，git checkout src/pages",
    )),
    Step("S2", {}, summary(
        2, "C6-C10", "已替换 5 个文件的 moment 引用为 dayjs，新增 dayjs 配置。当前进度 5/12，无报错。",
    )),
    Step("C11", {name: dayjs(name) for name in OTHERS[2:]}, checkpoint(
        11, "验证", "替换其余页面，运行测试", "删除 moment，工具：shell", "progress=12/12",
        "回退到 C10，git checkout src/pages",
    )),
    Step("C12", {"package.json": package("dayjs", "dayjs-duration")}, checkpoint(
        12, "收尾", "删除 moment 依赖", "无", "progress=12/12", "回退到 C11，git checkout package.json",
    )),
    Step("S3", {}, summary(3, "C11-C12", "其余页面已替换。测试通过。moment 已删除。")),
    Step("FINAL", {}, FINAL),
]  # fmt: skip

TRANSCRIPT = "".join(step.block for step in STEPS)
