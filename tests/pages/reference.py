"""Writes signatures and docstrings of the public names into the pages of the reference.

    python -m tests.pages.reference

The site makes an entry from each line `:::` by itself. Readers of the files in a clone see the
entry that this module writes after that line, and the site leaves it out. Run the module when a
public signature or docstring has changed: a test compares the pages.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from textwrap import dedent
from typing import Any

from tests.pages.sections import Value, as_markdown

REFERENCE = Path(__file__).parent.parent.parent / "docs" / "reference"
BEGIN, END = "<!-- in a clone -->", "<!-- end -->"
# They keep `ruff format` from changing the examples, which the docstrings have as they are.
FORMAT_OFF, FORMAT_ON = "<!-- fmt: off -->", "<!-- fmt: on -->"
WRITTEN = re.compile(rf"\n*{BEGIN}\n.*?{END}\n", re.S)
ENTRY = re.compile(r"^::: (?P<name>matchrec\.[\w.]+)\n(?P<options>(?:    .*\n)*)", re.M)
MEMBERS = re.compile(r"members: (?:\[(?P<names>.*)\]|(?P<none>false))")
WIDTH = 100
MADE_BY_USERS = ("matchrec.Options", "matchrec.Counters")  # classes that are shown as calls


def with_text(page: str) -> str:
    """Return a page of the reference with what is written for each line `:::`, and nothing old."""
    return ENTRY.sub(
        lambda entry: f"{entry[0]}\n{BEGIN}\n{FORMAT_OFF}\n{describe(entry)}\n{FORMAT_ON}\n{END}\n",
        without_text(page),
    )


def without_text(page: str) -> str:
    """Return a page as the site reads it.

    >>> without_text("::: matchrec.sql\\n\\n<!-- in a clone -->\\ntext\\n<!-- end -->\\n\\nmore")
    '::: matchrec.sql\\n\\nmore'
    """
    return WRITTEN.sub("\n", page)


def describe(entry: re.Match[str]) -> str:
    """Return the text of one line `:::`: of the name, then of the members that it shows."""
    name = entry["name"]
    value = resolve_name(name)
    parts = [f"## {name}\n\n{part(name, value)}"]
    chosen = MEMBERS.search(entry["options"])
    if isinstance(value, type) and (chosen or not issubclass(value, Exception)):
        names = list(vars(value))
        if chosen:
            names = [] if chosen["none"] else chosen["names"].split(", ")
        hidden = re.findall(r'"!([^"]+)"', entry["options"]) or ["^_"]  # `filters` of the site
        for member in names:
            if any(re.search(pattern, member) for pattern in hidden):
                continue
            text = part(f"{name}.{member}", inspect.getattr_static(value, member))
            if text:
                parts.append(f"### {name.rpartition('.')[2]}.{member}\n\n{text}")
    return "\n\n".join(parts)


def part(name: str, value: Any) -> str:
    """Return the signatures of one name and its docstring; nothing for a plain field."""
    values: dict[str, Value] = {}
    if isinstance(value, property):
        value = value.fget
        (function,) = definitions(value)
        signatures = [f"{name}: {ast.unparse(function.returns)}" if function.returns else name]
    elif isinstance(value, type):
        values = list_fields(value)
        signatures = [f"class {call(name, values) if name in MADE_BY_USERS else name}"]
    elif callable(getattr(value, "__func__", value)):
        value = inspect.unwrap(getattr(value, "__func__", value))
        signatures = [signature(name, function) for function in definitions(value)]
        for function in definitions(value):
            for argument, argument_value in list_arguments(function):
                values.setdefault(argument, argument_value)
    else:
        return ""
    code = "\n".join(signatures)
    docstring = as_markdown(inspect.cleandoc(value.__doc__ or ""), values)
    return f"```py\n{code}\n```\n\n{docstring}"


def definitions(function: Any) -> list[ast.FunctionDef]:
    """Return the definitions of a function in its source: its overloads, or its own."""
    module = ast.parse(Path(inspect.getfile(function)).read_text(encoding="utf-8"))
    *owner, own = function.__qualname__.split(".")
    body: list[ast.stmt] = module.body
    if owner:
        body = next(
            one.body for one in body if isinstance(one, ast.ClassDef) and one.name == owner[-1]
        )
    found = [one for one in body if isinstance(one, ast.FunctionDef) and one.name == own]
    overloads = [one for one in found if "overload" in map(ast.unparse, one.decorator_list)]
    definitions = overloads or found[-1:]
    for definition in definitions:
        if owner and "staticmethod" not in map(ast.unparse, definition.decorator_list):
            first = definition.args.posonlyargs or definition.args.args
            del first[:1]  # self
    return definitions


def signature(name: str, function: ast.FunctionDef) -> str:
    """Return the signature of a function under its public name."""
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return in_lines(name, ast.unparse(function.args), returns)


def list_arguments(function: ast.FunctionDef) -> Iterator[tuple[str, Value]]:
    """Yield the arguments of a function by name, with their types and defaults."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    missing = len(positional) - len(given.defaults)
    defaults: list[ast.expr | None] = [*[None] * missing, *given.defaults, *given.kw_defaults]
    for argument, default in zip([*positional, *given.kwonlyargs], defaults, strict=True):
        type_ = ast.unparse(argument.annotation) if argument.annotation else None
        yield argument.arg, Value(type_, ast.unparse(default) if default else None)


def list_fields(class_: type) -> dict[str, Value]:
    """Return the fields of a class by name, with the types and defaults in its source."""
    (definition,) = ast.parse(dedent(inspect.getsource(class_))).body
    assert isinstance(definition, ast.ClassDef)
    result = {}
    for statement in definition.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            default = ast.unparse(statement.value) if statement.value else None
            if default and default.startswith("field("):
                default = None
            type_ = ast.unparse(statement.annotation).replace("arguments.", "")
            result[statement.target.id] = Value(type_, default)
    return result


def call(name: str, fields: dict[str, Value]) -> str:
    """Return the call that makes an instance of a class."""
    parameters = (f"{field}: {value.type}={value.default}" for field, value in fields.items())
    return in_lines(name, ", ".join(parameters), "")


def in_lines(name: str, parameters: str, returns: str) -> str:
    """Return a call in one line, or with each parameter in a line of its own.

    >>> in_lines("f", "a: int=1, *, b: dict[str, int]", " -> None")
    'f(a: int = 1, *, b: dict[str, int]) -> None'
    """
    parted = [spaced(parameter) for parameter in split_parameters(parameters)]
    line = f"{name}({', '.join(parted)}){returns}"
    if len(line) <= WIDTH:
        return line
    inner = "".join(f"    {one},\n" for one in parted)
    return f"{name}(\n{inner}){returns}"


def split_parameters(parameters: str) -> Iterator[str]:
    """Yield parameters, which are parted by the commas that are in no brackets."""
    depth, begin = 0, 0
    for at, character in enumerate(parameters):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            yield parameters[begin:at].strip()
            begin = at + 1
    if parameters[begin:].strip():
        yield parameters[begin:].strip()


def spaced(parameter: str) -> str:
    """Return a parameter with blanks around the `=` after its type."""
    name, annotated, rest = parameter.partition(":")
    return f"{name}:{re.sub(r' ?= ?', ' = ', rest)}" if annotated else parameter


def main() -> None:
    for page in sorted(REFERENCE.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if ENTRY.search(text):
            page.write_text(with_text(text), encoding="utf-8")


if __name__ == "__main__":
    main()
