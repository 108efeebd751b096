"""The Chinese and English vocabulary of rollback hints: words that start, forbid or aim a command, or say nothing."""

from __future__ import annotations

import re


def _any_of(chinese: str = "", english: str = "") -> str:
    """Return a pattern for any of the words, with `_` for blanks inside a phrase. English words match only as whole
    words.
    """
    plain = [re.escape(word) for word in chinese.split()]
    whole = [re.escape(word).replace("_", r"\s+") for word in english.split()]
    return "(?:" + "|".join([*plain, *([rf"\b(?:{'|'.join(whole)})\b"] if whole else [])]) + ")"


#: Programs that start a command which gitckpt does not parse.
_PROGRAMS = """
    npm npx pnpm yarn bun deno pip pip3 pipx uv poetry conda cargo rustup brew apt apt-get dnf apk gem bundle composer
    dotnet mvn gradle docker docker-compose podman kubectl helm terraform ansible systemctl psql mysql sqlite3 redis-cli
    alembic rake sudo bash sh zsh python python3 node ruby perl sed awk cat xargs curl wget chmod chown mv cp ln mkdir
    rmdir unlink unset pkill hg svn patch
"""
#: Programs whose names are also English words, with the word that makes them a command.
_PROGRAMS_IN_CONTEXT = r"go\s+(?:get|mod|install|clean|run)|make\s+(?:-\S+\s+)*(?:clean|undo|reset|install|build|down)"
_GIT_COMMANDS = """
    checkout restore reset stash clean switch revert rm mv merge rebase cherry-pick apply am branch tag pull push fetch
    commit add worktree submodule bisect update-ref update-index read-tree checkout-index sparse-checkout lfs reflog
    show diff log status config
"""
COMMAND = re.compile(
    rf"""(?<![A-Za-z0-9_./@-])(?:
        (?P<name> (?i: git \s+ (?:-\S+ | {_any_of(english=_GIT_COMMANDS)}(?!-)))
                | gitckpt\s+[a-z]+ | (?:rm|cd|pushd)(?=\s) | \./[\w./-]+
                | (?:{_any_of(english=_PROGRAMS)}|{_PROGRAMS_IN_CONTEXT})(?=[\s`"']|$))
      | (?P<delete> (?i:delete|remove)(?=[\s`"']))
      | (?P<undo> (?i:restore|revert|undo|reset|roll\s+back)(?=[\s`"'])) )
      | (?P<delete_zh> 删除|删掉|删去|移除|删(?=临时|新建|新增))
      | (?P<undo_zh> 恢复|还原|撤销|撤回|回退|回滚|重置)
      | (?P<opaque> \$\()""",
    re.VERBOSE | re.ASCII,
)

_OPENING_MARKS = r"""[\s`"'“‘「]*$"""
_USE = _any_of("使用 执行 运行 用", "use using run running do doing with by a the")

#: Matches text ending in words that say not to run what follows.
NEGATION = re.compile(
    "(?<!分)"  # 分别 is "respectively"
    + _any_of(
        "不要 不得 切勿 请勿 勿 别 无需 无须 不需要 不需 不必 不用 不能 禁止 避免 而不是 而非",
        "never not don't don’t avoid without instead_of rather_than no_need_to",
    )
    + rf"\s*{_any_of('再 直接 先')}?\s*{_USE}?{_OPENING_MARKS}",
    re.IGNORECASE,
)
#: Matches text ending in words that make what follows an alternative rather than a further step.
ALTERNATIVE = re.compile(
    _any_of("或者 或 否则 要么 不行就 不行则 不行的话", "or otherwise alternatively else failing_that")
    + rf"[\s,，:：]*{_any_of('直接')}?{_USE}?{_OPENING_MARKS}",
    re.IGNORECASE,
)

_QUOTED = r"""(?P<quoted>"[^"\n]*"|(?<![A-Za-z])'[^'\n]*'|`[^`\n]*`)"""
#: What ends a simple command: an operator, a redirection (`->` is an arrow), a full stop.
SHELL_OPERATOR = re.compile(_QUOTED + r"|(?<![-=])\d?>{1,2}|<|&&|&|\|\|?|[;；。\n]|\$\(")
#: What ends a command left to the user: pipes and redirections belong to it.
CLAUSE_END = re.compile(
    _QUOTED + r"|&&|[;；。，\n]|,(?=\s)|\.(?=\s|$)|\s(?=(?:then|and)\s)|(?=然后|再次?\s*(?:git|rm|用))", re.IGNORECASE
)
CLAUSES = re.compile(r"[;；。，,\n]|&&|\.(?=\s|$)|(?<=[）)])|\bthen\b|然后")
REMARK = re.compile(r"\([^()]*\)|（[^（）]*）")
#: A word that may be a path, in prose with or without spaces.
WORD = re.compile(r"[A-Za-z0-9_./@+~`-]+", re.ASCII)
CODE_SPAN = re.compile(r"`([^`\n]+)`")
CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "（": "）", "(": ")"}

