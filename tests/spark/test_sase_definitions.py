"""Worked examples of SASE+: strategies, Kleene plus, negation, NULL, windows and output.

All matches were found by hand from the definitions, not taken from a run. If an example is a row of
a table of the specification, the comment above it names the table. `sase_streams` explains how
streams are written.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.properties.test_queries import INTERPRETED, settings
from tests.quick.scale import some_of
from tests.spark.sase_streams import Worked, collect_matches, match_graph, match_verbose

STRATEGIES = [
    # 2.4: "a then b" under each strategy
    Worked(
        "PATTERN SEQ(A a, B b) WHERE strict_contiguity",
        {"a b": "a b", "a c b": "", "a1 a2 b": "a2 b", "g1:a g2:c g1:b": ""},
    ),
    Worked(
        "PATTERN SEQ(A a, B b) WHERE strict_contiguity(a, b) { [k] }",
        {"g1:a g1:b": "a b", "g1:a g2:b": "", "g1:a g2:c g1:b": "", "?:a ?:b": ""},
    ),
    Worked(
        "PATTERN SEQ(A a, B b) WHERE partition_contiguity(a, b) { [k] }",
        {
            "g1:a g2:c g1:b": "a b",
            "g1:a g1:c g1:b": "",
            "g1:a1 g2:a2 g1:b1 g2:b2": "a1 b1, a2 b2",
            "?:a ?:b": "",
            "g1:a ?:c g1:b": "a b",
        },
    ),
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) {}",
        {"a c b1 b2": "a b1", "a1 a2 b": "a1 b, a2 b", "a b1 b2": "a b1"},
    ),
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) {}",
        {"a c b1 b2": "a b1, a b2", "a1 a2 b": "a1 b, a2 b"},
    ),
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match { [k] }",
        {"g1:a g2:b1 g1:b2": "a b2", "?:a ?:b": "", "g1:a ?:b1 g1:b2": "a b2"},
    ),
    # a relevant event is one that satisfies the predicates
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match { b.x > a.x }",
        {"a=2 b1=1 b2=3 b3=4": "a b2", "a=2 b1=? b2=3": "a b2"},
    ),
    # without WHERE
    Worked("PATTERN SEQ(A a, B b)", {"a c b1 b2": "a b1"}),
    # the dialect of the prototype
    Worked(
        "PATTERN SEQ(A a, !(C c), B b) WHERE skip-till-any-match AND [k] AND b.x > 1 WITHIN 3",
        {"a b1=2 b2=2 b3=2": "a b1, a b2", "a b1=2 c b2=2": "a b1", "g1:a g2:c g1:b=2": "a b"},
    ),
]

KLEENE = [
    # 30: `a+ b`
    Worked(
        "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[], b) {}",
        {"a1 b1 b2": "a1 b1, a1 b2", "a1 a2 b1": "a1 a2 b1, a2 b1", "a1 c a2 b": "a1 a2 b, a2 b"},
    ),
    Worked(
        "PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match(a[], b) {}",
        {"a1 a2 b": "a1 b, a2 b, a1 a2 b", "a1 b1 b2": "a1 b1, a1 b2"},
    ),
    Worked(
        "PATTERN SEQ(A+ a[], B b) WHERE strict_contiguity {}",
        {"a1 a2 b": "a1 a2 b, a2 b", "a1 b1 b2": "a1 b1", "a1 c a2 b": "a2 b"},
    ),
    # D8: every prefix of a Kleene plus at the end, under skip till any match every sub-sequence
    Worked(
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match {}",
        {"a b1 c b2": "a b1, a b1 b2", "a": "", "a b1 b2 b3": "a b1, a b1 b2, a b1 b2 b3"},
    ),
    Worked(
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match {}",
        {"a b1 c b2": "a b1, a b2, a b1 b2"},
    ),
    Worked(
        "PATTERN SEQ(A a, B+ b[]) WHERE strict_contiguity {}", {"a b1 b2 c b3": "a b1, a b1 b2"}
    ),
    # a closing condition of a Kleene plus, at the end of the match and in its middle
    Worked(
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match { b[b.LEN].x > b[1].x }",
        {"a b1=2 b2=1 b3=3": "a b1 b3, a b2 b3, a b1 b2 b3", "a b=1": ""},
    ),
    Worked(
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match { b[b.LEN].x > b[1].x }",
        {"a b1=2 b2=1 b3=3": "a b1 b2 b3"},
    ),
    Worked(
        "PATTERN SEQ(A+ a[]) WHERE strict_contiguity { a.LEN = 2 }", {"a1 a2 a3": "a1 a2, a2 a3"}
    ),
    Worked(
        "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { a[a.LEN].x > 1 }",
        {"a1=1 b1 a2=2 b2": "a1 a2 b2, a2 b2"},
    ),
    # a[1], a[i], a[i-1] and aggregates so far; nothing constrains a[1] through a[i]
    Worked(
        "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { a[1].x = 1 AND a[i].x > a[i-1].x }",
        {"a1=1 a2=3 a3=2 a4=4 b": "a1 a2 a4 b", "a1=2 a2=3 b": ""},
    ),
    Worked(
        "PATTERN SEQ(A+ a[]) WHERE strict_contiguity { a[i].x >= sum(a[..i-1].x) "
        "AND count(a[..i-1]) < 3 }",
        {"a1=1 a2=1 a3=2 a4=4": "a1, a1 a2, a1 a2 a3, a2, a2 a3, a2 a3 a4, a3, a3 a4, a4"},
    ),
    Worked(
        "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match "
        "{ b.x > max(a[].x) OR b.x < min(a[].x) }",
        {"a1=2 a2=4 b1=3 b2=5": "a1 a2 b2, a2 b1, a2 b2", "a1=2 a2=4 b=1": "a1 a2 b, a2 b"},
    ),
    # an event may be mapped in two ways: two matches
    Worked(
        "PATTERN SEQ(A+ a[], A b) WHERE strict_contiguity {}",
        {"a1 a2 a3": "a1 a2, a1 a2 a3, a2 a3"},
    ),
]

NEGATION = [
    # D5, at the beginning: c counts if it is in the window that reaches to the end of the match
    Worked(
        "PATTERN SEQ(~(C c), A a, B b) WITHIN 5",
        {"c@1 a@3 b@5": "", "c@1 a@3 b@6": "a b", "c@3 a@3 b@6": "", "a@1 c@2 b@3": "a b"},
    ),
    # in the middle: strictly between the last event of the one and the first of the other
    Worked(
        "PATTERN SEQ(A a, ~(C c), B b)",
        {"a1 c a2 b": "a2 b", "a b1 c b2": "a b1", "c a b c": "a b"},
    ),
    Worked("PATTERN SEQ(A a, ~C c, B b) WHERE skip_till_any_match {}", {"a b1 c b2": "a b1"}),
    Worked(
        "PATTERN SEQ(A+ a[], !C c, B+ b[]) WHERE skip_till_next_match {}",
        {"a1 c a2 b": "a1 a2 b, a2 b", "a b1 c b2": "a b1, a b1 b2", "a c b": ""},
    ),
    # at the end: c counts if it is in the window of the match's first event
    Worked(
        "PATTERN SEQ(A a, B b, ~(C c)) WITHIN 5",
        {"a@1 b@2 c@5": "", "a@1 b@2 c@6": "a b", "a@1 b@2": "a b", "a@1 c@2 b@3": "a b"},
    ),
    Worked(
        "PATTERN SEQ(~(C c), A a, ~(D d)) WITHIN 3 EVENTS",
        {"c a": "", "c e e a": "a", "a e d": "", "a e e d": "a", "c e a": ""},
    ),
    # several in a row: none of them may occur
    Worked("PATTERN SEQ(A a, ~(C c), ~(D d), B b)", {"a d b": "", "a c b": "", "a e b": "a b"}),
    # predicates of the negated event, with events before and behind it
    Worked(
        "PATTERN SEQ(A a, ~(C c), B b) WHERE skip_till_next_match { c.x = a.x }",
        {"a=1 c=2 b": "a b", "a=1 c=1 b": "", "a=1 c=? b": "a b", "a=1 c1=2 c2=1 b": ""},
    ),
    Worked(
        "PATTERN SEQ(A a, ~(C c), B b) WHERE skip_till_next_match { c.x > b.x AND c.x < 9 }",
        {"a c=2 b=1": "", "a c=2 b=3": "a b", "a c=9 b=3": "a b"},
    ),
    Worked(
        "PATTERN SEQ(A+ a[], ~(C c), B b) WHERE strict_contiguity { c.x > avg(a[].x) } WITHIN 9",
        {"a1=1 a2=5 b": "a1 a2 b, a2 b", "a1 c b": ""},
    ),
    Worked(
        "PATTERN SEQ(A a, ~(C c), B b) WHERE skip_till_next_match { [k] }",
        {"g1:a g2:c g1:b": "a b", "g1:a g1:c g1:b": "", "g1:a ?:c g1:b": "a b"},
    ),
]

NULLS_AND_WINDOWS = [
    # D6: an unknown predicate counts as false, and so the event is irrelevant
    Worked(
        "PATTERN SEQ(A+ a[]) WHERE skip_till_next_match { a[i].x > a[i-1].x }",
        {"a1=1 a2=? a3=2": "a1, a1 a3, a2, a3"},
    ),
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match { NOT (b.x = a.x) }",
        {"a=1 b1=? b2=1 b3=2": "a b3", "a=? b=1": ""},
    ),
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match { b.x IS NULL OR b.x IN (3, NULL) }",
        {"a b1=2 b2=3": "a b2", "a b1=? b2=3": "a b1"},
    ),
    # an average passes over NULL
    Worked(
        "PATTERN SEQ(A+ a[]) WHERE strict_contiguity "
        "{ a[i].x > avg(a[..i-1].x) OR a[i].x IS NULL }",
        {"a1=1 a2=? a3=2": "a1, a1 a2, a1 a2 a3, a2, a3"},
    ),
    # D1: an event exactly at the length of the window is outside
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match {} WITHIN 3",
        {"a@1 b1@3 b2@4": "a b1", "a@1 b@1": "a b", "b@1 a@1": ""},
    ),
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match {} WITHIN 3 EVENTS",
        {"a b1 b2 b3": "a b1, a b2", "a c c b": ""},
    ),
    # a run ends with its window, and does not skip later events
    Worked(
        "PATTERN SEQ(A+ a[]) WHERE skip_till_next_match {} WITHIN 2",
        {"a1@1 a2@2 a3@3": "a1, a1 a2, a2, a2 a3, a3"},
    ),
]

NON_OVERLAPPING = [
    # D9: the match that completes first, among these the one that starts first; then after its end
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match {}",
        {"a1 a2 b1 b2 a3 b3": "a1 b1, a3 b3", "a1 b1 b2": "a1 b1"},
        "non_overlapping",
    ),
    # among equal starts, the one with the least positions
    Worked(
        "PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match {}",
        {"a1 a2 b": "a1 a2 b"},
        "non_overlapping",
    ),
    # in each partition of the equivalence tests
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match { [k] }",
        {"g1:a1 g2:a2 g1:b1 g2:b2": "a1 b1, a2 b2"},
        "non_overlapping",
    ),
    # without tests, and under strict contiguity, the stream is one partition
    Worked(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match { a.k = b.k }",
        {"g1:a1 g2:a2 g1:b1 g2:b2": "a1 b1"},
        "non_overlapping",
    ),
    Worked(
        "PATTERN SEQ(A a, ANY b) WHERE strict_contiguity { a.k = b.k }",
        {"g1:a1 g1:a2 g1:a3 g1:a4": "a1 a2, a3 a4"},
        "non_overlapping",
    ),
    Worked(
        "PATTERN SEQ(A+ a[]) WHERE skip_till_next_match {}",
        {"a1 a2 a3": "a1, a2, a3"},
        "non_overlapping",
    ),
    # a match that a negation removes does not prevent others
    Worked(
        "PATTERN SEQ(A a, ~(C c), B b) WHERE skip_till_any_match {}",
        {"a1 c a2 b1 b2": "a2 b1", "a1 c b1 a2 b2": "a2 b2"},
        "non_overlapping",
    ),
]

ALL = STRATEGIES + KLEENE + NEGATION + NULLS_AND_WINDOWS


@pytest.fixture(autouse=True)
def interpreted(spark: SparkSession) -> Iterator[None]:
    """Run Spark's queries without compiling them, which is faster for many small ones."""
    with settings(spark, **INTERPRETED):
        yield


