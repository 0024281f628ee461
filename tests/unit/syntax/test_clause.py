"""The clause: its printed text parses back, its words may be names, and every error message."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import locate_errors
from matchrec.plan.clauses import (
    CLAUSE_CHOICES,
    AfterMatchSkip,
    PartialMatches,
    RowsPerMatch,
    SkipTo,
    Subset,
)
from matchrec.plan.pattern import Concatenation, Quantified, Variable, walk_pattern
from matchrec.source import Source, Span
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.nodes import (
    InitialOrSeek,
    MatchRecognize,
    NamedExpression,
    PartitionKey,
    SortKey,
    WindowNode,
)
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import QuoteDialect, TokenKind
from tests.generators.clause_text import write_clause
from tests.quick.scale import examples
from tests.unit import golden_text

HERE = Path(__file__).parent
NOWHERE = Span(0, 0)

EVERY_PART = """
  PARTITION BY sym, year(ts)
  ORDER BY ts DESC NULLS LAST, x NULLS FIRST, y ASC
  MEASURES FINAL LAST(A.price) - RUNNING FIRST(x) AS gain, count(*) n, A.x AS `end x`
  ALL ROWS PER MATCH WITH UNMATCHED ROWS
  AFTER MATCH SKIP TO FIRST `b c`
  SEEK
  PATTERN (^ A+? (B | `b c`){2,} $) WITHIN INTERVAL '1' HOUR
  SUBSET U = (A, `b c`), V = (B)
  DEFINE A AS A.price > 1, `b c` AS x IN (1, 2)
