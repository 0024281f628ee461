"""Random queries from one language to another and back: nothing gets lost on the way.

What is converted is compared as text, so nothing is shared with the comparison of plans by which
`convert` itself decides whether another language says the same.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any

import matchrec
from matchrec.api.convert import conversion
from tests.cases.pattern_notation import built
from tests.generators.patterns import random_question
from tests.generators.sase import random_query
from tests.generators.sequences import random_sequence
from tests.quick.scale import SEED, examples

ORDER = ["t", "n"]


def converted(query: Any, **arguments: Any) -> str | None:
    """The text, or None where the other language cannot say it; there is no other error."""
    asked: dict[str, Any] = {"read": "spark", "write": "spark", "table": "events"} | arguments
    try:
        return conversion(query, **asked).text
    except matchrec.MatchRecognizeUnsupportedError:
        return None


def pattern_of(code: str) -> matchrec.Pattern:
    names: dict[str, Any] = {}
    exec(code, names)
    pattern = names["pattern"]
    assert isinstance(pattern, matchrec.Pattern)
    return pattern


def as_pattern(sql: str, **arguments: Any) -> matchrec.Pattern | None:
    code = converted(sql, write="pattern", **arguments)
    return pattern_of(code) if code else None


def test_sase_by_sql_and_back() -> None:
    said = 0
    for number in range(SEED, SEED + max(examples(100), 50)):
        text = str(random_query(Random(number)))
        sql = converted(text, read="sase", order_by=ORDER)
        if sql is not None:
            said += 1
            keys = ["k"] if "PARTITION BY `k`" in sql else []
            keys = ["k", "w"] if "PARTITION BY `k`, `w`" in sql else keys
            back = converted(sql, write="sase")
            again = converted(back, read="sase", order_by=ORDER, partition_by=keys)
            assert plain(again) == plain(sql), text
    assert said


def test_patterns_by_sql_and_back() -> None:
    """Parentheses and FIRST of a single row may go on the way; then the text stays as it is.

    One way in hundreds is refused: a window between the rows of a match of one row says nothing.
    """
    said = refused = 0
    for number in range(SEED, SEED + max(examples(200), 50)):
        pattern = built(random_question(Random(number)).calls, matchrec.Pattern)
        sql = converted(pattern, order_by=ORDER)
        if sql is not None:
            said += 1
            again = as_pattern(sql)
            if again is None:
                refused += 1
                continue
            back = converted(again, order_by=ORDER)
            assert back is not None, sql
            assert converted(as_pattern(back), order_by=ORDER) == back
    assert said > 100 * refused


def test_sql_by_the_others_and_back() -> None:
    """The first conversion may give another form to SQL; from then on it stays as it is."""
    said = {"pattern": 0, "sase": 0}
    for number in range(SEED, SEED + max(examples(100), 50)):
        text = random_sequence(Random(number))
        keys = ["k"] if "PARTITION BY" in text else []
        pattern, sase = as_pattern(text), converted(text, write="sase")
        if pattern is not None:
            sql = converted(pattern, order_by=ORDER, partition_by=keys)
            assert sql is not None, text
            said["pattern"] += 1
            assert converted(as_pattern(sql), order_by=ORDER, partition_by=keys) == sql
        if sase is not None:
            said["sase"] += 1
            form = "non_overlapping" if "NON-OVERLAPPING" in text else "all"
            there = {"read": "sase", "order_by": ORDER, "partition_by": keys, "form": form}
            sql = converted(sase, **there)
            back = converted(sql, write="sase")
            assert plain(converted(back, **there)) == plain(sql), text
    assert all(said.values()), said


def plain(text: str | None) -> str:
    """A text without what may differ: quotes and parentheses, and the order of conditions."""
    assert text is not None
    bare = " ".join(re.sub(r"[`()']", "", text).split())
    return "\n".join(sorted(re.split(r", | AND | (?=DEFINE )|(?<=DEFINE) ", bare)))
