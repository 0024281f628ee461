"""Names in texts exist: "see `name`" and `Raises:` in the package, and paths of files."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import pyarrow as pa
import pytest
from pyspark import errors

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "matchrec"
MODULES = {path: path.relative_to(PACKAGE).with_suffix("").parts for path in PACKAGE.rglob("*.py")}
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").rglob("README.md")]
SEE = re.compile(r"\bsee\s+(?:#\s+)?`([\w.]+)`", re.IGNORECASE)
# The lines after `Raises:`, and the names in one of them: `ArrowException, OSError: ...`.
RAISES = re.compile(r"^( *)Raises:\n((?:\1    .*\n|\n)+)", re.M)
RAISED = re.compile(r"([\w.]+(?:, [\w.]+)*):")
FILE = re.compile(r"`((?:[a-z_.]+/)+[a-z_\d.]+\.(?:py|txt|md|test))`")
HISTORY = {"CHANGELOG.md"}  # it may name files that do not exist any more


@cache
def list_names(path: Path) -> frozenset[str]:
    """Return all names in a module: of modules, classes, functions, parameters, fields, values."""
    return frozenset(_names(ast.parse(path.read_text(encoding="utf-8"))))


def _names(tree: ast.AST) -> Iterator[str]:
    """Yield all names in a module, some more than once."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.alias(name=name):
                yield name


def find_modules(name: tuple[str, ...]) -> Iterator[Path]:
    """Yield the modules and packages whose dotted name ends with some names."""
    for path, parts in MODULES.items():
        module_name = parts[:-1] if parts[-1] == "__init__" else parts
        if module_name and ("matchrec", *module_name)[-len(name) :] == name:
            yield path


def exists(pointer: str, current_module: Path) -> bool:
    """Return whether a name is in the current module, or in the module that the pointer names."""
    parts = tuple(pointer.split("."))
    for length in range(len(parts), 0, -1):
        for module in find_modules(parts[:length]):
            if set(parts[length:]) <= list_names(module):
                return True
    defined = (path for path in MODULES if {*parts} <= list_names(path))
    return {*parts} <= list_names(current_module) or (parts[0][0].isupper() and any(defined))


@pytest.mark.parametrize("path", sorted(MODULES), ids=lambda path: str(path.relative_to(ROOT)))
def test_names_after_see_exist(path: Path) -> None:
    pointers = SEE.findall(path.read_text(encoding="utf-8"))
    assert [pointer for pointer in pointers if not exists(pointer, path)] == []


def list_raised(path: Path) -> Iterator[str]:
    """Yield the names of errors after `Raises:` in the docstrings of a module."""
    for indent, lines in RAISES.findall(path.read_text(encoding="utf-8")):
        for line in lines.splitlines():
            entry = RAISED.match(line.removeprefix(f"{indent}    "))
            if entry is not None:
                yield from entry[1].split(", ")


def is_error(name: str, current_module: Path) -> bool:
    """Return whether a name is an error of the package, of Python, or of a library."""
    if "." in name:
        error: object = resolve_name(name)
        return isinstance(error, type) and issubclass(error, BaseException)
    return exists(name, current_module) or any(
        hasattr(module, name) for module in (builtins, errors, pa)
    )


@pytest.mark.parametrize("path", sorted(MODULES), ids=lambda path: str(path.relative_to(ROOT)))
def test_errors_that_a_docstring_names(path: Path) -> None:
    assert [name for name in list_raised(path) if not is_error(name, path)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_a_page_names(page: Path) -> None:
    if page.name in HISTORY:
        return
    folders = ROOT, PACKAGE, ROOT / "tests", ROOT / "docs", page.parent
    for file in FILE.findall(page.read_text(encoding="utf-8")):
        assert any((folder / file).exists() for folder in folders), file
