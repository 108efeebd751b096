"""Every row of the hint grammar in both languages, and what a hint may never do."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitckpt.protocol.hint_paths import refusal
from gitckpt.protocol.hints import (
    Action,
    CleanNew,
    Hint,
    MoveBranch,
    Nothing,
    RemovePaths,
    RestoreAll,
    RestorePaths,
    RevertCommit,
    SwitchBranch,
    is_executable_text,
    parse_hint,
)

PATHS = frozenset(
    [
        *("src", "src/a.ts", "src/api", "src/api/time.ts", "src/utils", "src/utils/date.ts", "b.ts", "build", "test"),
        *(
            "docs",
            "docs/x y.md",
            "my file.txt",
            "tmp.json",
            "app/[id]/page.tsx",
            "app/(auth)",
            "文档",
            "文档/说明.md",
            "main",
        ),
    ]
)
BRANCHES = frozenset(["main", "dev", "feature/x", "功能"])


def read(text: str) -> Hint:
    return parse_hint(text, exists=PATHS.__contains__, is_ref=BRANCHES.__contains__)


def paths(*names: str, ref: str | None = None) -> RestorePaths:
    return RestorePaths(names, ref)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("C6", "C6"),
        ("CHECKPOINT 6", "C6"),
        ("检查点 6", "C6"),
        ("back to C6", "C6"),
        ("[回退到 CHECKPOINT 6（替换前）]", "C6"),
        ("回退至C6", "C6"),
        ("恢复到 C5 的状态", "C5"),
        ("if C7 fails, go back to C6", "C6"),
        ("若 C7 失败，回退到 C6", "C6"),
        ("若 C7 失败：回到 C6", "C6"),
        ("if src/a.ts does not compile, back to C6", "C6"),
        ("回退到 C6（src/a.ts 未动）", "C6"),
        ("不要恢复 src/a.ts，回退到 C6", "C6"),
        ("gitckpt rollback C6", "C6"),
        ("git checkout C6", "C6"),
        ("git reset --hard gitckpt/20261130-024512-k3f9/tags/C5", "C5"),
    ],
)
def test_a_target_alone_means_the_whole_tree_as_it_was_there(text: str, target: str) -> None:
    assert read(text) == Hint(target, (RestoreAll(),), (), (), True)


@pytest.mark.parametrize("text", ["回退到上一个检查点", "back to the previous checkpoint"])
def test_the_checkpoint_before_is_a_target_without_an_id(text: str) -> None:
    assert read(text) == Hint(None, (RestoreAll(),), (), (), True)


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        # git checkout PATH, git checkout REF -- PATH, git restore PATH
        ("git checkout src/a.ts", [paths("src/a.ts")]),
        ("git checkout -- src/a.ts b.ts", [paths("src/a.ts", "b.ts")]),
        ("git checkout -f src/a.ts", [paths("src/a.ts")]),
        ("git checkout ./src/a.ts.", [paths("src/a.ts")]),
        ("git checkout src/", [paths("src")]),
        ("git checkout HEAD~1 -- src/a.ts b.ts", [paths("src/a.ts", "b.ts", ref="HEAD~1")]),
        ("git checkout HEAD src/a.ts", [paths("src/a.ts", ref="HEAD")]),
        ("git checkout origin/main -- src", [paths("src", ref="origin/main")]),
        ("git checkout stash@{0} -- b.ts", [paths("b.ts", ref="stash@{0}")]),
        ("git restore b.ts, src/a.ts and docs", [paths("b.ts", "src/a.ts", "docs")]),
        ("git restore --source=HEAD~2 --staged src/a.ts", [paths("src/a.ts", ref="HEAD~2")]),
        ("git restore -s HEAD -W b.ts", [paths("b.ts", ref="HEAD")]),
        ("gitckpt rollback C6 --path src/a.ts", [paths("src/a.ts")]),
        # the whole tree
        ("git checkout .", [RestoreAll()]),
        ("git checkout -- .", [RestoreAll()]),
        ("git checkout .撤销全部", [RestoreAll()]),
        ("git checkout -f", [RestoreAll()]),
        ("git checkout HEAD -- .", [RestoreAll("HEAD")]),
        ("git restore --staged --worktree .", [RestoreAll()]),
        ("git reset --hard", [RestoreAll()]),
        ("git reset --hard HEAD~1", [RestoreAll("HEAD~1")]),
        ("git reset --hard origin/main", [RestoreAll("origin/main")]),
        ("git stash && git stash drop", [RestoreAll()]),
        ("git stash -u; git stash drop", [RestoreAll()]),
        ("git stash, then git stash drop", [RestoreAll()]),
        # the branch
        ("git reset --soft HEAD~1", [MoveBranch("soft", "HEAD~1")]),
        ("git reset --mixed", [MoveBranch("mixed")]),
        ("git reset HEAD~1", [MoveBranch("mixed", "HEAD~1")]),
        ("git checkout dev", [SwitchBranch("dev")]),
        ("git checkout feature/x", [SwitchBranch("feature/x")]),
        ("git switch main", [SwitchBranch("main")]),
        ("git switch main回到主线", [SwitchBranch("main")]),
        ("git switch 功能", [SwitchBranch("功能")]),
        # new things, removals, reverts
        ("git clean -fd", [CleanNew()]),
        ("git clean -fd 清掉新文件", [CleanNew()]),
        ("git clean -f -d src/api docs", [CleanNew(("src/api", "docs"))]),
        ("rm -rf build src/api", [RemovePaths(("build", "src/api"))]),
        ("删除 tmp.json", [RemovePaths(("tmp.json",))]),
        ("删除临时文件tmp.json", [RemovePaths(("tmp.json",))]),
        ("删除 `docs/x y.md`", [RemovePaths(("docs/x y.md",))]),
        ("删除新增的 tmp.json、b.ts", [RemovePaths(("tmp.json", "b.ts"))]),
        ("delete the temporary file tmp.json", [RemovePaths(("tmp.json",))]),
        ("remove tmp.json and b.ts", [RemovePaths(("tmp.json", "b.ts"))]),
        ("delete folder build", [RemovePaths(("build",))]),
        ("git revert HEAD", [RevertCommit("HEAD")]),
        ("git revert --no-edit abc1234 撤销", [RevertCommit("abc1234")]),
        # nothing to do
        ("[本步只读不写，无需回退]", [Nothing()]),
        ("read-only", [Nothing()]),
        ("nothing to undo", [Nothing()]),
        ("no rollback needed", [Nothing()]),
        # several
        ("git checkout src/a.ts\ngit clean -fd", [paths("src/a.ts"), CleanNew()]),
        ("git checkout src/a.ts; rm b.ts", [paths("src/a.ts"), RemovePaths(("b.ts",))]),
        ("分别用 git checkout src/a.ts 和 git checkout b.ts 撤销", [paths("src/a.ts"), paths("b.ts")]),
    ],
)
def test_commands_become_actions(text: str, actions: list[Action]) -> None:
    hint = read(text)
    assert (list(hint.actions), hint.by_hand, hint.refused, hint.executable) == (actions, (), (), True)


@pytest.mark.parametrize(
    ("text", "target", "found"),
    [
        (
            "[若 edit_file 失败，回退到 CHECKPOINT 6（替换前），用 git checkout src/utils/date.ts 撤销]",
            "C6",
            ("src/utils/date.ts",),
        ),
        ("[若替换失败，git checkout src/utils/date.ts 回到 C1 后状态]", "C1", ("src/utils/date.ts",)),
        ("[回退到 C5（date.ts 已完成），git checkout src/api/time.ts]", "C5", ("src/api/time.ts",)),
        ("git checkout src/a.ts撤销", None, ("src/a.ts",)),
        ("git checkout src/a.ts和b.ts", None, ("src/a.ts", "b.ts")),
        ("git checkout src/a.ts、b.ts，再重试", None, ("src/a.ts", "b.ts")),
        ("git checkout src/a.ts（替换前）", None, ("src/a.ts",)),
        ("git checkout 文档/说明.md撤销", None, ("文档/说明.md",)),
        ("用 git checkout 恢复 src/a.ts", None, ("src/a.ts",)),
        ("用 git 恢复 src/a.ts", None, ("src/a.ts",)),
        ("撤销对 src/a.ts 的修改，回到 C6", "C6", ("src/a.ts",)),
        ("restore src/a.ts from C1", "C1", ("src/a.ts",)),
        ("revert the changes to src/a.ts and b.ts", None, ("src/a.ts", "b.ts")),
        ("undo changes in `src/a.ts`", None, ("src/a.ts",)),
        ("git checkout to restore src/a.ts", None, ("src/a.ts",)),
        ("用 `git checkout src/a.ts` 撤销", None, ("src/a.ts",)),
        ("「git checkout src/a.ts」", None, ("src/a.ts",)),
        ("git checkout my file.txt", None, ("my file.txt",)),
        ("""git checkout "my file.txt" 'b.ts' `src/a.ts`""", None, ("my file.txt", "b.ts", "src/a.ts")),
        ("git checkout app/[id]/page.tsx", None, ("app/[id]/page.tsx",)),
        ("git checkout app/(auth)", None, ("app/(auth)",)),
        ("Git Checkout src/a.ts", None, ("src/a.ts",)),
        ("git checkout C6 -- src/a.ts", "C6", ("src/a.ts",)),
        ("git checkout src/a.ts 撤销 C7", None, ("src/a.ts",)),
        ("若 C7 的替换失败则 git checkout src/a.ts", None, ("src/a.ts",)),
        ("不要用 git reset --hard，用 git checkout src/a.ts", None, ("src/a.ts",)),
        ("git checkout main", None, ("main",)),
    ],
)
def test_prose_around_the_paths(text: str, target: str | None, found: tuple[str, ...]) -> None:
    assert read(text) == Hint(target, (RestorePaths(found),), (), (), True)


@pytest.mark.parametrize(
    ("text", "actions", "by_hand"),
    [
        ("npm uninstall x", [], ["npm uninstall x"]),
        ("`npm uninstall x`", [], ["npm uninstall x"]),
        ("还原变量 COUNT", [], ["还原变量 COUNT"]),
        ("把 src/a.ts 改回 C1 的版本", [], ["把 src/a.ts 改回 C1 的版本"]),
        ("back to C6, keep b.ts", [], ["back to C6, keep b.ts"]),
        ("还原 src/a.ts 中的变量 X", [], ["还原 src/a.ts 中的变量 X"]),
        ("restart the server", [], ["restart the server"]),
        ("回退到 C6，npm uninstall x", [RestoreAll()], ["npm uninstall x"]),
        ("git checkout src/a.ts，重置环境变量 FOO", [paths("src/a.ts")], ["重置环境变量 FOO"]),
        ("git checkout src/a.ts && npm uninstall x", [paths("src/a.ts")], ["npm uninstall x"]),
        ("rm tmp.json; docker compose down", [RemovePaths(("tmp.json",))], ["docker compose down"]),
        ("git checkout src/a.ts | tee log", [paths("src/a.ts")], ["| tee log"]),
        ("git checkout src/a.ts > /dev/null 2>&1", [paths("src/a.ts")], ["> /dev/null 2>&1"]),
        ("git checkout src/a.ts || git reset --hard", [paths("src/a.ts")], ["|| git reset --hard"]),
        ("git checkout src/a.ts 或者 git reset --hard", [paths("src/a.ts")], ["git reset --hard"]),
        ("git checkout -- b.ts $(rm src/a.ts)", [paths("b.ts")], ["$(rm src/a.ts)"]),
        ("git diff | git apply -R", [], ["git diff | git apply -R"]),
        ("cd src && git checkout b.ts", [], ["cd src && git checkout b.ts"]),
        ("git -C /etc checkout b.ts", [], ["git -C /etc checkout b.ts"]),
        ("sh -c 'touch PWN; rm b.ts'", [], ["sh -c 'touch PWN; rm b.ts'"]),
        ("git checkout --foo", [], ["git checkout --foo"]),
        ("git checkout --pathspec-from-file=list", [], ["git checkout --pathspec-from-file=list"]),
        ("git checkout -b new", [], ["git checkout -b new"]),
        ("git clean -fdx", [], ["git clean -fdx"]),
        ("git stash pop", [], ["git stash pop"]),
        ("delete src/a.ts imports", [], ["delete src/a.ts imports"]),
        ("删除 src/a.ts 中的 import", [], ["删除 src/a.ts 中的 import"]),
        ("delete test data", [], ["delete test data"]),
    ],
)
def test_other_commands_are_left_to_a_person(text: str, actions: list[Action], by_hand: list[str]) -> None:
    hint = read(text)
    assert (list(hint.actions), list(hint.by_hand), hint.refused, hint.executable) == (actions, by_hand, (), True)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "回滚",
            "撤销",
            "撤销本步修改",
            "roll back",
            "undo it",
            "revert the changes",
            "none",
            "删临时文件",
            "delete it",
        ),
        *(
            "git checkout",
            "use git checkout.",
            "git checkout ...",
            "git checkout to revert the file",
            "git revert the commit",
        ),
        *(
            "git reset HEAD src/a.ts",
            "git revert HEAD~2..HEAD",
            "make sure nothing broke",
            "don't run git clean -fd",
            "",
        ),
    ],
)
def test_what_names_no_action_is_not_executable(text: str) -> None:
    hint = read(text)
    assert (hint.actions, hint.refused, hint.executable) == ((), (), False)


OUTSIDE, MAGIC = "outside the work tree", "pathspec magic; write the path itself"
ABSENT = "names nothing in the target or in the work tree"


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("git checkout ../../etc/passwd", [("../../etc/passwd", "may lead out of the work tree")]),
        ("git checkout src/../../x", [("src/../../x", "may lead out of the work tree")]),
        ("git checkout /etc/passwd", [("/etc/passwd", OUTSIDE)]),
        ("rm -rf ~/x", [("~/x", OUTSIDE)]),
        ("rm -rf /", [("/", OUTSIDE)]),
        ("rm -rf .", [(".", "the whole work tree")]),
        ("git checkout :(glob)**", [(":(glob)**", MAGIC)]),
        ("git checkout :/", [(":/", MAGIC)]),
        ("git checkout -- ':(top)src'", [(":(top)src", MAGIC)]),
        ("git checkout .git/config", [(".git/config", "inside git's own directory")]),
        ("rm -rf .GIT", [(".GIT", "inside git's own directory")]),
        ("git checkout *.ts", [("*.ts", "a pattern; name the paths")]),
        ("git checkout $FILE", [("$FILE", "a variable; name the path")]),
        ("git checkout src/a.tsx", [("src/a.tsx", ABSENT)]),
        ("git checkout docs/说明.md", [("docs/说明.md", ABSENT)]),
        ("git checkout docs/说明", [("docs/说明", ABSENT)]),
        ("rm src/a.ts的备份.bak", [("src/a.ts的备份.bak", ABSENT)]),
        ("git checkout app/(auth)/x.ts", [("app/(auth)/x.ts", ABSENT)]),
        ("git clean -fd tmpx", [("tmpx", ABSENT)]),
        ("回退到 C6，git checkout src/gone.ts", [("src/gone.ts", ABSENT)]),
    ],
)
def test_paths_refused_by_name_widen_to_nothing(text: str, refused: list[tuple[str, str]]) -> None:
    hint = read(text)
    assert (hint.actions, hint.by_hand, list(hint.refused), hint.executable) == ((), (), refused, False)


def test_one_refused_path_does_not_hide_the_others() -> None:
    hint = read("git checkout src/missing.ts b.ts")
    assert (hint.actions, hint.refused) == ((paths("b.ts"),), (("src/missing.ts", ABSENT),))


def test_without_a_list_of_branches_switch_is_believed_and_checkout_is_not() -> None:
    assert parse_hint("git switch dev", exists=PATHS.__contains__).actions == (SwitchBranch("dev"),)
    assert parse_hint("git checkout dev", exists=PATHS.__contains__).actions == ()


def test_a_hint_beyond_all_length_is_left_to_a_person_unread() -> None:
    hint = read("git checkout b.ts " + "x" * 4_000 + " rm src/a.ts")
    assert hint.actions == (paths("b.ts"),)
    assert hint.by_hand[0].endswith("rm src/a.ts")


@pytest.mark.parametrize(
    ("text", "executable"),
    [
        ("git checkout src/utils/date.ts", True),
        ("git checkout src/a.ts撤销", True),
        ("git checkout Makefile", True),
        ("git checkout main", True),
        ("rm -rf build", True),
        ("删除 `docs/x y.md`", True),
        ("back to C6", True),
        ("npm uninstall x", True),
        ("本步只读不写，无需回退", True),
        ("git checkout . ", True),
        ("回滚", False),
        ("roll back", False),
        ("undo it", False),
        ("git checkout to revert the changes", False),
        ("git checkout ../../etc/passwd", False),
        ("remove the changes", False),
    ],
)
def test_executable_by_form_alone(text: str, executable: bool) -> None:
    assert is_executable_text(text) is executable


@pytest.mark.parametrize(
    "piece", ["git checkout ", "恢复", "回退到 C6 ", "git clean -fd ", "git checkout a/", "`", "若 C6 "]
)
def test_what_lies_beyond_the_first_commands_is_left_to_a_person(piece: str) -> None:
    start = time.monotonic()
    hint = parse_hint(piece * 20_000, exists=lambda path: False)
    assert [action for action in hint.actions if action not in (CleanNew(), RestoreAll())] == []
    assert sum(map(len, hint.by_hand)) >= 20_000 * len(piece) - 4_010
    assert time.monotonic() - start < 20  # a guard against hanging, no measurement


PIECES = st.sampled_from(
    [
        *(
            "git checkout ",
            "git restore ",
            "git reset --hard ",
            "git clean -fd ",
            "rm -rf ",
            "删除 ",
            "git stash ",
            "git revert ",
        ),
        *(
            "src/a.ts",
            "b.ts",
            "src",
            ".",
            "..",
            "../x",
            "/etc",
            ":(glob)x",
            ".git/hooks",
            "~",
            "*",
            "$(",
            "`",
            '"',
            "'",
            "$X",
        ),
        *(
            "撤销",
            "，",
            " ",
            " && ",
            "; ",
            " | ",
            " > ",
            "C6",
            "回退到 ",
            "back to ",
            "\n",
            "--",
            "-f",
            "--x=y",
            "HEAD~1",
            "不要 ",
            "\u202e",
        ),
    ]
)


def named_paths(hint: Hint) -> list[str]:
    return [path for action in hint.actions for path in getattr(action, "paths", ())]


@given(st.lists(PIECES, max_size=14).map("".join))
def test_whatever_the_text_only_known_paths_inside_the_work_tree_are_touched(text: str) -> None:
    hint = read(text)
    assert {path for path in named_paths(hint) if path not in PATHS or refusal(path)} == set()


@given(st.text(max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    hint = parse_hint(text, exists=lambda path: True, is_ref=lambda name: True)
    assert [path for path in named_paths(hint) if refusal(path)] == []


@given(st.lists(PIECES, max_size=10).map("".join))
def test_what_is_executable_says_what_to_do(text: str) -> None:
    hint = read(text)
    assert not hint.executable or hint.actions or hint.by_hand
    assert not hint.actions or hint.executable
