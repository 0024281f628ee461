"""Writes signatures and first sentences of the public names into the pages of the reference.

    python -m tests.pages.reference

The site shows the whole docstring in place of each line `:::`. Who reads the files in a clone sees
what is written here, after that line; the site leaves it out. Run it when a public signature or the
first sentence of a docstring has changed: a test compares the pages.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

REFERENCE = Path(__file__).parent.parent.parent / "docs" / "reference"
BEGIN, END = "<!-- in a clone -->", "<!-- end -->"
WRITTEN = re.compile(rf"\n*{BEGIN}\n.*?{END}\n", re.S)
ENTRY = re.compile(r"^::: (?P<name>matchrec\.[\w.]+)\n(?P<options>(?:    .*\n)*)", re.M)
MEMBERS = re.compile(r"members: (?:\[(?P<names>.*)\]|(?P<none>false))")
WIDTH = 100
MADE_BY_USERS = ("matchrec.Options", "matchrec.Counters")  # classes that are shown as calls


def with_text(page: str) -> str:
    """Return a page of the reference with what is written for each line `:::`, and nothing old."""
    return ENTRY.sub(
        lambda entry: f"{entry[0]}\n{BEGIN}\n{described(entry)}\n{END}\n", without_text(page)
    )


def without_text(page: str) -> str:
    """Return a page as the site reads it.

    >>> without_text("::: matchrec.sql\\n\\n<!-- in a clone -->\\ntext\\n<!-- end -->\\n\\nmore")
    '::: matchrec.sql\\n\\nmore'
    """
    return WRITTEN.sub("\n", page)


def described(entry: re.Match[str]) -> str:
    """Return the text of one line `:::`: of the name, then of the members that it shows."""
    name = entry["name"]
    value = resolve_name(name)
    parts = [part(name, value)]
    chosen = MEMBERS.search(entry["options"])
    if isinstance(value, type) and not issubclass(value, Exception):
        names = list(vars(value))
        if chosen:
            names = [] if chosen["none"] else chosen["names"].split(", ")
        hidden = re.findall(r'"!([^"]+)"', entry["options"]) or ["^_"]  # `filters` of the site
        shown = (one for one in names if not any(re.search(each, one) for each in hidden))
        parts += [part(f"{name}.{one}", inspect.getattr_static(value, one)) for one in shown]
    return "\n\n".join(filter(None, parts))


def part(name: str, value: Any) -> str:
    """Return the signatures of one name and its first sentence; nothing for a plain field."""
    if isinstance(value, property):
        value = value.fget
        signatures = [name]
    elif isinstance(value, type):
        fields = call(name, inspect.signature(value)) if name in MADE_BY_USERS else name
        signatures = [f"class {fields}"]
    elif callable(getattr(value, "__func__", value)):
        value = getattr(value, "__func__", value)
        signatures = list(written_signatures(name, inspect.unwrap(value)))
    else:
        return ""
    code = "\n".join(signatures)
    return f"```py\n{code}\n```\n\n{first_sentence(value)}"


def written_signatures(name: str, function: Any) -> Iterator[str]:
    """Yield the signatures of a function as its source has them: its overloads, or its own."""
    module = ast.parse(Path(inspect.getfile(function)).read_text(encoding="utf-8"))
    *owner, own = function.__qualname__.split(".")
    body: list[ast.stmt] = module.body
    if owner:
        body = next(
            one.body for one in body if isinstance(one, ast.ClassDef) and one.name == owner[-1]
        )
    found = [one for one in body if isinstance(one, ast.FunctionDef) and one.name == own]
    overloads = [one for one in found if "overload" in map(ast.unparse, one.decorator_list)]
    for one in overloads or found[-1:]:
        if owner and "staticmethod" not in map(ast.unparse, one.decorator_list):
            first = one.args.posonlyargs or one.args.args
            del first[:1]  # self
        returns = f" -> {ast.unparse(one.returns)}" if one.returns else ""
        yield in_lines(name, ast.unparse(one.args), returns)


def call(name: str, signature: inspect.Signature) -> str:
    parameters = (
        str(one).replace("'", "").replace("arguments.", "") for one in signature.parameters.values()
    )
    return in_lines(name, ", ".join(parameters), "")


def in_lines(name: str, parameters: str, returns: str) -> str:
    """Return a call in one line, or with each parameter in a line of its own.

    >>> in_lines("f", "a: int=1, *, b: dict[str, int]", " -> None")
    'f(a: int = 1, *, b: dict[str, int]) -> None'
    """
    parted = [spaced(one) for one in split_parameters(parameters)]
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


def first_sentence(value: Any) -> str:
    """Return the first sentence of a docstring.

    >>> first_sentence(first_sentence)
    'Return the first sentence of a docstring.'
    """
    paragraph = " ".join(inspect.cleandoc(value.__doc__ or "").split("\n\n")[0].split())
    sentence = re.match(r".+?[.!?](?=\s|$)", paragraph)
    return sentence[0] if sentence else paragraph


def main() -> None:
    for page in sorted(REFERENCE.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if ENTRY.search(text):
            page.write_text(with_text(text), encoding="utf-8")


if __name__ == "__main__":
    main()