def test_all_matches(spark: SparkSession) -> None:
    cases = some_of(ALL)
    results = collect_matches(spark, cases, match_verbose("matches"))
    for case, matches in zip(cases, results, strict=True):
        assert matches == case.list_expected(), case.query


@pytest.mark.once
def test_non_overlapping_matches(spark: SparkSession) -> None:
    results = collect_matches(spark, NON_OVERLAPPING, match_verbose("non_overlapping"))
    for case, matches in zip(NON_OVERLAPPING, results, strict=True):
        assert matches == case.list_expected(), case.query


def test_least_positions_where_an_event_can_be_mapped_in_two_ways(spark: SparkSession) -> None:
    """The first match that begins with b1 is the one with the least positions.

    All matches end with c, because only b[] = b2 a b3 c has 4 events. This match comes before
    b1 b2 b3 c, whose b[] is c.
    """
    case = Worked(
        "PATTERN SEQ(B+ a[], ANY+ b[]) WHERE skip_till_next_match { b.LEN = 4 OR b[1].x = 0 }",
        {"b1 b2 a b3 c=0": "b1 b2 a b3 c"},
    )
    assert collect_matches(spark, [case], match_verbose("non_overlapping")) == [
        case.list_expected()
    ]


def test_the_graph_expands_to_all_matches(spark: SparkSession) -> None:
    cases = some_of(ALL[::2])
    results = collect_matches(spark, cases, match_graph)
    for case, matches in zip(cases, results, strict=True):
        assert matches == case.list_expected(), case.query
