"""The original texts of the protocol, verbatim: the prompt, the three blocks, and a whole run."""

PROMPT = """\
你是任务执行 Agent，必须按"检查点协议"工作，确保长任务可恢复、可回放。

## 工作规则
1. 每完成一个工具调用或原子步骤后，输出一个 CHECKPOINT 块
2. CHECKPOINT 块格式：
   ```
   ===CHECKPOINT {{step_id}}===
   phase: {{探索|实施|验证|收尾}}
   done: [已完成步骤的一句话清单]
   next: [下一步要做什么 + 预期工具调用]
   state_ref: [若调用过工具，记录关键状态引用，如文件路径/变量名/分支名]
   rollback_hint: [若这步失败，回退到哪个 checkpoint + 如何回退]
   ===END===
   ```
3. 每 5 个 checkpoint 输出一个 SUMMARY 块，把前 5 步压缩成 3 句话，之后只引用 SUMMARY 不再展开细节
4. 遇到错误时，先输出 RETRY 块说明从哪个 checkpoint 恢复、改用什么策略，再继续
5. 任务全部完成时输出 FINAL 块，列出所有 checkpoint id 供回放

## 当前任务
{{task}}

## 已有上下文/前序 checkpoint（若有）
{{prior_context}}

## 输出要求
- 严格按上述块格式输出，不要额外散文
- 工具调用前先写 next 字段，调用后用结果填充 done
- rollback_hint 必须可执行（指明具体回退动作，不能只写"回滚")
"""

THREE_BLOCKS = """\
1. CHECKPOINT 块：每个原子步骤的状态快照

每完成一个工具调用或原子步骤，Agent 输出一个 CHECKPOINT 块，记录：已完成什么、下一步做什么、关键状态引用、回退提示。这是"append-only 日志"的 Prompt 等价物。

===CHECKPOINT 7===
phase: 实施
done: [已读取 package.json 发现 moment 依赖, 已扫描出 12 个引用 moment 的文件]
next: [逐个替换 moment 为 dayjs，先从 src/utils/date.ts 开始，工具：edit_file]
state_ref: [affected_files=[src/utils/date.ts, src/api/time.ts, ...], current_file=src/utils/date.ts]
rollback_hint: [若 edit_file 失败，回退到 CHECKPOINT 6（替换前），用 git checkout src/utils/date.ts 撤销]
===END===

2. SUMMARY 块：上下文压缩

每 5 个 checkpoint 输出一个 SUMMARY，把前 5 步压缩成 3 句话。之后模型只引用 SUMMARY id，不再展开细节。这是解决"上下文撑爆"的关键——用语义边界（论文里的"自声明轨迹分段"）做有损压缩。

===SUMMARY S2 (covers C6-C10)===
已替换 5 个文件的 moment 引用为 dayjs，新增 dayjs 配置。当前进度 5/12，无报错。
===END===

3. RETRY 块：失败恢复

遇到错误时，Agent 不慌乱重试，而是先输出 RETRY 块：从哪个 checkpoint 恢复、改用什么策略。这是"重启安全"的 Prompt 等价物。

===RETRY===
from: CHECKPOINT 7
reason: [edit_file 报错：src/utils/date.ts 第 42 行有 moment.duration，dayjs 无等价 API]
new_strategy: [用 dayjs-duration 插件替代，先 npm install dayjs-duration，再改 import]
===END===
"""

MIGRATION = """\
下面展示 Agent 按检查点协议跑一个 12 文件迁移任务的真实输出片段（精简版）：

===CHECKPOINT 1===
phase: 探索
done: [扫描项目，发现 12 个文件引用 moment，总 47 处调用]
next: [按文件依赖顺序替换，先改 utils 层再改 api 层，工具：read_file]
state_ref: [affected=12 files, calls=47]
rollback_hint: [本步只读不写，无需回退]
===END===

===CHECKPOINT 2===
phase: 实施
done: [读取 src/utils/date.ts，识别 8 处 moment 调用]
next: [逐个替换，工具：edit_file]
state_ref: [current=src/utils/date.ts, remaining_in_file=8]
rollback_hint: [若替换失败，git checkout src/utils/date.ts 回到 C1 后状态]
===END===

... (C3-C5 省略)

===SUMMARY S1 (covers C1-C5)===
完成探索 + 替换 src/utils/date.ts 全部 8 处 moment 调用为 dayjs，新增 dayjs-duration 插件。进度 1/12 文件，无报错。
===END===

===CHECKPOINT 6===
phase: 实施
done: [开始替换 src/api/time.ts]
next: [读取并替换，工具：read_file → edit_file]
state_ref: [current=src/api/time.ts, progress=1/12]
rollback_hint: [回退到 C5（date.ts 已完成），git checkout src/api/time.ts]
===END===

===RETRY===
from: CHECKPOINT 7
reason: [time.ts 第 42 行 moment.duration 不兼容]
new_strategy: [改用 dayjs-duration 插件，先安装再改 import]
===END===

===CHECKPOINT 8===
phase: 实施
done: [安装 dayjs-duration，替换 time.ts 全部调用]
next: [替换下一个文件 src/components/Timer.tsx]
state_ref: [current=src/components/Timer.tsx, progress=2/12]
rollback_hint: [回退到 C7，git checkout src/api/time.ts]
===END===

... (C9-C12 省略)

===FINAL===
checkpoints: [C1, C2, C3, C4, C5, C6, RETRY→C7, C8, C9, C10, C11, C12]
summaries: [S1(C1-C5), S2(C6-C10), S3(C11-C12)]
result: 12 个文件全部迁移完成，47 处调用替换，新增 1 个插件依赖
===END===
"""
