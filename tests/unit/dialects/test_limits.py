"""limits.txt has a row for each part of a clause that a translation looks up in it."""

from __future__ import annotations

import pytest

from matchrec.dialects.features import Feature, find_features
from matchrec.dialects.limits import read_limits
from matchrec.dialects.products import PRODUCTS
from matchrec.plan.clauses import SkipTo
from matchrec.syntax.grammar import parse_clause


def test_every_feature_has_a_row() -> None:
    assert set(read_limits()) == set(Feature)


@pytest.mark.parametrize("skip", [skip for skip in SkipTo if skip is not SkipTo.PAST_LAST_ROW])
def test_every_skip_strategy_is_a_feature(skip: SkipTo) -> None:
    words = "TO NEXT ROW" if skip is SkipTo.NEXT_ROW else f"TO {skip.name} A"
    clause = parse_clause(f"AFTER MATCH SKIP {words} PATTERN (A) DEFINE A AS x > 1")
    assert len(list(find_features(clause, PRODUCTS["spark"]))) == 1


def test_features_of_a_clause_in_order() -> None:
    clause = parse_clause("PATTERN (^ (A | B)*? C) DEFINE A AS FIRST(x) > B.x, B AS OVER (x) > 1")
    names = [use.feature.name for use in find_features(clause, PRODUCTS["spark"])]
    assert names == [
        *("UNDEFINED", "FIRST", "OTHER_VARIABLES", "OVER"),
        *("PARTITION_START", "GROUPS", "RELUCTANT", "ALTERNATION"),
    ]