#: Matches text ending in words that point to a checkpoint.
TOWARDS = re.compile(
    _any_of(
        "退回 返回 回退 回 到 至 从 自 恢复为 还原为 重置为",
        "to from at into restore checkout",
    )
    + rf"\s*(?:the\s+)?(?:state\s+{_any_of(english='of at after before')}\s+|状态)?"
    + _OPENING_MARKS,
    re.IGNORECASE,
)
#: Matches text ending in words that name the failed step: "undo C7".
FAILED_STEP = re.compile(
    _any_of("撤销 撤回 取消 丢弃 放弃", "undo revert discard drop cancel")
    + r"\s*(?:the\s+)?(?:changes?\s+(?:of|from|in|made\s+(?:in|by))\s+)?$",
    re.IGNORECASE,
)
PREVIOUS = re.compile(
    r"[上前]一?[个步]?\s*(?:检查点|checkpoint|存档点)|"
    + _any_of(english="previous_checkpoint preceding_checkpoint prior_checkpoint last_checkpoint checkpoint_before"),
    re.IGNORECASE,
)
NOTHING_TO_UNDO = re.compile(
    rf"""只读不写 | (?<![非是])只读 | {_any_of("无 无任何 无文件 未 没有")}{_any_of("改动 修改 变更 写入 副作用")}
      | {_any_of("无需 无须 不需要 不需 不用 不必 没有需要 没有可 没有必要 没有")}{_any_of("做 进行 任何 要")}?
        {_any_of("回退 回滚 撤销 撤回 恢复 还原 清理")}
      | (?<!not[ ])(?<!non-)\bread[- ]?only\b
      | \bnothing\s+to\s+(?:undo|roll\s*back|revert|restore|clean\s+up)
      | \bnothing\s+(?:(?:was|has)\s+)?(?:changed|written|modified)
      | \bno\s+(?:roll\s*back|undo|revert|action)\s+(?:is\s+)?(?:needed|required|necessary)
      | \bno\s+(?:file\s+)?changes?\s+(?:(?:was|were|are|is)\s+)?(?:made|written|to\s+undo)
      | \bno\s+need\s+to\s+(?:undo|roll\s*back|revert)""",
    re.IGNORECASE | re.VERBOSE,
)

CONDITION = re.compile(
    r"\s*" + _any_of("若 如果 如 倘若 万一 一旦 当 假如", "if when whenever unless should in_case on_failure"),
    re.IGNORECASE,
)
CONSEQUENCE = re.compile(r"则|就|时|的话|\bthen\b|：|:")

#: A clause that begins with a verb of undoing, after any number of connectives.
TO_DO = re.compile(
    rf"""\s*(?:{
        _any_of(
            "并 再 且 同时 另外 还 请 需要 需 手动 然后 最后 首先 先 用 将 把",
            "and also please manually by_hand first finally then you_must",
        )
    }\s*)*(?P<what>{
        _any_of(
            "还原 恢复 撤销 撤回 重置 卸载 重启 停止 关闭 清空 清理 清除 取消 改回 换回 移动 重命名 重新 运行 执行 删",
            "restore revert undo reset unset uninstall rename move restart stop kill drop downgrade rerun re-run put"
            " set change clear run execute",
        )
    }\s*(?P<object>.*\S)?)""",
    re.IGNORECASE | re.DOTALL,
)
#: Objects of such a verb that do not name a thing.
NO_OBJECT = re.compile(
    "(?:"
    + _any_of(
        "该 此 本 步骤 步 全部 所有 的 更改 修改 改动 变更 替换 操作 动作 之前 原状 状态 一切 上述 以上 即可 重试"
        " 一下 回 到 原样 它 其 这 个 次 编辑 文件 内容 掉 了 临时 新增 新建 回退 回滚",
        "the this that these those all any every my our it its of them back change changes changed edit edits step"
        " steps operation action everything work modification modifications replacement previous last state and retry"
        " again if needed so far made here to above rollback roll undo fail fails on in by with using via or hand"
        " manually temporary temp new file files folder folders",
    )
    + r"""|[\s.,!。！…"'`“”‘’])*""",
    re.IGNORECASE,
)