"""


def test_every_part_has_its_node() -> None:
    clause = parse_clause(EVERY_PART)
    assert clause.partition_by == (
        PartitionKey(read_tokens("sym")),
        PartitionKey(read_tokens("year(ts)")),
    )
    assert clause.order_by == (
        SortKey(read_tokens("ts"), is_descending=True, nulls_first=False),
        SortKey(read_tokens("x"), nulls_first=True),
        SortKey(read_tokens("y"), is_descending=False),
    )
    assert clause.measures == (
        NamedExpression(read_tokens("FINAL LAST(A.price) - RUNNING FIRST(x)"), "gain", NOWHERE),
        NamedExpression(read_tokens("count(*)"), "n", NOWHERE),
        NamedExpression(read_tokens("A.x"), "end x", NOWHERE),
    )
    assert clause.rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED
    assert clause.after_match == AfterMatchSkip(SkipTo.FIRST, "b c")
    assert clause.search is InitialOrSeek.SEEK
    assert clause.within is not None
    assert clause.within.interval == read_tokens("INTERVAL '1' HOUR")
    assert clause.subsets == (Subset("U", ("A", "b c")), Subset("V", ("B",)))
    assert clause.definitions == (
        NamedExpression(read_tokens("A.price > 1"), "A", NOWHERE),
        NamedExpression(read_tokens("x IN (1, 2)"), "b c", NOWHERE),
    )


def test_every_part_has_its_span() -> None:
    source = Source(EVERY_PART)
    clause = parse_clause(EVERY_PART)
    assert [source.text_at(node.span) for node in clause.measures] == ["gain", "n", "`end x`"]
    assert [source.text_at(node.span) for node in clause.definitions] == ["A", "`b c`"]
    assert [source.text_at(span) for subset in clause.subsets for span in subset.member_spans] == [
        "A",
        "`b c`",
        "B",
    ]
    assert clause.within is not None
    for node in (*(key.expression for key in clause.partition_by), clause.within.interval):
        assert source.text_at(node.full_span) == node.text
    variable_spans = [
        node.span
        for node in walk_pattern(clause.pattern)
        if isinstance(node, Variable) and node.span
    ]
    assert [source.text_at(span) for span in variable_spans] == ["A", "B", "`b c`"]


@pytest.mark.parametrize(
    "clause",
    [
        EVERY_PART,
        "pattern(a)",
        "PATTERN ()",
        """ORDER BY measures, pattern, define
        MEASURES measures AS measures, pattern AS pattern, define AS define
        PATTERN (A define*) DEFINE define AS define.x > measures.y AND within > subset""",
        """MEASURES final AS final, one AS one, all AS all, after AS after, first AS last
        ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A) SUBSET subset = (A)""",
        "PARTITION /* c */ BY x -- PATTERN (B)\n PATTERN (a{2,3}{-b-}) DEFINE a AS s = ') DEFINE'",
        "AFTER MATCH SKIP TO next PATTERN (next)",
        "AFTER MATCH SKIP TO FIRST first PATTERN (first last)",
        "AFTER MATCH SKIP TO LAST row PATTERN (row)",
        "PARTITION BY lower(x) AS x, CAST(y AS int) AS `a b`, as, z AS as ORDER BY t PATTERN (A)",
        "ORDER BY first NULLS FIRST, nulls, last DESC, desc, asc ASC PATTERN (A) WITHIN 10",
        "MEASURES CASE WHEN x THEN 1 END e, x IS NULL AS i, (x) p, x[0] AS q PATTERN (A)",
        "MEASURES match.first AS first, t.final fin, A.pattern AS p PATTERN (A) DEFINE A AS define",
        "INITIAL PATTERN (A)",
        "PATTERN (A measures) DEFINE A AS x, measures AS (a, b)",
        "ORDER BY ts PATTERN (A) WITHIN INTERVAL 10 MINUTES DEFINE A AS within = 1",
        "PARTITION BY partition ORDER BY `order` PATTERN (define) DEFINE define AS define = 1",
        "ALL ROWS PER MATCH SHOW EMPTY MATCHES PATTERN (A) SUBSET define = (A) DEFINE A AS true",
        "MEASURES sum(x) FILTER (WHERE y) f, mode() WITHIN GROUP (ORDER BY x) p PATTERN (A)",
        "MEASURES seek AS seek, initial AS initial, within AS within PATTERN (A)",
    ],
)
def test_a_printed_clause_parses_back(clause: str) -> None:
    node = parse_clause(clause)
    assert parse_clause(write_clause(node)) == node


NAMES = st.sampled_from(
    ["A", "B", "pattern", "define", "a b", "DEFINE", "FIRST", "MEASURES", "x`y", "ONE", "SUBSET"]
)
EXPRESSIONS = st.sampled_from(
    [
        *("x", "pattern", "A.x > 1", "measures", "count(*)", "f(a, b)", "'DEFINE A AS'", "x[1]"),
        *("CASE WHEN a THEN b END", "final", "within.x", "(a, b)", "FINAL LAST(x, 2)", "-1"),
        *("define = 1", "subset.`y z`", "x IS NOT NULL", "all", "`PATTERN (`", "a /* ) */ + b"),
    ]
).map(read_tokens)
SKIPS = st.one_of(
    st.sampled_from([SkipTo.NEXT_ROW, SkipTo.PAST_LAST_ROW]).map(AfterMatchSkip),
    st.builds(AfterMatchSkip, st.sampled_from([SkipTo.FIRST, SkipTo.LAST]), NAMES),
)


def draw_several(items: st.SearchStrategy[object], least: int = 0) -> st.SearchStrategy[object]:
    """Draw up to three items."""
    return st.lists(items, min_size=least, max_size=3).map(tuple)


PARTIAL = st.sampled_from(
    [
        PartialMatches(shows_timed_out=True),
        PartialMatches(shows_unfinished=True),
        PartialMatches(shows_timed_out=True, shows_unfinished=True),
    ]
)


def drop_disallowed_partial(clause: MatchRecognize) -> MatchRecognize:
    """Return a clause without SHOW ..., which may only follow ONE ROW or ALL ROWS PER MATCH."""
    return clause if clause.rows_per_match else replace(clause, partial=None)


LENGTHS = EXPRESSIONS.filter(
    lambda written: written.text[0] != "'"
)  # a string would be read as an interval
WINDOWS = st.lists(
    st.one_of(
        st.builds(WindowNode, LENGTHS, st.just(NOWHERE), st.booleans()),
        st.builds(WindowNode, LENGTHS, st.just(NOWHERE), from_variable=NAMES, to_variable=NAMES),
    ),
    max_size=3,
    unique_by=lambda window: (window.is_between_rows, window.from_variable, window.to_variable),
).map(tuple)
CLAUSES = st.builds(
    MatchRecognize,
    pattern=draw_several(NAMES.map(Variable), 2).map(Concatenation) | NAMES.map(Variable),
    partition_by=draw_several(st.builds(PartitionKey, EXPRESSIONS, st.none() | NAMES)),
    order_by=draw_several(
        st.builds(SortKey, EXPRESSIONS, st.none() | st.booleans(), st.none() | st.booleans())
    ),
    measures=draw_several(st.builds(NamedExpression, EXPRESSIONS, NAMES, st.just(NOWHERE))),
    rows_per_match=st.none() | st.sampled_from(CLAUSE_CHOICES),
    partial=st.none() | PARTIAL,
    after_match=st.none() | SKIPS,
    search=st.none() | st.sampled_from(InitialOrSeek),
    windows=WINDOWS,
    subsets=draw_several(st.builds(Subset, NAMES, draw_several(NAMES, 1))),
    definitions=draw_several(st.builds(NamedExpression, EXPRESSIONS, NAMES, st.just(NOWHERE))),
).map(drop_disallowed_partial)


@settings(max_examples=examples(500), deadline=None)
@given(CLAUSES)
def test_any_clause_prints_and_parses_back(clause: MatchRecognize) -> None:
    assert parse_clause(write_clause(clause)) == clause


WORDS = (
    *("PARTITION BY", "ORDER BY", "MEASURES", "ONE ROW PER MATCH", "ALL ROWS PER MATCH", "PATTERN"),
    *("AFTER MATCH SKIP", "TO", "FIRST", "SUBSET", "DEFINE", "AS", "WITHIN", "A", "x", "(", ")"),
    *(",", "=", "1", "PATTERN (A)", "DEFINE A AS", "x AS y", "SEEK", "`a b`", ".", "{-", "*"),
)


def find_span(written: str) -> Span:
    """Return the span of the clause, or of the error.

    A text of blanks has no span that a message could show.
    """
    try:
        clause = parse_clause(written)
        lower_clause(clause)
    except MatchRecognizeError as error:
        return error.span or (Span(-1, -1) if written.strip() else Span(0, 0))
    return clause.span


@settings(max_examples=examples(500), deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
def test_any_words_are_a_clause_or_an_error_with_a_span(written: str) -> None:
    span = find_span(written)
    assert 0 <= span.start <= span.end <= max(1, len(written))


def find_message(written: str) -> str:
    """Return the message of the error for a clause."""
    with pytest.raises(MatchRecognizeError) as raised, locate_errors(Source(written)):
        lower_clause(parse_clause(written))
    return str(raised.value)


def test_wrong_clauses_have_the_recorded_messages(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(HERE / "clause_errors.txt", find_message, update)


def test_clauses_that_hints_advise_are_valid() -> None:
    clauses = [
        hint.replace("WITHIN", "ORDER BY ts PATTERN (A) WITHIN")
        for record in golden_text.read(HERE / "clause_errors.txt")
        for hint in re.findall(
            r"(?m)^  help: write (PATTERN \(.*\)|WITHIN INTERVAL .*\d\S* \w+)$", record.expected
        )
    ]
    assert len(clauses) > 8
    for clause in clauses:
        lower_clause(parse_clause(clause))


def test_parse_clause_shows_its_text_in_errors() -> None:
    with pytest.raises(MatchRecognizeError, match="line 1, column 9"):
        parse_clause("PATTERN (A")


def test_double_quotes_are_names_where_strings_are_not_allowed() -> None:
    in_double_quotes, quote_in_backticks = (
        parse_clause(
            """MEASURES CLASSIFIER('b') AS c AFTER MATCH SKIP TO FIRST 'b'
            PATTERN (A 'b') SUBSET 'u' = (A, 'b') DEFINE 'b' AS 'b'.s <> \"b\"
            """.replace("'", quote)
        )
        for quote in '"`'
    )
    assert lower_clause(in_double_quotes) == lower_clause(quote_in_backticks)
    assert lower_clause(in_double_quotes).definitions[0].variable == "b"


def test_two_double_quotes_in_a_quoted_name_are_one() -> None:
    (token,) = read_tokens('"a""b"', QuoteDialect.QUOTED_NAMES).tokens
    assert (token.kind, token.name, token.span) == (TokenKind.QUOTED, 'a"b', Span(0, 6))
    assert [
        other_token.kind for other_token in read_tokens('r"a"', QuoteDialect.QUOTED_NAMES).tokens
    ] == [TokenKind.STRING]


def test_double_quotes_are_names_everywhere_in_a_dialect_of_quoted_names() -> None:
    in_double_quotes, quote_in_backticks = (
        parse_clause(
            """PARTITION BY 's t' ORDER BY t.'k' DESC MEASURES PREV('x') AS 'the name',
              sum('b'.'x' + 'b'.x) FILTER (WHERE 'b'.'y z' > 1) AS s, CLASSIFIER('b') AS c
            AFTER MATCH SKIP TO FIRST 'b' PATTERN (A 'b') WITHIN 3 SUBSET 'u' = (A, 'b')
            DEFINE 'b' AS NOT'x'AND 'b'.'y' > LAST(A.'y') + (SELECT max('z') FROM r AS 'q'('z'))
            """.replace("'", quote),
            QuoteDialect.QUOTED_NAMES,
        )
        for quote in '"`'
    )
    assert lower_clause(in_double_quotes) == lower_clause(quote_in_backticks)


def test_a_quantifier_may_follow_an_exclusion_without_a_blank() -> None:
    pattern = parse_clause("PATTERN (A?? {- B -}{2})").pattern
    assert isinstance(pattern, Concatenation)
    assert [part.least for part in pattern.parts if isinstance(part, Quantified)] == [0, 2]
