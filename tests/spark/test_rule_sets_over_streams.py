"""Rule sets over streams: what comes out in pieces is what all rows give at once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import Pattern, RuleMatches
from tests.properties.test_queries import INTERPRETED, settings
from tests.quick.scale import examples
from tests.spark.test_streaming import events_of, pieces_of
from tests.tasks.stream_pieces import Group, StreamedRules, times

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.MatchRecognizeWarning")

STREAMS: dict[str, Any] = {"order_by": ["ts", "x"], "partition_by": "k"}
SOON = Pattern.begin("a").where("v = 'a'").followed_by("b").where("v = 'b'")
RULES: dict[str, str | Pattern] = {
    "rises": """MEASURES MATCH_NUMBER() AS m, FIRST(A.x) AS first, sum(B.x) AS total
        AFTER MATCH SKIP TO NEXT ROW PATTERN (A B+) WITHIN INTERVAL 9 SECONDS
        DEFINE A AS v = 'a', B AS x > PREV(x)""",
    "rows": """MEASURES CLASSIFIER() AS c, PREV(x) AS before ALL ROWS PER MATCH WITH UNMATCHED ROWS
        PATTERN (A B? C) WITHIN INTERVAL 20 SECONDS
        DEFINE A AS v = 'a', B AS x < avg(A.x) + 1, C AS v <> 'z'""",
    "hidden": """MEASURES count(*) AS n ALL ROWS PER MATCH OMIT EMPTY MATCHES
        PATTERN (A {- B -} C | ()) WITHIN INTERVAL 9 SECONDS DEFINE A AS v = 'a', C AS v = 'b'""",
    "next": """MEASURES LAST(v) AS v AFTER MATCH SKIP TO LAST B
        PATTERN (A B{1,3}) DEFINE A AS v = 'a', B AS v IN ('a', 'b') AND x >= NEXT(x)""",
    "none": "PATTERN (A*) WITHIN INTERVAL 3 SECONDS DEFINE A AS x = 1",
    "pairs": """PATTERN SEQ(a p, b+ q[], c r) WHERE skip_till_any_match { q[i].x >= p.x }
        WITHIN 9 seconds RETURN p.x AS x, sum(q[].x) AS total, r.ts AS last""",
    "soon": SOON.within("6 seconds"),
    "alone": SOON.not_followed_by("c").where("v = 'c'").within("4 seconds"),
    "strict": Pattern.begin("b").where("v = 'b'").next("c").where("v = 'c' AND x > last(b.x)"),
}


def plain(value: object) -> object:
    """A value of Arrow's or Spark's as both have it."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def of_rows(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(repr(plain(row)) for row in rows)


def query_of(rules: dict[str, str | Pattern], **options: Any) -> Callable[[DataFrame], RuleMatches]:
    return lambda events: matchrec.match_all(
        events, rules, **{**STREAMS, "type_column": "v", **options}
    )


def random_events(rnd: random.Random, keys: list[str | None]) -> list[tuple[Any, ...]]:
    """The last two of each key end what waits for a row and for the one after it."""
    return [
        (key, second, rnd.choice("aabbbc") if second < 900 else "z", rnd.randrange(5))
        for key in keys
        for second in [*sorted(rnd.choices(range(100, 125), k=10)), 900, 901]
    ]


@pytest.mark.parametrize("seed", range(examples(24)))
def test_any_pieces_give_what_the_whole_gives(spark: SparkSession, seed: int) -> None:
    rnd = random.Random(seed)
    events = events_of(spark, random_events(rnd, [*"pqrstu", None]))
    names = sorted(rnd.sample(sorted(RULES), rnd.randint(2, len(RULES))))
    query = query_of({name: RULES[name] for name in (RULES if seed == 0 else names)})
    with settings(spark, **INTERPRETED):
        streamed, at_once = StreamedRules(query, events, "ts"), query(events)._built.rows
        assert streamed.found._built.rows.dtypes == at_once.dtypes
        expected = of_rows([row.asDict(recursive=True) for row in at_once.collect()])
    found = [
        row
        for frame in streamed.by_key
        for row in streamed.in_pieces(frame, pieces_of(times(frame), rnd), Group())
    ]
    assert of_rows(found) == expected
