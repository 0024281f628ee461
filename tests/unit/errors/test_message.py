"""Messages as records: what fills their fields, and that each of the catalogue can be filled."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

import matchrec
from matchrec import errors
from matchrec.errors.kinds import NOT_COMPUTED
from matchrec.errors.language import SASE, reading_language
from matchrec.errors.message import Message, parse_error, plan_error
from matchrec.source import Span
from matchrec.spark.errors.users_terms import CODES, OTHER_CODES

ROOM = Path(errors.__file__).parent
PACKAGE = ROOM.parent
DOCS = PACKAGE.parent / "docs"
HERE, THERE = Span(1, 2), Span(4, 6)


def catalogue() -> Iterator[tuple[str, str]]:
    """The module and the name of each record."""
    for path in sorted(ROOM.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [one.id for one in getattr(node, "targets", ()) if isinstance(one, ast.Name)]
            for name in names:
                if isinstance(getattr(import_module(module), name), Message):
                    yield module, name


RECORDS = sorted(catalogue())


def test_values_and_places() -> None:
    unclosed = parse_error("`{opening}` is not closed", hint="add `{closing}`")
    error = unclosed(HERE, THERE, opening="(", closing=")")
    assert (error.message, error.spans, error.notes) == ("`(` is not closed", (HERE, THERE), ())
    assert error.hint == "add `)`"
    assert unclosed((HERE, None), opening="{-", closing="-}").spans == (HERE,)
    assert unclosed(None, opening="{-", closing="-}").spans == ()


def test_a_record_is_written_as_it_prints() -> None:
    written = plan_error(
        """no `{name}` in
            {clause}
        note: has: {known}
        near: write {near}
        culprit: name
        write one of
            these""".replace("\n    ", "\n")
    )
    assert written == plan_error(
        "no `{name}` in {clause}",
        notes=("has: {known}",),
        near="write {near}",
        culprit="name",
        hint="write one of these",
    )
    with pytest.raises(AssertionError, match="hint"):
        plan_error("""no `{name}`
    write one
    write another""")


def test_lists_numbers_and_texts_of_the_user() -> None:
    listing = plan_error("over {limit:,} of {names}", notes=("{text:short}", "{n}, {m}, {- A -}"))
    error = listing(limit=10_000, names=["a", "b"], text="a\n  b", n=1200, m="{names}")
    assert error.message == "over 10,000 of a, b"
    assert error.notes == ("a b", "1200, {names}, {- A -}")


def test_words_of_the_language() -> None:
    condition = plan_error("{word.condition} of {part[DEFINE]}")
    assert condition().message == "a condition in DEFINE of DEFINE"
    with reading_language(SASE):
        assert condition().message == "a condition in WHERE of WHERE"


def test_a_frame_is_one_value() -> None:
    wrong = plan_error("`{argument}` is {value:shown}")
    error = wrong(argument="rules", value=pd.DataFrame({"id": [1]}))
    assert error.message == "`rules` is a pandas DataFrame"


def test_other_values_than_it_has_fields() -> None:
    for values in ({"a": "1"}, {"a": "1", "c": "2"}, {"a": "1", "b": "2", "c": "3"}):
        with pytest.raises(AssertionError, match="after"):
            plan_error("{a} after {b}")(**values)


def test_the_hint_depends_on_the_values() -> None:
    unknown = plan_error("no `{name}`", notes=("has: {known}",), near="{near}?", hint="{known[0]}")
    errors_found = [unknown(name=name, known=iter(["price", "day"])) for name in ("pirce", "x")]
    assert [one.hint for one in errors_found] == ["price?", "price"]
    assert errors_found[0].notes == ("has: price, day",)
    chosen = plan_error("{word} in {clause}", hints={"A": "remove {word}"}, culprit="clause")
    assert [chosen(word=word, clause="DEFINE").hint for word in "AB"] == ["remove A", None]
    assert chosen(word="A", clause="DEFINE").culprit == "DEFINE"


def test_names_that_are_written_otherwise_and_notes_without_names() -> None:
    unknown = plan_error(
        "no `{name}`",
        notes=("has: {known}", "and: {others:some}"),
        near="write {option[type_column={near}]}",
    )
    error = unknown(name="pirce", known={"price": "price[]"}, others=())
    assert (error.notes, error.hint) == (("has: price[]",), 'write type_column="price"')
    assert unknown(name="dya", known={}, others=["day"]).notes == ("has: none", "and: day")
    assert unknown(name="dya", known={}, others=["day"]).hint == 'write type_column="day"'


def test_forms_of_values() -> None:
    forms = plan_error("{a:line} {b:note} {c:shown} {d:repr} {e:part}", condition="NAME")
    error = forms(a="x\n  y", b="Wrong", c=3, d="s", e="DEFINE")
    assert (error.message, error.condition) == ("x y wrong 3, of type int 's' DEFINE", "NAME")


@pytest.mark.parametrize(("module", "name"), RECORDS)
def test_each_record_can_be_filled(module: str, name: str) -> None:
    record = getattr(import_module(module), name)
    values = {field: f"<{field}>" for field in record.fields}
    templates = "".join((record.sentence, *record.notes, record.hint or ""))
    several = {
        field: [value] * 2 if f"{{{field}[" in templates else value
        for field, value in values.items()
    }
    error = record(HERE, **several)
    text = "\n".join((error.message, *error.notes, error.hint or ""))
    assert [value for value in values.values() if value not in text] == []
    assert not re.search(r"\{(?:part|word|here|option)\b", text)


def test_a_message_prints_labels_and_its_code() -> None:
    error = plan_error(
        """unknown column `{name}`
    note: the input has: {known}
    note: some of them:{lines}
    write {known[0]}""",
        code="unknown-column",
    )(name="prise", known=["price", "ts"], lines="\nX\nY")
    assert error.code == "unknown-column"
    assert str(error).split("\n") == [
        "unknown column `prise` [unknown-column]",
        "  note: the input has: price, ts",
        "  note: some of them:",
        "        X",
        "        Y",
        "  help: write price",
    ]


def headlines_by_code() -> dict[str, set[str]]:
    """For each code, the headlines of its records, without what fills their fields."""
    found = defaultdict(set)
    for module, name in RECORDS:
        record = getattr(import_module(module), name)
        if issubclass(record.kind, matchrec.MatchRecognizeError):
            found[record.code].add(re.sub(r"\{[^{}]*\}", "{}", record.sentence))
    found[NOT_COMPUTED].add("{} cannot be computed: {}")  # which `kinds` makes
    return found


def test_a_code_names_one_kind_of_error() -> None:
    """Records share a code only if they have the same headline."""
    assert {code: texts for code, texts in headlines_by_code().items() if len(texts) > 1} == {}
    codes = map(str, headlines_by_code())
    assert [code for code in codes if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", code)] == []


def test_the_page_of_codes_lists_each_with_a_sentence() -> None:
    page = (DOCS / "reference" / "error_codes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.+?)` \| (.+) \|$", page, re.MULTILINE)
    assert sorted(code for code, _ in rows) == sorted(
        {*headlines_by_code(), *CODES.values(), *OTHER_CODES}
    )
    assert [code for code, sentence in rows if not re.fullmatch(r".*[^.]\.", sentence)] == []


def test_only_the_catalogue_makes_errors() -> None:
    """An error that is made elsewhere would have no code."""
    classes = {name for name in dir(errors.kinds) if name.startswith("MatchRecognize")}
    for path in PACKAGE.rglob("*.py"):
        if path.name == "kinds.py" and path.parent == ROOM:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                assert name not in classes, (path, node.lineno)


def test_each_record_is_called_with_its_fields() -> None:
    fields = {one: getattr(import_module(one[0]), one[1]).fields for one in RECORDS}
    used = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "errors" not in f"{path} {text}":
            continue
        nodes = [*ast.walk(ast.parse(text))]
        own = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        names = {name: (own, name) for module, name in RECORDS if module == own}
        names |= {
            alias.asname or alias.name: (f"{node.module}", alias.name)
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in nodes:
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                used.add(record_of(node, names))
            if isinstance(node, ast.Call) and record_of(node.func, names) in fields:
                passed = {keyword.arg for keyword in node.keywords}
                assert passed == set(fields[record_of(node.func, names)]), (path, node.lineno)
    assert set(fields) - used == set()


def record_of(node: ast.expr, names: dict[str, tuple[str, str]]) -> tuple[str, str]:
    """The module and the name of what an expression names; nothing where it is no such name."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return ".".join(names.get(node.value.id, ("",))), node.attr
    return names.get(node.id, ("", "")) if isinstance(node, ast.Name) else ("", "")
