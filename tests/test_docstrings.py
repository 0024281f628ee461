"""Docstrings: each example runs, and each public name is in the reference and has an example."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec import arguments, types
from tests.pages import reference

pytestmark = pytest.mark.one_of(4)

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "matchrec").rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]
# Modules whose examples connect other programs to the session.
NEEDING_A_SERVER = {"matchrec.gateway.serve"}
MAX_PARAMETERS = 7
MORE = {
    "match_sase": 8,
    "match_pattern": 8,
    "match_rules": 9,
    "query": 11,  # the arguments of four functions
    "serve": 8,  # the options of a server
    "ExplainedClause.__init__": 9,  # users get one, and never make one
}  # docs/contributing/decisions/tools.md
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
SHOWN = re.compile(
    r"^<!-- ::: matchrec\.([\w.]+)(?:\n    options:\n      members: (?:\[(.*)\]|(false)))?", re.M
)


class Finder(doctest.DocTestFinder):
    """Finds also the docstrings of public names, whose module is `matchrec`: see `public_names`."""

    def _from_module(self, module: ModuleType, object: Any) -> bool:  # noqa: A002 -- Python's name
        """Return whether a module defines a class or function."""
        name = getattr(object, "__name__", "")
        if getattr(object, "__module__", None) == "matchrec":
            return module.__name__ == find_module(name)
        return super()._from_module(module, object)  # type: ignore[misc, no-any-return]

    def _find(
        self,
        tests: list[doctest.DocTest],
        obj: Any,
        name: str,
        module: ModuleType,
        source_lines: Any,
        globs: dict[str, Any],
        seen: dict[int, int],
    ) -> None:
        """Find the docstrings of an object, cached properties included."""
        super()._find(tests, obj, name, module, source_lines, globs, seen)  # type: ignore[misc]
        if isinstance(obj, type):
            for member, value in vars(obj).items():
                if isinstance(value, cached_property):
                    function = value.func
                    super()._find(  # type: ignore[misc]
                        tests, function, f"{name}.{member}", module, source_lines, globs, seen
                    )


def find_module(name: str) -> str:
    """Return the module that defines a public name."""
    module = next(key for key, names in matchrec._NAMES_BY_MODULE.items() if name in names)
    return reference.KINDS if module == "matchrec.errors" else module


@pytest.mark.filterwarnings("ignore::matchrec.warnings.RejectedRuleWarning")  # of one example
@pytest.mark.parametrize("name", MODULES)
def test_examples_do_what_they_say(name: str, spark: SparkSession) -> None:
    """Examples may use the names `spark` and `matchrec`."""
    if name in NEEDING_A_SERVER and isinstance(spark, SparkSession):
        pytest.skip("only a session of Sail or of Spark Connect has a server")
    module = importlib.import_module(name)
    names = {"spark": spark, "matchrec": matchrec}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    tests = Finder().find(module, extraglobs=names)
    for test in tests:
        runner.run(test)
    results = runner.summarize(verbose=False)
    source = Path(inspect.getfile(module)).read_text(encoding="utf-8")
    assert results.attempted == len(re.findall(r"^ *>>> ", source, re.M))
    assert not results.failed


def list_shown_names() -> Iterator[tuple[str, Any]]:
    """Yield the public names that the reference shows, each with its value."""
    for page in sorted(REFERENCE.glob("*.md")):
        for name, members, none in SHOWN.findall(page.read_text(encoding="utf-8")):
            value = resolve_name(f"matchrec.{name}")
            yield name, value
            if isinstance(value, type) and not none:
                for member in members.split(", ") if members else vars(value):
                    if not member.startswith("_"):
                        yield f"{name}.{member}", getattr(value, member)


def test_the_reference_has_every_public_name() -> None:
    names = [name for name, _ in list_shown_names()]
    assert sorted(name for name in names if "." not in name) == sorted(matchrec.__all__)
    assert {f"warnings.{name}" for name in matchrec.warnings.__all__} <= set(names)


@pytest.mark.parametrize("page", sorted(REFERENCE.glob("*.md")), ids=lambda page: page.stem)
def test_the_reference_has_signatures_and_docstrings(page: Path) -> None:
    """If the test fails, run `python -m tests.pages.reference`."""
    text = page.read_text(encoding="utf-8")
    if reference.ENTRY.search(text):
        assert text == reference.write_entries(text)


def test_the_reference_has_the_help_of_every_command() -> None:
    """If the test fails, run `python -m tests.pages.reference`."""
    text = (REFERENCE / "command_line.md").read_text(encoding="utf-8")
    assert text == reference.write_commands(text)
    for option in ("--overwrite", "--by COLUMN", "--row VALUE", "--schema 'NAME: COLUMNS'"):
        assert f"\n  {option} " in text


def test_the_help_on_the_page_has_no_option_that_many_commands_have() -> None:
    """`docs/reference/command_line.md` describes such an option once, in a table."""
    text = (REFERENCE / "command_line.md").read_text(encoding="utf-8")
    helps = [match[0] for match in reference.COMMAND_HELP.finditer(text)]
    assert len(helps) > 10
    options = Counter(option for text in helps for option in re.findall(r"\n  (-\S+)", text))
    assert {option: count for option, count in options.items() if count > 2} == {}


@pytest.mark.parametrize("name", ["sql", "match_recognize", "session", *reference.MADE_BY_USERS])
def test_the_reference_has_the_parameters_that_python_accepts(name: str) -> None:
    """The signatures of the reference come from the source, and those of Python from the call."""
    name = name.removeprefix("matchrec.")
    texts = "".join(page.read_text(encoding="utf-8") for page in sorted(REFERENCE.glob("*.md")))
    block = re.search(rf"^```py\n((?:class )?matchrec\.{name}\(.*?)^```", texts, re.M | re.S)
    assert block is not None
    shown = SIGNATURE.findall(block[1])[0].strip()
    accepted = inspect.signature(getattr(matchrec, name))
    kinds = {parameter.name: parameter.kind for parameter in accepted.parameters.values()}
    namespace: dict[str, Any] = {}
    exec(f"from __future__ import annotations\ndef shown{shown}: ...", namespace)
    parameters = inspect.signature(namespace["shown"]).parameters.values()
    assert {parameter.name: parameter.kind for parameter in parameters} == kinds


def test_signatures_have_a_line_for_each_parameter_if_they_are_long() -> None:
    long = "spark: SparkSession, query: str, args: dict[str, Any] | None=None, *, more: str='a'"
    assert reference.write_in_lines("matchrec.function", long, " -> DataFrame").splitlines() == [
        "matchrec.function(",
        "    spark: SparkSession,",
        "    query: str,",
        "    args: dict[str, Any] | None = None,",
        "    *,",
        "    more: str = 'a',",
        ") -> DataFrame",
    ]


# Types of Python, PySpark, pandas, pyarrow and matplotlib, which the reference need not explain.
KNOWN_TYPES = {
    *("bool", "dict", "float", "int", "list", "object", "set", "str", "tuple", "type", "pa", "pd"),
    *("Any", "Callable", "Iterator", "Literal", "Mapping", "None", "Path", "Self", "Sequence"),
    *("BaseException", "Column", "DataFrame", "Figure", "Row", "SparkSession", "StructType"),
}

# A signature in a block of the reference: its parameters, and its type of result.
SIGNATURE = re.compile(
    r"^(?:class )?matchrec\.[\w.]+(\(.*?)(?=^(?:class )?matchrec\.|\Z)", re.M | re.S
)


def test_the_overview_explains_every_type_of_a_signature() -> None:
    """Each type in a signature is a public name, a known type, or in the table of types.

    The table has all types of arguments in `matchrec.types`.
    """
    table = (REFERENCE / "api.md").read_text(encoding="utf-8").partition("## Types of arguments")[2]
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", table, re.M))
    names = {name for page in REFERENCE.glob("*.md") for name in list_signature_types(page)}
    assert "Rules" in names
    records = {record.__name__ for record in RECORDS}
    assert names - KNOWN_TYPES - set(matchrec.__all__) <= set(rows)
    assert set(rows) == set(types.__all__) - records
    for name, words in rows.items():
        type_ = getattr(arguments, name, None)
        if name in ("SourceLanguage", "TargetDialect"):
            assert "`DialectName`" in words
        elif get_origin(type_) is Literal:
            assert tuple(re.findall(r'`"(\w+)"`', words)) == get_args(type_)


def list_signature_types(page: Path) -> Iterator[str]:
    """Yield the names in the annotations of the signatures on a page, such as `DataFrame`."""
    for block in re.findall(r"^```py\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        for signature in SIGNATURE.findall(block):
            function = ast.parse(f"def signature{signature.rstrip()}: ...").body[0]
            assert isinstance(function, ast.FunctionDef)
            arguments = function.args
            parameters = [
                *(*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs),
                *(arguments.vararg, arguments.kwarg),
            ]
            annotations = [item.annotation for item in parameters if item is not None]
            for annotation in [*annotations, function.returns]:
                if annotation is not None:
                    for node in ast.walk(annotation):
                        if isinstance(node, ast.Name):
                            yield node.id


# The classes of records that attributes hold. A page of the reference has a section for each.
RECORDS = [value for name in types.__all__ if isinstance(value := getattr(types, name), type)]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_the_reference_has_the_fields_of_records(record: type) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted(REFERENCE.glob("*.md")))
    section = re.split(rf"\n##+ {record.__name__}\n", pages)[1].partition("\n#")[0]
    properties = [name for name, value in vars(record).items() if isinstance(value, property)]
    field_names = getattr(record, "_fields", ())  # of a named tuple
    if is_dataclass(record):
        field_names = tuple(field.name for field in fields(record))
    names = {*field_names, *properties}
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.M)) == names


def test_every_type_of_an_attribute_has_a_description() -> None:
    """Each is a public name, a known type, or one of `matchrec.types`."""
    names = set()
    for page in REFERENCE.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for annotation in re.findall(r"^- `\w+` \(`([^`]+)`", text, re.M):
            names |= set(re.findall(r"\b[A-Z]\w+", annotation))
        for annotation in re.findall(r"^matchrec\.[\w.]+: (.*)", text, re.M):
            names |= set(re.findall(r"\b[A-Z]\w+", annotation))
    assert {"Score", "Figures", "Span", "QueryKind"} <= names
    assert names - KNOWN_TYPES - set(matchrec.__all__) - set(types.__all__) == set()


def test_the_overview_has_every_public_name() -> None:
    """Each name is in one line of a table. Of all classes only the members of `Query` are."""
    text = (REFERENCE / "api.md").read_text(encoding="utf-8")
    first_cells = re.findall(r"^\| \[(.*?)\]\(", text, re.M)
    names = [name for cell in first_cells for name in re.findall(r"`([\w.]+)", cell)]
    members = {name for name, _ in list_shown_names() if name.startswith("Query.")}
    records = {record.__name__ for record in RECORDS}
    assert set(names) == {*matchrec.__all__, *members, *records, "warnings"}
    lines = [re.findall(r"`([\w.]+)", cell)[0] for cell in first_cells]
    assert len(lines) == len(set(lines))


def test_no_public_signature_is_long() -> None:
    functions = [getattr(matchrec, name) for name in matchrec.__all__]
    methods = [
        member for value in functions if isinstance(value, type) for member in vars(value).values()
    ]
    for function in filter(inspect.isfunction, (*functions, *methods)):
        names = inspect.signature(function).parameters.keys() - {"self"}
        limit = MORE.get(function.__qualname__, MAX_PARAMETERS)
        assert len(names) <= limit, function.__qualname__


def test_type_checkers_know_every_public_name() -> None:
    tree = ast.parse((ROOT / "matchrec" / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports if node.level == 0 for alias in node.names}
    assert set(matchrec.__all__) <= names


def test_every_public_call_has_an_example() -> None:
    without = [
        name for name, value in list_shown_names() if callable(value) and not has_example(value)
    ]
    assert not without


def has_example(value: Any) -> bool:
    """Return whether a docstring has an example. Errors need none: users do not create them."""
    is_error = isinstance(value, type) and issubclass(value, Exception)
    return is_error or ">>>" in (value.__doc__ or "")
