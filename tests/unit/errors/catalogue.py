"""Find the functions in `matchrec/errors` that make errors and warnings, by reading its files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path

from matchrec import errors
from matchrec.errors.kinds import Located
from matchrec.errors.lengths import WITHIN_CLAUSE, Length, LengthAmount
from matchrec.errors.run.location import RowLocation
from matchrec.errors.sql.clause_items import ProposedDefinition
from matchrec.errors.sql.token_advice import TokenInText
from matchrec.errors.sql.type_kinds import TypedText
from matchrec.source import Span

ROOM = Path(errors.__file__).parent
PACKAGE = ROOM.parent


@dataclass(frozen=True)
class Construction:
    """A call in the catalogue that constructs an error."""

    file: str
    # The name of the function or class around the call.
    function: str
    # The first argument, with `{}` for each value in it; `{}` alone if it is a variable.
    headline: str
    # None if the call passes no code, or one that is not a literal.
    code: str | None


def find_constructions() -> Iterator[Construction]:
    """Yield the calls that construct errors; `kinds` passes on the codes of other errors."""
    for path in sorted(ROOM.rglob("*.py")):
        if path.name == "kinds.py":
            continue
        for definition in ast.parse(path.read_text(encoding="utf-8")).body:
            for node in ast.walk(definition):
                if isinstance(node, ast.Call) and constructs_error(node):
                    name = getattr(definition, "name", "")
                    yield Construction(path.name, name, read_headline(node), read_code(node))


def constructs_error(call: ast.Call) -> bool:
    """Return whether a call constructs an error, or is `super().__init__(...)` of its class."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr == "__init__"
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    return name.startswith("MatchRecognize") and name.endswith("Error")


def read_headline(call: ast.Call) -> str:
    """Return the headline that a call passes."""
    headline = call.args[0]
    parts = headline.values if isinstance(headline, ast.JoinedStr) else [headline]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)


def read_code(call: ast.Call) -> str | None:
    """Return the code that a call passes as a literal."""
    values = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
    return str(values[0].value) if values and isinstance(values[0], ast.Constant) else None


def list_functions() -> list[tuple[str, str]]:
    """Return the module and the name of each public function that returns an error or a warning."""
    names = []
    for path in sorted(ROOM.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            if node.returns is not None and ast.unparse(node.returns).endswith(
                ("Error", "Warning")
            ):
                names.append((module, node.name))
    return names


# An argument for each type of parameter; "{}" is the name of the parameter.
ARGUMENTS = {
    "str": "<{}>",
    "str | None": "<{}>",
    "object": "<{}>",
    "int": 7,
    "int | str": 7,
    "bool": True,
    "bool | None": True,
    "Path": Path("<path>"),
    "Exception": ValueError("<error>"),
    "Sequence[object]": ["<a>", 7],
    "Sequence[str] | None": ["<a>", "<b>"],
    "Sequence[str]": ["<a>", "<b>"],
    "Collection[str]": ["<a>", "<b>"],
    "Iterable[str]": ["<a>", "<b>"],
    "Mapping[str, str]": {"<a>": "<A>"},
    "Mapping[str, Span]": {"<a>": Span(1, 2)},
    "Sequence[Row]": [{"<a>": "<A>", "<b>": None}],
    "Mapping[str, Sequence[str]]": {"<a>": ["<A>"]},
    "tuple[str, str]": ("<a>", "<b>"),
    "tuple[type, ...]": (),
    "type": int,
    "TokenInText": TokenInText("<text>", "<where>"),
    "TypedText": TypedText("<text>", "int"),
    "Sequence[TypedText]": [TypedText("<text>", "int"), TypedText("<other>", "array<string>")],
    "ProposedDefinition | None": ProposedDefinition("<a>", "<b>"),
    "Length": Length((LengthAmount("3", "MINUTE"),)),
    "LengthLocation": WITHIN_CLAUSE,
    "RowLocation": RowLocation({"`sym`": "X"}, 3),
    "Span": Span(1, 2),
    "Span | None": Span(1, 2),
}


def make_example(module: str, name: str) -> Located | None:
    """Call a function of the catalogue; None if a parameter has a type without an argument here."""
    function = getattr(import_module(module), name)
    by_position: list[object] = []
    by_name: dict[str, object] = {}
    for parameter in signature(function).parameters.values():
        argument = ARGUMENTS.get(parameter.annotation)
        if parameter.name == "opening":
            argument = "("
        elif parameter.name == "openings":
            argument = ("[", "(")
        if argument is None:
            return None
        if isinstance(argument, str):
            argument = argument.format(parameter.name)
        if parameter.kind is Parameter.KEYWORD_ONLY:
            by_name[parameter.name] = argument
        else:
            by_position.append(argument)
    error = function(*by_position, **by_name)
    return error if isinstance(error, Located) else None
