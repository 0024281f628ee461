"""The PATTERN grammar: printed patterns parse back, spans are right, and every error message."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import locate_errors
from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Empty,
    Exclusion,
    PartitionEnd,
    PartitionStart,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    list_children,
    make_alternation,
    make_concatenation,
    make_permutation,
    show_pattern,
    walk_pattern,
)
from matchrec.source import Source, Span
from matchrec.syntax.row_pattern import MAX_NESTED_GROUPS, parse_row_pattern
from tests.quick.scale import examples
from tests.unit import golden_text

HERE = Path(__file__).parent
A, B, LOWER = Variable("A"), Variable("B"), Variable("a b`c")
LEAVES: tuple[RowPattern, ...] = (A, B, Empty(), PartitionStart(), PartitionEnd())
QUANTIFIERS = ((0, None), (1, None), (0, 1), (2, 2), (2, None), (0, 3), (2, 3), (1, 1))


def make_parents(parts: tuple[RowPattern, ...]) -> tuple[RowPattern, ...]:
    """Return all nodes that have one or two of the parts as children."""
    pairs = tuple(product(parts, repeat=2))
    return (
        *(make_concatenation(pair) for pair in pairs),
        *(make_alternation(pair) for pair in pairs),
        *(make_permutation(pair) for pair in pairs),
        *(
            Quantified(part, least, most, is_greedy=is_greedy)
            for part in parts
            for least, most in QUANTIFIERS
            for is_greedy in (True, False)
        ),
        *(Exclusion(part) for part in parts),
    )


def test_all_small_trees_print_and_parse_back() -> None:
    small = make_parents(LEAVES)
    pairs = (make_concatenation((tree, leaf)) for tree in small for leaf in LEAVES)
    larger = (*make_parents(small[::5]), *pairs)
    for tree in (*LEAVES, LOWER, *small, *larger):
        assert parse_row_pattern(show_pattern(tree)) == tree


def draw_trees() -> st.SearchStrategy[RowPattern]:
    """Draw row patterns."""
    names = st.text(min_size=1, max_size=6).map(Variable)
    leaves = st.one_of(st.sampled_from((*LEAVES, LOWER)), names)
    bounds = st.tuples(st.integers(0, 9), st.integers(1, 9) | st.none()).filter(
        lambda pair: pair[1] is None or pair[0] <= pair[1]
    )

    def draw_parents(parts: st.SearchStrategy[RowPattern]) -> st.SearchStrategy[RowPattern]:
        several = st.lists(parts, min_size=1, max_size=4)
        return st.one_of(
            several.map(make_concatenation),
            several.map(make_alternation),
            several.map(make_permutation),
            parts.map(Exclusion),
            st.builds(
                lambda part, pair, is_greedy: Quantified(part, *pair, is_greedy),
                parts,
                bounds,
                st.booleans(),
            ),
        )

    return st.recursive(leaves, draw_parents, max_leaves=25)


@settings(max_examples=examples(300), deadline=None)
@given(draw_trees())
def test_any_tree_prints_and_parses_back(tree: RowPattern) -> None:
    assert parse_row_pattern(show_pattern(tree)) == tree


@settings(max_examples=examples(200), deadline=None)
@given(draw_trees(), st.sampled_from([" ", "\n", "\t ", " /* ) */ ", " -- )\n", "/*/* | */*/"]))
def test_layout_and_comments_between_symbols_change_nothing(tree: RowPattern, blank: str) -> None:
    text = show_pattern(tree)
    if "`" not in text:
        assert parse_row_pattern(blank + text.replace(" ", blank) + blank) == tree


def parse_or_find_error(text: str) -> RowPattern | Span:
    """Return the pattern, or the span of the error; -1 to -1 if the error has no span."""
    try:
        return parse_row_pattern(text)
    except MatchRecognizeError as error:
        return error.span or Span(-1, -1)


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet='AB(){}|*+?,^$-` 12"PERMUTE', max_size=14))
def test_any_text_is_a_pattern_or_an_error_with_a_span(text: str) -> None:
    result = parse_or_find_error(text)
    if isinstance(result, Span):
        assert 0 <= result.start <= result.end <= len(text)
    else:
        assert parse_row_pattern(show_pattern(result)) == result


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A|()|B", Alternation((A, Empty(), B))),
        ("A??", Quantified(A, 0, 1, is_greedy=False)),
        ("A ? ?", Quantified(A, 0, 1, is_greedy=False)),
        ("A{,}", Quantified(A, 0, None)),
        ("A{ 2 , }?", Quantified(A, 2, None, is_greedy=False)),
        ("a|A", Alternation((A, A))),
        ("", Empty()),
        ("(())", Empty()),
        ("A () B", Concatenation((A, B))),
        ("(A B) C", Concatenation((A, B, Variable("C")))),
        ("PERMUTE(A B, A|B)", Permutation((Concatenation((A, B)), Alternation((A, B))))),
        ("PERMUTE(A)", A),
        ("permute*", Quantified(Variable("PERMUTE"), 0, None)),
        ("`permute`", Variable("permute")),
        ('"x""y"', Variable('x"y')),
        ("{-A-}+", Quantified(Exclusion(A), 1, None)),
        ("A{2}{-B-}", Concatenation((Quantified(A, 2, 2), Exclusion(B)))),
        ("été", Variable("ÉTÉ")),
    ],
)
def test_each_spelling_parses_to_its_tree(text: str, tree: RowPattern) -> None:
    assert parse_row_pattern(text) == tree


def test_spans_count_from_the_start_of_the_whole_text() -> None:
    text = "PATTERN ( (A B)+? | {- C -} )"
    source = Source(text)
    tree = parse_row_pattern(text, Span(text.index("(") + 1, text.rindex(")")))
    written = {source.text_at(node.span) for node in walk_pattern(tree) if node.span}
    assert written == {"(A B)+? | {- C -}", "(A B)+?", "A B", "A", "B", "{- C -}", "C"}


@settings(max_examples=examples(100), deadline=None)
@given(draw_trees())
def test_spans_of_children_are_inside_the_spans_of_parents(tree: RowPattern) -> None:
    for node in walk_pattern(parse_row_pattern(show_pattern(tree))):
        for child in list_children(node):
            assert node.span is not None
            assert child.span is not None
            assert node.span.start <= child.span.start <= child.span.end <= node.span.end


def test_too_many_nested_groups_are_an_error() -> None:
    deep = "(" * MAX_NESTED_GROUPS + "A" + ")" * MAX_NESTED_GROUPS
    assert parse_row_pattern(deep) == A
    with pytest.raises(MatchRecognizeError, match="nested more than 100 groups deep"):
        parse_row_pattern(f"({deep})")


def find_message(text: str) -> str:
    """Return the message of the error for a pattern."""
    with pytest.raises(MatchRecognizeError) as raised, locate_errors(Source(text)):
        parse_row_pattern(text)
    return str(raised.value)


def test_wrong_row_patterns_have_the_recorded_messages(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(HERE / "row_pattern_errors.txt", find_message, update)
