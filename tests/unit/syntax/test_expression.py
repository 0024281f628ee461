"""Scalar syntax → expression: what is a reference, what is an operation, and every message."""

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
from matchrec.syntax.expressions.expression import parse_row_expression, parse_scalar
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.tokens import read_tokens
from tests.quick.scale import examples
from tests.unit import golden_text
from tests.unit.plan_text import show_reference, show_tree

HERE = Path(__file__).parent
VARIABLES = ("A", "B", "b", "U")


def scope(clause: ClausePart) -> Scope:
    return Scope(clause, VARIABLES[:3], VARIABLES[3:])


def split(given: str) -> tuple[ClausePart, str]:
    """`DEFINE text` or `MEASURES text`; without either word it is a measure."""
    word, _, text = given.partition(" ")
    if word in ("DEFINE", "MEASURES"):
        return ClausePart(word), text
    return ClausePart.MEASURES, given


def tree(given: str) -> str:
    clause, text = split(given)
    return show_tree(parse_scalar(read_tokens(text), scope(clause)))


def message(given: str) -> str:
    clause, text = split(given)
    with pytest.raises(MatchRecognizeError) as raised, locate_errors(Source(text)):
        parse_scalar(read_tokens(text), scope(clause))
    return str(raised.value)


def test_trees(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(HERE / "expressions.txt", tree, update)


def test_messages(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(HERE / "expression_errors.txt", message, update)


RECORDS = golden_text.read(HERE / "expressions.txt")


@pytest.mark.parametrize("given", [record.given for record in RECORDS])
def test_pieces_and_spans_are_the_users_text(given: str) -> None:
    """Every node's text is that of its span, so Spark is given what was written."""
    clause, text = split(given)
    source = Source("SELECT " + text)
    offset = len("SELECT ")

    def written(reference: Reference) -> str:
        assert reference.span is not None
        return source.text_at(reference.span)

    for node in walk_scalar(parse_scalar(read_tokens(text, offset=offset), scope(clause))):
        markers = render(node, written)
        for place in (i for i, character in enumerate(source.text) if character == "?"):
            markers = markers.replace(f":_matchrec_{place}", "?")
        assert markers == source.text_at(node.span)


def test_a_column_is_last_of_its_variable() -> None:
    pairs = (("A.x", "LAST(A.x)"), ("x", "last(x, 0)"), ("u.x", "PREV(LAST(U.x), 0)"))
    for pair in pairs:
        read = [parse_scalar(read_tokens(text), scope(ClausePart.DEFINE)) for text in pair]
        first, second = (one.references for one in read)
        assert first == second


def test_navigation_has_every_part() -> None:
    (reference,) = parse_scalar(
        read_tokens("NEXT(FINAL FIRST(`b`.x + `b`.y, 2), 3)"), scope(ClausePart.MEASURES)
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


def outcome(text: str, clause: ClausePart) -> Span:
    """Return the place of the expression, or that of the error."""
    try:
        return parse_scalar(read_tokens(text), scope(clause)).span
    except MatchRecognizeError as error:
        return error.span or Span(-1, -1)


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), st.sampled_from([*ClausePart]))
def test_any_words_are_an_expression_or_a_placed_error(text: str, clause: ClausePart) -> None:
    place = outcome(text, clause)
    assert 0 <= place.start <= place.end <= max(1, len(text))


OPERANDS = st.sampled_from(["A.x", "1", "PREV(x)", "f(x, 2)", "(A.x + 1)", "-B.y", "count(A.*)"])
LOOSE_TO_TIGHT = (("OR",), ("AND",), ("=", "<", "<>", "<=>"), ("+", "-", "||"), ("*", "/", "%"))


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(LOOSE_TO_TIGHT).flatmap(st.sampled_from), OPERANDS)))
def test_operators_bind_as_in_spark(rest: list[tuple[str, str]]) -> None:
    """Parentheses put where precedence puts them change no operation."""
    text = " ".join(["A.x", *(f"{operator} {operand}" for operator, operand in rest)])
    operations = parse_scalar(read_tokens(text), scope(ClausePart.MEASURES))
    explicit = parse_scalar(read_tokens(parenthesize(["A.x"], rest)), scope(ClausePart.MEASURES))
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


def parenthesize(first: list[str], rest: list[tuple[str, str]]) -> str:
    """Return operators and operands, fully parenthesised by a textbook shunting yard."""
    level = {operator: i for i, row in enumerate(LOOSE_TO_TIGHT) for operator in row}
    output, waiting = list(first), []

    def reduce() -> None:
        right, left = output.pop(), output.pop()
        output.append(f"({left} {waiting.pop()} {right})")

    for operator, operand in rest:
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
    """Later passes count on their number; Spark says what is wrong with the call."""
    assert not isinstance(parse_scalar(read_tokens(call), scope(ClausePart.DEFINE)), Operation)


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
def test_the_literal_null(text: str, expected: bool) -> None:
    assert is_null(parse_scalar(read_tokens(text), scope(ClausePart.DEFINE))) is expected
