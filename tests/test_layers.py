"""Imports go one way, only some layers use third parties, modules and functions are small."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from matchrec.jit.sources import ENUM_SOURCES, SOURCE_FOLDERS

PACKAGE = Path(__file__).parent.parent / "matchrec"
MODULES = sorted(PACKAGE.rglob("*.py"))

IMPORTED_BY_ALL = {"shortcuts", "public_names"}  # the layers that each layer may import

# The other layers that each layer may import. A layer is a package or a module of matchrec. A
# subpackage is a layer if it may import more than its package, or if others may import only it.
MAY_IMPORT = {
    "source": set(),
    "errors": {"source"},
    "arguments": {"errors"},
    "warnings": {"errors"},
    "types": {"source", "arguments", "api", "compile", "explain", "explain.charts"},
    "loading": set(),
    "signatures": set(),
    "public_names": set(),
    "memory": set(),
    "shortcuts": set(),
    "jit": {"loading"},
    "plan": {"source", "errors"},
    "conditions": {"source", "errors", "plan"},
    "conditions.evaluate": {"source", "errors", "jit", "plan", "conditions"},
    "explain.pictures": {"errors", "arguments", "plan"},
    "explain.charts": {"errors", "arguments", "plan", "source", "explain.pictures"},
    "syntax": {"source", "errors", "arguments", "plan"},
    "patterns": {"source", "errors", "arguments", "plan", "syntax", "explain.pictures"},
    "dialects": {"source", "errors", "plan", "syntax"},
    "dialects.writing": {"source", "errors", "plan", "syntax", "dialects", "patterns"},
    "automaton": {"source", "errors", "plan"},
    "compile.pruning": {"plan", "conditions", "automaton"},
    "search": {
        "memory",
        "source",
        "errors",
        "arguments",
        "jit",
        "plan",
        "conditions",
        "automaton",
        "conditions.evaluate",
    },
    "output": {
        "source",
        "errors",
        "jit",
        "plan",
        "conditions",
        "automaton",
        "conditions.evaluate",
        "search",
    },
    "compile": {
        "source",
        "errors",
        "plan",
        "conditions",
        "automaton",
        "compile.pruning",
        "conditions.evaluate",
        "search",
        "output",
    },
    "worker": {
        "loading",
        "memory",
        "source",
        "errors",
        "arguments",
        "plan",
        "conditions",
        "search",
        "output",
        "compile",
    },
    "explain": {
        "source",
        "errors",
        "arguments",
        "explain.pictures",
        "plan",
        "conditions",
        "automaton",
        "compile.pruning",
        "conditions.evaluate",
        "search",
        "output",
        "compile",
    },
    "explain.tracing": {
        "compile",
        "arguments",
        "source",
        "errors",
        "explain.pictures",
        "jit",
        "plan",
        "conditions",
        "automaton",
        "conditions.evaluate",
        "search",
        "explain",
    },
    "spark": {
        "loading",
        "memory",
        "source",
        "errors",
        "arguments",
        "jit",
        "plan",
        "explain.pictures",
        "conditions",
        "search",
        "output",
        "compile",
        "compile.pruning",
        "worker",
    },
    "api": {
        "loading",
        "source",
        "errors",
        "arguments",
        "jit",
        "plan",
        "explain.pictures",
        "syntax",
        "patterns",
        "dialects",
        "dialects.writing",
        "automaton",
        "compile.pruning",
        "search",
        "compile",
        "explain",
        "explain.tracing",
        "worker",
        "spark",
        "explain.charts",
    },
    "cli": {
        "loading",
        "source",
        "errors",
        "arguments",
        "plan",
        "syntax",
        "dialects",
        "patterns",
        "jit",
        "explain.pictures",
        "spark",
        "explain.charts",
        "api",
        "gateway",
    },
    "gateway": {"errors", "arguments", "syntax", "spark", "api"},
    "notebook": {
        "source",
        "errors",
        "arguments",
        "plan",
        "syntax",
        "dialects",
        "patterns",
        "explain.pictures",
        "spark",
        "explain.charts",
        "api",
        "cli",
    },
}

THIRD_PARTIES = {
    "sqlglot": {"syntax", "dialects", "errors"},  # errors look up Spark's names of functions in it
    "numba": {"jit"},
    "llvmlite": set(),
    "numpy": {
        "jit",
        "automaton",
        "conditions.evaluate",
        "search",
        "output",
        "explain.tracing",
        "worker",
        "spark",
    },
    "pyarrow": {"worker", "spark", "api", "gateway"},
    "pandas": {
        "explain.pictures",
        "explain.charts",
        "explain",
        "explain.tracing",
        "spark",
        "api",
        "cli",
    },
    "py4j": {"spark"},
    "pysail": {"spark"},
    "pyspark": {"worker", "spark", "api", "explain.charts", "cli", "notebook", "gateway"},
    "grpc": {"gateway"},
    "google": {"gateway", "spark"},
    "IPython": {"notebook"},
    "click": {"cli", "__main__"},
    "rich": {"spark", "cli"},
    "matplotlib": {"explain.pictures", "explain", "explain.tracing", "explain.charts", "cli"},
    "railroad": {"explain.pictures"},
}


def find_layer(module: Path) -> str:
    """Return the layer of a module of matchrec."""
    return find_layer_of_names(module.relative_to(PACKAGE).with_suffix("").parts)


def find_layer_of_names(names: Sequence[str]) -> str:
    """Return the layer of a module of matchrec, given its dotted name as a list."""
    part = ".".join(names[:2])
    return part if part in MAY_IMPORT else names[0]


@cache
def list_nodes(module: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a module."""
    return tuple(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))


