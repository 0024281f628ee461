"""Each message can be made, has a code that the docs list, and is used."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

import pandas as pd
import pytest

from matchrec import errors
from matchrec.errors import MatchRecognizePlanError
from matchrec.errors.calls import column_types_differ
from matchrec.errors.kinds import NOT_COMPUTED
from matchrec.errors.labels import label_column_taken, label_type_differs
from matchrec.errors.language import PATTERN_CALLS, SASE, SQL, use_language
from matchrec.errors.rule_sets import column_name_taken, not_a_rule, unknown_rule
from matchrec.errors.sql.clause import bracket_not_closed
from matchrec.errors.sql.expression import not_sortable, unknown_variable
from matchrec.errors.surface import CELL, COMMAND_LINE, PYTHON, use_surface
from matchrec.source import Span
from matchrec.spark.errors.engine_messages import OTHER_CODES
from matchrec.spark.errors.name_conditions import NAME_CONDITIONS
from tests.unit.errors.catalogue import (
    PACKAGE,
    ROOM,
    find_constructions,
    list_functions,
    make_example,
)

DOCS = PACKAGE.parent / "docs"
HERE, THERE = Span(1, 2), Span(4, 6)


def test_an_error_has_its_texts_and_locations() -> None:
    query = "PATTERN (A DEFINE A AS x > 1"
    error = bracket_not_closed(HERE, THERE, query=query, opening="(", keyword="DEFINE")
    assert error.message == "`(` is not closed in MATCH_RECOGNIZE"
    assert (error.spans, error.hint) == ((HERE, THERE), "add `)` before DEFINE")


def test_a_bracket_that_a_comment_may_have_swallowed_has_a_note() -> None:
    note = "`--` starts a comment, also in `{--` and `--}`"
    assert bracket_not_closed(HERE, query="PATTERN (A {--B--})").notes == (note,)
    assert bracket_not_closed(HERE, query="PATTERN (A {-B-}").notes == ()


def test_empty_notes_and_unknown_locations_are_left_out() -> None:
    error = MatchRecognizePlanError("no x", None, HERE, notes=("", "it has: y"), hint="")
    assert (error.spans, error.notes, error.hint) == ((HERE,), ("it has: y",), None)


def test_messages_use_the_words_of_the_language() -> None:
    assert not_sortable("ORDER BY", "map", None).message.startswith(
        "ORDER BY has a key of type map"
    )
    with use_language(SASE):
        assert not_sortable("ORDER BY", "map", None).message.startswith("order_by has a key")


def test_a_frame_is_one_value() -> None:
    error = not_a_rule(name="fall", value=pd.DataFrame({"id": [1]}))
    assert error.message == (
        "rule `fall` of `match_rules` must be a clause, a SASE+ query, a Pattern or a dict of "
        "versions, but is a pandas DataFrame"
    )


def test_names_in_python_code_are_escaped() -> None:
    assert unknown_rule(name="x", rules=['a"b']).hint == r'write rule("a\"b")'
    hint = column_types_differ(name='a"b', of_match="int", of_row="string").hint
    assert hint == r'rename the measure first: result.withColumnRenamed("a\"b", "match_a\"b")'
    hint = column_name_taken(column_role="partition column", name='a"b').hint
    assert hint == r'rename it first: df.withColumnRenamed("a\"b", "a\"b_")'
    hint = label_column_taken(name='a"b').hint
    assert hint == r'write labels.withColumnRenamed("a\"b", "label_a\"b")'
    hint = label_type_differs(
        name='a"b', what="`start`", type_name="string", expected_type="date", in_pandas="labels.x"
    ).hint
    assert (hint or "").startswith(
        r'convert it first: labels.withColumn("a\"b", ...) with a CAST to date; in a file'
    )
    with use_surface(COMMAND_LINE):
        hint = label_column_taken(name="a b").hint
    assert "SELECT `a b` AS `label_a b`, ...; and pass --labels v" in (hint or "")


def test_the_hint_depends_on_the_values() -> None:
    def find_hint(name: str) -> str | None:
        """Return the hint for an unknown variable."""
        error = unknown_variable(HERE, name=name, clause="DEFINE", primary=["UP"], unions=["ANY"])
        assert error.notes == ("PATTERN has: UP", "SUBSET has: ANY")
        return error.hint

    assert find_hint("U") == "write UP or ANY, or add U to PATTERN"
    assert find_hint("ANI") == "write ANY, or add ANI to PATTERN"


@pytest.mark.parametrize(("module", "name"), list_functions())
def test_each_message_can_be_made(module: str, name: str) -> None:
    """In each language and on each surface. No message shows the braces of a format."""
    for language in (SQL, SASE, PATTERN_CALLS):
        for surface in (PYTHON, COMMAND_LINE, CELL):
            with use_language(language), use_surface(surface):
                error = make_example(module, name)
                assert error is None or not re.search(r"\{\w+[.(\[]", str(error))


def test_most_messages_can_be_made_from_examples() -> None:
    functions = list_functions()
    assert sum(make_example(*function) is None for function in functions) < 10
    assert len(functions) > 500


def test_a_message_prints_labels_and_its_code() -> None:
    error = MatchRecognizePlanError(
        "unknown column `prise`",
        notes=("the input has: price, ts", "some of them:\nX\nY"),
        hint="write price",
        code="unknown-column",
    )
    assert error.code == "unknown-column"
    assert str(error).split("\n") == [
        "unknown column `prise` [unknown-column]",
        "  note: the input has: price, ts",
        "  note: some of them:",
        "        X",
        "        Y",
        "  help: write price",
    ]


def group_headlines() -> dict[str, set[str]]:
    """Return the headlines of the errors with each code, with `{}` for their values."""
    headlines = defaultdict(set)
    for construction in find_constructions():
        headlines[f"{construction.code}"].add(construction.headline)
    headlines[NOT_COMPUTED].add("{} cannot be computed: {}")  # which `kinds` makes
    return headlines


def test_each_error_has_a_code() -> None:
    assert [construction for construction in find_constructions() if not construction.code] == []
    codes = group_headlines()
    assert [code for code in codes if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", code)] == []


def test_a_code_names_one_kind_of_error() -> None:
    """Errors share a code only if they have the same headline."""
    assert {code: texts for code, texts in group_headlines().items() if len(texts) > 1} == {}


def test_the_page_of_codes_lists_each_with_a_sentence() -> None:
    page = (DOCS / "reference" / "error_codes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:<a .*?</a>)?`(.+?)` \| (.+) \|$", page, re.MULTILINE)
    codes_about_names = {condition.code for condition in NAME_CONDITIONS.values()} - {None}
    assert sorted(code for code, _ in rows) == sorted(
        {*group_headlines(), *codes_about_names, *OTHER_CODES}
    )
    assert [code for code, sentence in rows if not re.fullmatch(r".*[^.]\.", sentence)] == []


def test_the_page_of_codes_has_an_anchor_for_each() -> None:
    """A link such as `error_codes.md#unknown-column` leads to the row of the code."""
    page = (DOCS / "reference" / "error_codes.md").read_text(encoding="utf-8")
    anchors = re.findall(r'^\| <a id="(.+?)"></a>`\1` \|', page, re.MULTILINE)
    assert anchors == re.findall(r"^\| (?:<a .*?</a>)?`(.+?)` \|", page, re.MULTILINE), (
        "python -m tests.pages.reference adds anchors to new rows"
    )


def test_the_examples_on_the_page_of_codes_have_these_codes() -> None:
    """`tests/test_docs.py` runs the examples. The index and the rows link to each."""
    page = (DOCS / "reference" / "error_codes.md").read_text(encoding="utf-8")
    examples = re.findall(
        r'^<a id="example-(.+?)"></a>\*\*`\1`\*\*\n\n```sql\n(?:.+\n)+```\n\n```text\n.* \[(.+)\]$',
        page,
        re.MULTILINE,
    )
    codes = [code for code, _ in examples]
    assert examples == [(code, code) for code in codes]
    assert len(codes) >= 30
    assert codes == re.findall(r"\[`(.+?)`\]\(#example-\1\)", page)
    assert sorted(codes) == sorted(
        re.findall(r"`(\S+)` \| .+ \(\[example\]\(#example-\1\)\)\. \|$", page, re.MULTILINE)
    )


def test_only_the_catalogue_makes_errors() -> None:
    """A person who looks for a message finds it in `matchrec/errors`."""
    classes = {name for name in dir(errors.kinds) if name.startswith("MatchRecognize")}
    for path in PACKAGE.rglob("*.py"):
        if path.is_relative_to(ROOM):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                assert name not in classes, (path, node.lineno)


def test_each_message_is_used() -> None:
    used = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name | ast.Attribute):
                used.add(node.id if isinstance(node, ast.Name) else node.attr)
    assert [(module, name) for module, name in list_functions() if name not in used] == []
