"""Parsing of scalar expressions: references, operations, and every error message."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import locate_errors
from matchrec.plan.expression import (
    ColumnReference,
    End,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Semantics,
    is_null,
    render,
    walk_scalar,
)
from matchrec.source import Source, Span
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.expression import parse_row_expression, parse_scalar
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.tokenize import read_tokens
from tests.quick.scale import examples
from tests.unit import golden_text
from tests.unit.plan_text import show_reference, show_tree

HERE = Path(__file__).parent
VARIABLES = ("A", "B", "b", "U")


def make_scope(clause: ClausePart) -> Scope:
    """Return a scope with three primary variables and a union variable."""
    return Scope(clause, VARIABLES[:3], VARIABLES[3:])


def split_record(record_text: str) -> tuple[ClausePart, str]:
    """Return the part of the clause and the text of a record: `DEFINE text`, or a measure."""
    word, _, text = record_text.partition(" ")
    if word in ("DEFINE", "MEASURES"):
        return ClausePart(word), text
    return ClausePart.MEASURES, record_text


def show_record_tree(record_text: str) -> str:
    """Return the tree of an expression as text."""
    clause, text = split_record(record_text)
    return show_tree(parse_scalar(read_tokens(text), make_scope(clause)))


def find_message(record_text: str) -> str:
    """Return the message of the error for an expression."""
    clause, text = split_record(record_text)
    with pytest.raises(MatchRecognizeError) as raised, locate_errors(Source(text)):
        parse_scalar(read_tokens(text), make_scope(clause))
    return str(raised.value)


def test_expressions_have_the_recorded_trees(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(HERE / "expressions.txt", show_record_tree, update)


def test_wrong_expressions_have_the_recorded_messages(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(HERE / "expression_errors.txt", find_message, update)


RECORDS = golden_text.read(HERE / "expressions.txt")


@pytest.mark.parametrize("record_text", [record.given for record in RECORDS])
def test_pieces_and_spans_are_the_users_text(record_text: str) -> None:
    """The text of each node is the text of its span, so Spark gets what the user wrote."""
    clause, text = split_record(record_text)
    source = Source("SELECT " + text)
    offset = len("SELECT ")

    def write_reference(reference: Reference) -> str:
        """Return the text of a reference."""
        assert reference.span is not None
        return source.text_at(reference.span)

    for node in walk_scalar(parse_scalar(read_tokens(text, offset=offset), make_scope(clause))):
        markers = render(node, write_reference)
        for index in (i for i, character in enumerate(source.text) if character == "?"):
            markers = markers.replace(f":_matchrec_{index}", "?")
        assert markers == source.text_at(node.span)


def test_a_column_is_last_of_its_variable() -> None:
    pairs = (("A.x", "LAST(A.x)"), ("x", "last(x, 0)"), ("u.x", "PREV(LAST(U.x), 0)"))
    for pair in pairs:
        scalars = [parse_scalar(read_tokens(text), make_scope(ClausePart.DEFINE)) for text in pair]
        first, second = (scalar.references for scalar in scalars)
        assert first == second


def test_navigation_has_every_part() -> None:
    (reference,) = parse_scalar(
        read_tokens("NEXT(FINAL FIRST(`b`.x + `b`.y, 2), 3)"), make_scope(ClausePart.MEASURES)
    ).references
    assert reference == ColumnReference(Navigation("b", End.FIRST, 2, 3, Semantics.FINAL), "x + y")


def test_a_row_expression_is_only_checked_for_syntax() -> None:
    row = parse_row_expression(
        read_tokens("  date_trunc('day', ts) -- per day", offset=10), ClausePart.PARTITION_BY
    )
    assert row.text == "date_trunc('day', ts)"
    assert row.span is not None
    assert (row.span.start, row.span.end) == (12, 33)
    with pytest.raises(MatchRecognizeError, match="is not closed in PARTITION BY"):
        parse_row_expression(read_tokens("(ts"), ClausePart.PARTITION_BY)


WORDS = (
    *("A.x", "x", "B.y", "PREV(A.x)", "count(*)", "1", "'s'", "NULL", "(", ")", ","),
    *("+", "-", "*", "AND", "OR", "NOT", "=", "<", "IS", "IN", "BETWEEN", "FINAL", "RUNNING"),
    *("LAST(", "sum(", "f(", "CASE", "WHEN", "THEN", "END", "CLASSIFIER()", ".", "?", "[", "]"),
)


def find_span(text: str, clause: ClausePart) -> Span:
    """Return the span of the expression, or of the error."""
    try:
        return parse_scalar(read_tokens(text), make_scope(clause)).span
    except MatchRecognizeError as error:
        return error.span or Span(-1, -1)


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), st.sampled_from([*ClausePart]))
def test_any_words_are_an_expression_or_an_error_with_a_location(
    text: str, clause: ClausePart
) -> None:
    span = find_span(text, clause)
    assert 0 <= span.start <= span.end <= max(1, len(text))


OPERANDS = st.sampled_from(["A.x", "1", "PREV(x)", "f(x, 2)", "(A.x + 1)", "-B.y", "count(A.*)"])
LOOSE_TO_TIGHT = (("OR",), ("AND",), ("=", "<", "<>", "<=>"), ("+", "-", "||"), ("*", "/", "%"))


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(LOOSE_TO_TIGHT).flatmap(st.sampled_from), OPERANDS)))
def test_operators_bind_as_in_spark(pairs: list[tuple[str, str]]) -> None:
    """Parentheses that follow the precedence of operators change no operation."""
    text = " ".join(["A.x", *(f"{operator} {operand}" for operator, operand in pairs)])
    operations = parse_scalar(read_tokens(text), make_scope(ClausePart.MEASURES))
    explicit = parse_scalar(
        read_tokens(parenthesize(["A.x"], pairs)), make_scope(ClausePart.MEASURES)
    )
    assert list_operators(operations) == list_operators(explicit)


def list_operators(scalar: Scalar) -> object:
    """Return the operators and leaves of a tree, with chains of AND and OR flat or nested."""
    if not isinstance(scalar, Operation):
        return render(scalar, show_reference)
    below = [list_operators(operand) for operand in scalar.operands]
    if scalar.operator in ("AND", "OR"):
        flat: list[object] = []
        for part in below:
            same = isinstance(part, tuple) and part[0] == scalar.operator
            flat.extend(part[1:] if same else (part,))
        below = flat
    return (scalar.operator, *below)


def parenthesize(first: list[str], pairs: list[tuple[str, str]]) -> str:
    """Return operators and operands, fully parenthesised by a textbook shunting yard."""
    level = {operator: i for i, row in enumerate(LOOSE_TO_TIGHT) for operator in row}
    output = list(first)
    waiting = []

    def reduce() -> None:
        """Apply the last waiting operator."""
        right, left = output.pop(), output.pop()
        output.append(f"({left} {waiting.pop()} {right})")

    for operator, operand in pairs:
        while waiting and level[waiting[-1]] >= level[operator]:
            reduce()
        waiting.append(operator)
        output.append(operand)
    while waiting:
        reduce()
    return output[0]


@pytest.mark.parametrize(
    "call",
    ["ISNULL(x, y)", "ISNOTNULL(x, y)", "NEGATIVE(x, y)", "PMOD(x)", "MOD(x, y, z)", "NANVL(x)"],
)
def test_a_call_with_other_arguments_than_the_function_has_is_no_operation(call: str) -> None:
    """Later passes rely on the number of arguments. Spark reports the wrong call."""
    assert not isinstance(parse_scalar(read_tokens(call), make_scope(ClausePart.DEFINE)), Operation)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NULL", True),
        ("( null )", True),
        ("(\nNULL\t)", True),
        ("((\r\n  NULL\r\n))", True),
        ("NULL + 1", False),
        ("A.x", False),
    ],
)
def test_the_literal_null_is_recognized(text: str, expected: bool) -> None:
    assert is_null(parse_scalar(read_tokens(text), make_scope(ClausePart.DEFINE))) is expected