def list_imports(module: Path) -> Iterator[str]:
    """Yield the dotted names of all modules that a module imports, anywhere in it."""
    for node in list_nodes(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "matchrec":
                yield from (f"matchrec.{alias.name}" for alias in node.names)
            else:
                yield node.module


def test_imports_go_one_way() -> None:
    for module in MODULES:
        layer = find_layer(module)
        names = (name.split(".") for name in list_imports(module))
        layers = {
            find_layer_of_names(name[1:]) for name in names if name[0] == "matchrec" and name[1:]
        }
        if layer in MAY_IMPORT:
            assert layers <= MAY_IMPORT[layer] | IMPORTED_BY_ALL | {layer}, module


def test_no_modules_import_each_other() -> None:
    """Imports for types only, and inside functions, count as well."""
    modules = {
        write_dotted_name(module): module for module in MODULES if module.name != "__init__.py"
    }
    needed = {
        name: modules.keys() & {*list_imports(module), *list_members(module)}
        for name, module in modules.items()
    }
    TopologicalSorter(needed).prepare()  # raises CycleError


def write_dotted_name(module: Path) -> str:
    """Return the dotted name of a module, such as `matchrec.plan.text`."""
    return ".".join(module.relative_to(PACKAGE.parent).with_suffix("").parts)


def list_members(module: Path) -> Iterator[str]:
    """Yield the names that a module imports from others. Each of them may be a module."""
    for node in list_nodes(module):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_third_parties_stay_where_they_belong() -> None:
    for module in MODULES:
        for name in list_imports(module):
            allowed = THIRD_PARTIES.get(name.split(".")[0])
            assert allowed is None or find_layer(module) in allowed, (module, name)


def test_a_client_of_connect_alone_is_enough() -> None:
    """`pyspark-client` has no SparkContext, so modules may not import it when they are loaded."""
    for module in MODULES:
        statements = ast.parse(module.read_text(encoding="utf-8")).body
        names = {node.module for node in statements if isinstance(node, ast.ImportFrom)}
        assert "pyspark" not in names, module


def test_all_that_machine_code_is_made_from_tells_whether_it_is_still_right() -> None:
    others = [module for module in MODULES if find_layer(module) != "cli"]
    views = "matchrec.jit.views"  # makes no machine code
    compiled = [
        module
        for module in others
        if any(name.startswith("matchrec.jit") and name != views for name in list_imports(module))
    ]
    layers = {
        find_layer_of_names(name.split(".")[1:])
        for module in compiled
        for name in list_imports(module)
        if "." in name
    }
    folders = {name.replace(".", "/") for name in layers | set(map(find_layer, compiled))}
    not_in_kernels = {"plan", "conditions", "errors"}  # trees and messages, which no kernel reads
    packages = {folder for folder in folders if (PACKAGE / folder).is_dir()}
    assert packages - not_in_kernels <= set(SOURCE_FOLDERS)
    kernels = [
        module for module in MODULES if "kernels" in module.parts or module.stem == "kernels"
    ]
    imported = {
        name for module in kernels for name in list_imports(module) if name.startswith("matchrec.")
    }
    files = {f"{name.removeprefix('matchrec.').replace('.', '/')}.py" for name in imported}
    other_files = {name for name in files if not name.startswith(SOURCE_FOLDERS)}
    assert {name for name in other_files if (PACKAGE / name).exists()} <= {
        *ENUM_SOURCES,
        "memory.py",
    }


def test_every_layer_is_known() -> None:
    layers = {*MAY_IMPORT, "__init__", "__main__"}
    assert {find_layer(module) for module in MODULES} <= layers


def test_a_room_lists_modules_that_are_there() -> None:
    """The docstring of a package lists modules. A block with `$` is an example."""
    for package in (module.parent for module in MODULES if module.name == "__init__.py"):
        text = (
            ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
            or ""
        )
        blocks = [block for block in text.split("\n\n") if "$ " not in block]
        listed = {
            name
            for block in blocks
            for name in re.findall(r"^ *([a-z_]+)  +\S", block, re.MULTILINE)
        }
        assert listed - {path.stem for path in package.iterdir()} == set(), package


def test_modules_stay_small() -> None:
    lines = {module: module.read_text(encoding="utf-8").count("\n") for module in MODULES}
    assert [module for module in MODULES if lines[module] > 800] == []


def test_functions_stay_small() -> None:
    for module in MODULES:
        most = 80 if "kernels" in str(module) else 40
        for node in list_nodes(module):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = (node.end_lineno or 0) - body[0].lineno if body else 0
                assert lines < most, (module, node.name)
