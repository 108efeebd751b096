"""The layers of the package, as docs/design.md draws them, and that the code keeps to them.

Imports go down only, those inside functions too. What stands on one row may name each other's types and no more. The
package's own `__init__` and `__main__` are its doors: they stand above all, and anybody may ask the version.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import gitckpt

PACKAGE = Path(gitckpt.__file__).parent
DESIGN = Path(__file__).parents[1] / "docs" / "design.md"

DOORS = ("gitckpt", "__main__")

#: Packages without a clock, files, chance or other processes, and what they may therefore not import.
PURE = ("protocol", "trajectory", "views")
IMPURE = frozenset((
    "asyncio", "concurrent", "datetime", "fcntl", "glob", "git", "http", "io", "logging", "multiprocessing", "os",
    "pathlib", "pty", "random", "resource", "secrets", "select", "shutil", "signal", "socket", "subprocess", "sys",
    "tempfile", "termios", "threading", "time", "tty", "typer", "urllib.request", "uuid",
))  # fmt: skip
IMPURE_CALLS = frozenset(("open", "input", "print", "exec", "eval", "__import__"))

#: What is dear or dangerous, and who alone may import it.
ONLY_BY = {
    "typer": {"cli"},
    "rich": {"cli"},
    "git": {"repo", "demo"},
    "subprocess": {"repo", "process"},
    "pydantic": {"config", "views", "toolbox", "loop"},
    "mcp.server": {"mcp"},
    "openai": {"loop"},
    "matplotlib": {"loop"},
}

LINES_OF_A_MODULE = 350


class Import(NamedTuple):
    """One import: who imports what, and where; `typing` where for a type checker only."""

    module: str
    line: int
    name: str
    typing: bool

    @property
    def importer(self) -> str:
        return part(self.module)

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.name}"


def part(module: str) -> str:
    """The part of the package that a module belongs to; the package itself for its own `__init__`."""
    name = module.split(".")[1] if "." in module else module
    return name.removesuffix("_file")  # the file of the configuration is a part of the configuration


class Module(NamedTuple):
    """A module as text, and as Python reads it."""

    text: str
    tree: ast.Module


@cache
def modules() -> dict[str, Module]:
    """All modules of the package by their full names."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        names = path.relative_to(PACKAGE.parent).with_suffix("").parts
        text = path.read_text()
        found[".".join(names[:-1] if names[-1] == "__init__" else names)] = Module(text, ast.parse(text))
    return found


def names_imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    assert node.level == 0, "an import says in full what it imports"
    names = [f"{node.module}.{alias.name}" for alias in node.names]
    return [name if name in modules() else str(node.module) for name in names]


@cache
def imports() -> list[Import]:
    return [
        Import(module, getattr(node, "lineno", 0), name, node in typing)
        for module, (_, tree) in modules().items()
        for typing in [for_typing(tree)]
        for node in ast.walk(tree)
        for name in dict.fromkeys(names_imported(node))
    ]


def for_typing(tree: ast.Module) -> set[ast.AST]:
    """What stands under `if TYPE_CHECKING`."""
    conditions = [node for node in tree.body if isinstance(node, ast.If)]
    return {inner for node in conditions if ast.unparse(node.test) == "TYPE_CHECKING" for inner in ast.walk(node)}


def own_imports() -> list[Import]:
    return [found for found in imports() if found.name.partition(".")[0] == "gitckpt"]


def foreign_imports() -> list[Import]:
    return [found for found in imports() if found.name.partition(".")[0] != "gitckpt"]


def is_impure(name: str) -> bool:
    return name in IMPURE or name.partition(".")[0] in IMPURE


def rows() -> list[set[str]]:
    """The diagram, top first."""
    [diagram] = re.findall(r"^```layers\n(.*?)^```$", DESIGN.read_text(), re.DOTALL | re.MULTILINE)
    return [set(line.split()) for line in diagram.splitlines()]


@cache
def heights() -> dict[str, int]:
    """How high each part stands: the higher may import the lower."""
    drawn = {name: height for height, row in enumerate(reversed(rows())) for name in row}
    return drawn | dict.fromkeys(DOORS, len(drawn))


def is_allowed(found: Import) -> bool:
    importer, imported = found.importer, part(found.name)
    if imported in (importer, "gitckpt"):
        return True
    difference = heights()[importer] - heights()[imported]
    return difference > 0 or (difference == 0 and found.typing)


def test_the_diagram_names_each_part_of_the_package_and_nothing_else() -> None:
    assert set().union(*rows(), DOORS) == {part(module) for module in modules()}
    assert sum(len(row) for row in rows()) == len(heights()) - len(DOORS)


def test_imports_go_down_only() -> None:
    assert [str(found) for found in own_imports() if not is_allowed(found)] == []


def test_no_two_modules_need_each_other_to_be_imported() -> None:
    needs = {
        module: {name for node in tree.body for name in names_imported(node) if name in modules()}
        for module, (_, tree) in modules().items()
    }
    assert [(one, other) for one in needs for other in needs[one] if one in needs[other]] == []


def test_each_foreign_package_is_imported_only_where_it_belongs() -> None:
    wrong = [
        str(found)
        for found in foreign_imports()
        if found.importer not in ONLY_BY.get(found.name.partition(".")[0], {found.importer})
    ]
    assert wrong == []


def test_pure_packages_import_nothing_that_touches_the_world() -> None:
    assert [str(found) for found in foreign_imports() if found.importer in PURE and is_impure(found.name)] == []


def test_pure_packages_open_and_run_nothing() -> None:
    wrong = [
        f"{module}:{node.lineno} calls {node.func.id}"
        for module, (_, tree) in modules().items()
        for node in (ast.walk(tree) if part(module) in PURE else ())
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS
    ]
    assert wrong == []


def test_no_module_is_longer_than_a_person_reads_at_once() -> None:
    lengths = {module: len(text.splitlines()) for module, (text, _) in modules().items()}
    assert {module: length for module, length in lengths.items() if length >= LINES_OF_A_MODULE} == {}


def test_each_module_says_what_it_is_for() -> None:
    assert [module for module, (_, tree) in modules().items() if not ast.get_docstring(tree)] == []
