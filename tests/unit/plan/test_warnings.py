"""Warnings about clauses that run: the records of `warnings.txt`."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from matchrec.errors import warning_classes as kinds
from matchrec.errors.kinds import Located, locate_errors, with_source
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.resolve import InputColumns, resolve
from matchrec.plan.warning_rules.every_rule import find_warnings
from matchrec.source import Source
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause
from tests.unit import golden_text

RECORDS = Path(__file__).parent / "warnings.txt"
INPUT = InputColumns(("sym", "ts", "price"), "t")


def list_warnings(clause: str) -> tuple[MatchRecognizeWarning, ...]:
    """Return the warnings for a clause."""
    with locate_errors(Source(clause)):  # some rules read the user's text
        return find_warnings(resolve(lower_clause(parse_clause(clause)), INPUT))


def show_warnings(clause: str) -> str:
    """Return the class and message of each warning for a clause."""
    clause_warnings = list_warnings(clause)
    return "\n".join(
        f"{type(warning).__name__}: {with_source(warning, Source(clause))}"
        for warning in clause_warnings
    )


def test_plans_have_the_recorded_warnings(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(RECORDS, show_warnings, update)


def test_every_kind_of_warning_about_a_clause_has_a_record() -> None:
    shown = {
        type(warning)
        for record in golden_text.read(RECORDS)
        for warning in list_warnings(record.given)
    }
    classes = {value for value in vars(kinds).values() if isinstance(value, type)}
    warning_classes = {class_ for class_ in classes if issubclass(class_, Located)}
    base_classes = {Located, kinds.MatchRecognizeWarning}
    of_queries = {kinds.ProductWarning, kinds.UnboundedStateWarning}
    of_calls = {kinds.DaysInHoursWarning, kinds.RejectedRuleWarning, kinds.UntunedSessionWarning}
    of_runs, of_frames = {kinds.TiesWarning}, {kinds.NanosecondsWarning}
    assert warning_classes - shown == base_classes | of_queries | of_calls | of_runs | of_frames


@pytest.mark.parametrize(
    "clause_end",
    [
        "PATTERN (STRT DOWN+ UP+) DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)",
        "PATTERN (A X*? B) DEFINE A AS price > 1, B AS price > 2",
        "PATTERN (A X* B) DEFINE A AS price > 1, B AS price > 2",
        "PATTERN (A NEXT_ROW) DEFINE A AS price > 1",
        "PATTERN (A X{3}) DEFINE A AS price > 1",
        "PATTERN (A X*) WITHIN 5 DEFINE A AS price > 1",
        "PATTERN (A X*) DEFINE A AS price > 1, X AS TRUE",
        "PATTERN ((UP | X)+) DEFINE UP AS price > PREV(price)",
        "PATTERN (A B*? $) DEFINE A AS price > 1",
        # The first X*? takes rows up to the second B.
        "PATTERN (A (B X*?){2}) DEFINE A AS price > 1, B AS price > 2, X AS price > 3",
        "PATTERN (A (B X*?)+) DEFINE A AS price > 1, B AS price > 2, X AS price > 3",
        # If the first row is no A, B*? takes rows up to A.
        "PATTERN (PERMUTE(A, B*?)) DEFINE A AS price > 1, B AS price > 2",
        "PATTERN (A (B*? C)?) DEFINE A AS price > 1, B AS price > 2",
        "PATTERN (A B+?) LONGEST MATCH DEFINE A AS price > 1",
        "PATTERN (A B{2}?) DEFINE A AS price > 1",
        "PATTERN (A?) DEFINE A AS price > 1",
        "PATTERN (A B+) DEFINE B AS FIRST(A.price) < price AND PREV(B.price) < B.price",
        "PATTERN (A B+) DEFINE B AS price <=> NULL OR FALSE",
        "PATTERN (A B) DEFINE B AS 1 < 2",
        "PATTERN (A B) SKIP TILL NEXT MATCH DEFINE A AS price > PREV(price)",
        "PATTERN (A? B) SKIP TILL NEXT MATCH DEFINE A AS price > 1, B AS price > PREV(price)",
        "PATTERN (A B) SKIP TILL NEXT MATCH DEFINE B AS price > LAST(price, 1)",
        "PATTERN (A B) SKIP TILL NEXT MATCH DEFINE B AS price > PREV(A.price)",
        "PATTERN (A NOT B) DEFINE A AS price > 1, B AS price > 2",
        "PATTERN (A NOT B C) WITHIN 5 DEFINE A AS price > 1, B AS price > 2, C AS price > 3",
        # NOT B also decides whether C may follow.
        "PATTERN (A NOT B C?) WITHIN 5 DEFINE A AS price > 1, B AS price > 2, C AS price > 3",
        "PATTERN (A NOT B X*) WITHIN 5 DEFINE A AS price > 1, B AS price > 2",
        # At the end of the partition there is no next row.
        "PATTERN (A NOT B $) WITHIN 5 DEFINE A AS price > 1, B AS price > 2",
        "PATTERN (A NOT B) SKIP TILL NEXT MATCH ALL MATCHES WITHIN 5 DEFINE A AS price > 1",
        "PATTERN (A{3}) SKIP TILL NEXT MATCH WITHIN 5 DEFINE A AS price > 1",
        "PATTERN (A{3,}) SKIP TILL NEXT MATCH ALL MATCHES WITHIN 5 DEFINE A AS price > 1",
        "PATTERN (A+ B) SKIP TILL NEXT MATCH DEFINE A AS price > 1, B AS price > 2",
        "PATTERN (A X*) SKIP TILL NEXT MATCH WITHIN 5 DEFINE A AS price > 1",
        "PATTERN (A X*) SKIP TILL NEXT MATCH WITHIN 5 DEFINE A AS price > 1, X AS (TRUE)",
        "PATTERN (A X*) SKIP TILL NEXT MATCH WITHIN 5 DEFINE A AS price > 1, X AS (\n true\t)",
        "PATTERN (A{3,}) WITHIN 5 DEFINE A AS price > 1",
        "PATTERN (A) DEFINE A AS sym LIKE 'a*%' OR sym LIKE '*' OR sym LIKE 'payment%'",
        "PATTERN (A) DEFINE A AS sym LIKE '_*' OR sym LIKE 'a*b' OR 'a*' LIKE sym",
        "PATTERN (A) DEFINE A AS sym = '10%' OR sym = '%' OR sym = '10 %' OR sym = 'a*'",
        "PATTERN (A) DEFINE A AS sym RLIKE '[0-9]+%' OR sym RLIKE '(a|b)%' OR sym RLIKE 'a.*'",
        "PATTERN (A A2) DEFINE A AS price > 1, A2 AS price > 2",
        "PATTERN (A B2 B3) DEFINE A AS price > 1",
        "MEASURES COUNT(A.price) AS n, COUNT(*) AS m PATTERN (A) DEFINE A AS price > 1",
        # NULL if the condition is false, so COUNT counts the intended rows.
        "MEASURES COUNT(A.price > 1 OR NULL) AS n PATTERN (A) DEFINE A AS price > 1",
        "MEASURES COUNT(NULLIF(A.price > 1, FALSE)) AS n PATTERN (A) DEFINE A AS price > 1",
        "MEASURES COUNT(DISTINCT A.price > 1) AS n PATTERN (A) DEFINE A AS price > 1",
        "MEASURES count_if(A.price > 1) AS n PATTERN (A) DEFINE A AS price > 1",
    ],
)
def test_plausible_clauses_raise_no_warning(clause_end: str) -> None:
    assert list_warnings(f"PARTITION BY sym ORDER BY ts {clause_end}") == ()


@pytest.mark.parametrize(
    "condition",
    [
        "price > 5 AND price < 5",
        "price >= 5 AND price < 5",
        "price = 5 AND price <> 5",
        "price = 5 AND price > 7",
        "price > 10 AND price <= 5.5",
        "5 > price AND price > 10",
        "price = 1 AND price = 2",
        "price + 1 > 5 AND price + 1 < 3",
        "price > 10 AND (sym > 'a' AND price < 5)",
        "sym > 'a' OR (price > 10 AND price < 5)",
        "price BETWEEN 1 AND 2 AND price > 3",
        "price IN (1, 2) AND price IN (3, 4)",
        "price IN (1, 2) AND price BETWEEN 3 AND 4",
        "sym = 'X' AND sym = 'Y'",
        "sym = 'X' AND sym <> 'X'",
        "sym IN ('buy', 'sell') AND sym = 'hold'",
        "ts > DATE'2026-02-01' AND ts < DATE'2026-01-01'",
        "ts > '2026-02-01' AND ts < '2026-01-01'",
        "ts BETWEEN DATE'2026-02-01' AND DATE '2026-01-01'",
        "ts - A.ts > INTERVAL 1 HOUR AND ts - A.ts < INTERVAL 5 MINUTE",
        "price > 9 AND price < 8 AND price < 7",
        "CLASSIFIER() = 'A' AND CLASSIFIER() = 'B'",
        "count(*) > 5 AND count(*) < 3",
        "avg(B.price) > 5 AND avg(B.price) < 3",
    ],
)
def test_contradictions_raise_one_warning(condition: str) -> None:
    clause = f"PARTITION BY sym ORDER BY ts PATTERN (A B+) DEFINE B AS {condition}"
    (warning,) = list_warnings(clause)
    assert isinstance(warning, kinds.NeverTrueWarning)


@pytest.mark.parametrize(
    "condition",
    [
        "price > 5 AND price < 10",
        "price >= 5 AND price <= 5",
        "price > 5 OR price < 1",
        "price > 5 AND (price < 10 OR price > 3)",
        "price = 5 AND price = 5.0",
        "price >= 5 AND price < 5.5",
        "price > 5 AND price < 5.5",
        "price > 5 AND PREV(price) < 3",
        "A.price > 5 AND B.price < 3",
        "price BETWEEN 5 AND 5",
        "price NOT BETWEEN 100 AND 50",
        "price > 10 AND abs(price) < 5",
        "price > :low AND price < 5",
        "sym > 'b' AND sym < 'a'",
        "sym = 'a' AND sym = 'A'",
        "sym = 'a' AND sym = 'a '",
        "sym = 'true' AND sym = 'yes'",
        "sym = '1' AND sym = '01'",
        "sym = '1' AND sym = '1.0'",
        "sym = 'X' AND sym <> 'Y'",
        "sym IN ('X', 'Y') AND sym = 'Y'",
        "sym IN ('X', 'Y') AND sym <> 'Y'",
        "sym NOT IN ('X', 'Y')",
        "sym IN ('X', NULL)",
        "price IN (1, 2) AND price IN (2, 3)",
        "price = 1.0000000000000000001 AND price = 1.0000000000000000002",
        "ts > '2026-01-01' AND ts < '2026-1-01'",
        "ts > DATE'2026-02-01' AND ts < '2026-01-01'",
        "ts > DATE'2026-01-01' AND ts < DATE'2026-02-01'",
        "ts <= PREV(ts)",
        "ts > PREV(ts)",
        "ts < NEXT(ts)",
        "ts < PREV(price)",
        "price < PREV(price)",
        "ts < PREV(ts) + 1",
        "ts <> PREV(ts)",
        "count(A.*) = 0",
        "count(B.*) <= 1",
        "count(B.*) < 2",
        "count(B.price) = 0",
        "count(*) FILTER (WHERE price > 5) = 0",
        "count(DISTINCT B.price) = 0",
        "price IS NULL AND sym > 'a'",
    ],
)
def test_conditions_that_can_be_true_raise_no_warning(condition: str) -> None:
    clause = f"PARTITION BY sym ORDER BY ts PATTERN (A B+) DEFINE B AS {condition}"
    assert list_warnings(clause) == ()


def list_dead_alternatives(pattern: str, option: str = "") -> list[str]:
    """Return the messages about alternatives of a pattern that never match.

    B, C and D have conditions, and other variables have none.
    """
    conditions = [f"{name} AS price > {number}" for number, name in enumerate("BCD")]
    used_conditions = [condition for condition in conditions if condition[0] in pattern]
    clause = f"ORDER BY ts PATTERN ({pattern}) {option} DEFINE {', '.join(used_conditions)}"
    messages = [warning.message for warning in list_warnings(clause)]
    return [message for message in messages if "never matches" in message]


@pytest.mark.parametrize(
    "pattern",
    [
        "A | B C",
        "B | B C",
        "S (A | B C)",
        "S (A | B C) D?",
        "(A | B C)+",
        "(B | B C)+",
        "S (B* | C)",
        "B* | C",
        "B+ | B+ C",
        "B | B+ C",
        "B C | D | B C D",
        "S (A | B C){1,3}",
        "S {- (A | B) -}",
        "A+ | B",
        "A | ^ B",
        "S (B | C | B D)?",
        "(A | B) (C | D)*",
        "B | B",
    ],
)
def test_dead_alternatives(pattern: str) -> None:
    assert len(list_dead_alternatives(pattern)) == 1
    # Other matches than the preferred one may need the alternative.
    for option in ("LONGEST MATCH", "ALL MATCHES", "SKIP TILL NEXT MATCH"):
        assert list_dead_alternatives(pattern, option) == []


@pytest.mark.parametrize(
    "pattern",
    [
        "B C | A",
        "B C | B",
        "(A | B C) D",
        "(B | B C) D",
        "(B | B C){2}",
        "(B | C)+",
        "B | C",
        "(B | C | A)+",
        "A | C* $",
        "A | B?",
        "A $ | B",
        "A D | B",
        "A{2} | B C D",
        "^ B | B",
        "PERMUTE(A, B, D)",
        "(A | B) $",
        "(B* | C)+",
        "B C | B D",
        "A NOT B | C",
        "B NOT D | B C",
    ],
)
def test_alternatives_that_can_match(pattern: str) -> None:
    assert list_dead_alternatives(pattern) == []


def test_a_warning_survives_pickling() -> None:
    (warning,) = list_warnings("PATTERN (A) DEFINE A AS price > 1")
    assert str(pickle.loads(pickle.dumps(warning))) == str(warning)
