"""Random queries whose row pattern is a sequence of variables: most of them in every language."""

from __future__ import annotations

from random import Random

OUTPUTS = (
    "STRICT CONTIGUITY ALL MATCHES",
    "SKIP TILL NEXT MATCH ALL MATCHES",
    "SKIP TILL ANY MATCH ALL MATCHES",
    "SKIP TILL ANY MATCH NON-OVERLAPPING MATCHES",
    "",
)
QUANTIFIERS = ("", "", "", "", "+", "+", "*", "{2}", "?")
TESTS = (
    "{own}.x > 1",
    "x <= 3",
    "event_type = 'A'",
    "{own}.event_type = 'it''s'",
    "x > {other}.x",
    "{own}.x BETWEEN {other}.x AND {other}.y + 1",
    "({own}.x = 1 OR y < {other}.y)",
    "NOT (y = 2 AND x = 1)",
    "x > AVG({other}.x)",
    "COUNT({other}.*) > 1",
    "x > FIRST({other}.x)",
    "x > LAST({own}.x, 1)",
    "x > PREV(x)",
    "`x` IS NOT NULL",
    "coalesce(x, {other}.x) <> 0",
)
MEASURES = ("FIRST(A.x) AS x", "LAST(t) AS ended", "SUM(B.x) AS total", "A.x + 1 AS `a b`")


def random_sequence(random: Random) -> str:
    """A query over a table `events`."""
    names = "ABCD"[: random.randint(1, 4)]
    parts = [name + random.choice(QUANTIFIERS) for name in names]
    lines = ["SELECT * FROM events MATCH_RECOGNIZE ("]
    lines += ["PARTITION BY k"] * (random.random() < 0.5)
    lines.append("ORDER BY t, n")
    kept = [one for one in MEASURES if random.random() < 0.3 and ("B" in names or "B" not in one)]
    lines += [f"MEASURES {', '.join(kept)}"] * bool(kept)
    output = random.choice(OUTPUTS)
    if not output:
        lines.append(
            random.choice(("AFTER MATCH SKIP TO NEXT ROW", "AFTER MATCH SKIP PAST LAST ROW"))
        )
    lines.append(f"PATTERN ({' '.join(parts)}) {output}")
    lines += [f"WITHIN {random.randint(2, 9)}"] * (random.random() < 0.3)
    defined = [
        f"{name} AS {random_condition(random, name, names[:at] or name)}"
        for at, name in enumerate(names)
        if random.random() < 0.7
    ]
    lines += [f"DEFINE {', '.join(defined)}"] * bool(defined)
    return "\n".join([*lines, ")"])


def random_condition(random: Random, own: str, earlier: str) -> str:
    """One to three tests of a row, some of which read rows of an earlier variable."""
    chosen = [random.choice(TESTS) for _ in range(random.choice((1, 1, 2, 3)))]
    return " AND ".join(one.format(own=own, other=random.choice(earlier)) for one in chosen)
