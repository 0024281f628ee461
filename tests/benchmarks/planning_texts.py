"""The queries that planning is measured with. Each family grows with n in one respect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from matchrec import Pattern
from matchrec.patterns.sase import StreamOptions, compile_sase
from matchrec.patterns.stages.lower import lower_pattern
from matchrec.patterns.stages.query import PatternQuery
from matchrec.plan.match_plan import MatchPlan
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause

COLUMNS = "k string, t bigint, x bigint, y bigint, event_type string"
TABLE = "SELECT 'X' AS k, id AS t, id % 7 AS x, id % 11 AS y, 'E' AS event_type FROM range(100)"
Text = Callable[[int], str]


def repeat(count: int, text: str, between: str = " ") -> str:
    """Return the text `count` times; `#` in it is replaced by 0, 1, 2, …"""
    return between.join(text.replace("#", str(number)) for number in range(count))


def write_query(
    define: str = "",
    pattern: str = "A B",
    measures: str = "A.x AS m",
    keys: str = "PARTITION BY k ORDER BY t",
    other: str = "",
) -> str:
    """Return a query with one clause."""
    definitions = f"DEFINE {define}" if define else ""
    return (
        f"SELECT * FROM r MATCH_RECOGNIZE ({keys} MEASURES {measures} PATTERN ({pattern})"
        f" {other} {definitions})"
    )


def define_b(condition: str, **parts: str) -> str:
    """Return a query whose DEFINE has a condition for B."""
    return write_query(f"B AS {condition}", **parts)


CONDITIONS: Mapping[str, Text] = {
    "OR of columns": lambda n: define_b(repeat(n, "x = #", " OR ")),
    "AND of columns": lambda n: define_b(repeat(n, "x <> #", " AND ")),
    "OR, qualified": lambda n: define_b(repeat(n, "B.x = #", " OR ")),
    "OR with PREV": lambda n: define_b(repeat(n, "x > PREV(y) + #", " OR ")),
    "OR on the run": lambda n: define_b(repeat(n, "x > A.x + #", " OR ")),
    "AND on the run": lambda n: define_b(repeat(n, "x <> A.x + #", " AND ")),
    "OR of aggregates on the run": lambda n: define_b(repeat(n, "sum(A.x + #) > y", " OR ")),
    "sum of terms on the run": lambda n: define_b(f"{repeat(n, 'A.x * #', ' + ')} > x"),
    "sum of columns": lambda n: define_b(f"{repeat(n, 'x * #', ' + ')} > y"),
    "IN list": lambda n: define_b(f"x IN ({repeat(n, '#', ', ')})"),
    "IN list on the run": lambda n: define_b(f"A.x + x IN ({repeat(n, '#', ', ')})"),
    "CASE branches": lambda n: define_b(f"CASE {repeat(n, 'WHEN x = # THEN y > #')} END"),
    "CASE on the run": lambda n: define_b(f"CASE {repeat(n, 'WHEN x = A.x + # THEN y > #')} END"),
    "COALESCE on the run": lambda n: define_b(f"coalesce({repeat(n, 'A.x + x', ', ')}) > 1"),
    "GREATEST on the run": lambda n: define_b(f"greatest({repeat(n, 'A.x + #', ', ')}) > x"),
    "GREATEST of computed values": lambda n: define_b(
        f"greatest({repeat(n, 'A.x + x', ', ')}) > 1"
    ),
    "lambdas": lambda n: define_b(repeat(n, "exists(array(x), e -> e > #)", " OR ")),
    "rows back on the run": lambda n: write_query(
        f"B AS LAST(x, {n}) > 1 AND LAST(CLASSIFIER(), {n}) = 'A'", pattern="A B*"
    ),
    "subqueries": lambda n: define_b(repeat(n, "x > (SELECT max(id) FROM range(#))", " OR ")),
    "RUNNING": lambda n: define_b(repeat(n, "RUNNING sum(A.x) > #", " OR ")),
    "calls": lambda n: define_b(repeat(n, "abs(x + #) > 1", " OR ")),
    "groups": lambda n: define_b(repeat(n, "(x = # AND (y > 1 OR x > 2))", " OR ")),
    "one long string": lambda n: define_b(f"x = length('{'a' * 10 * n}')"),
}
CLAUSES: Mapping[str, Text] = {
    "measures": lambda n: write_query(measures=repeat(n, "A.x + # AS m#", ", ")),
    "measures of aggregates": lambda n: write_query(measures=repeat(n, "sum(A.x * #) AS m#", ", ")),
    "one long measure": lambda n: write_query(measures=f"{repeat(n, 'A.x * #', ' + ')} AS m"),
    "measures of all rows": lambda n: write_query(
        measures=repeat(n, "FINAL LAST(B.x + #) AS m#", ", "), other="", pattern="A B+"
    ).replace(" PATTERN", " ALL ROWS PER MATCH PATTERN"),
    "definitions": lambda n: write_query(
        repeat(n, "V# AS x = #", ", "), pattern=repeat(n, "V#"), measures="V0.x AS m"
    ),
    "definitions, alternatives": lambda n: write_query(
        repeat(n, "V# AS x = #", ", "), pattern=f"({repeat(n, 'V#', ' | ')})+", measures="V0.x AS m"
    ),
    "definitions on the run": lambda n: write_query(
        repeat(n, "V# AS x > FIRST(x) + #", ", "), pattern=repeat(n, "V#"), measures="V0.x AS m"
    ),
    "definitions of the one before": lambda n: write_query(
        ", ".join(f"V{i + 1} AS x > V{i}.x" for i in range(n)),
        pattern=repeat(n + 1, "V#"),
        measures="V0.x AS m",
    ),
    "subsets": lambda n: write_query(
        "B AS x > 1", other=f"SUBSET {repeat(n, 'S# = (A, B)', ', ')}"
    ),
    "one subset of many": lambda n: write_query(
        pattern=repeat(n, "V#"), measures="S.x AS m", other=f"SUBSET S = ({repeat(n, 'V#', ', ')})"
    ),
    "partition keys": lambda n: write_query(
        keys=f"PARTITION BY {repeat(n, 'x + #', ', ')} ORDER BY t"
    ),
    "order keys": lambda n: write_query(keys=f"PARTITION BY k ORDER BY {repeat(n, 'x + #', ', ')}"),
    "measures of classifiers": lambda n: write_query(
        repeat(n, "V# AS x = #", ", "),
        pattern=f"({repeat(n, 'V#', ' | ')})+",
        measures=repeat(n, "LAST(V#.x) AS m#", ", "),
    ),
}
PATTERNS: Mapping[str, Text] = {
    "A A A": lambda n: write_query(pattern=repeat(n, "A")),
    "alternatives": lambda n: write_query(
        pattern=f"({repeat(n, 'V#', ' | ')})*", measures="V0.x AS m"
    ),
    "A* A* A*": lambda n: write_query("A AS x > 1", pattern=repeat(n, "A*")),
    "V0* V1* V2*": lambda n: write_query(pattern=repeat(n, "V#*"), measures="V0.x AS m"),
    "V0+ V1+ V2+": lambda n: write_query(pattern=repeat(n, "V#+"), measures="V0.x AS m"),
    "A? A? A?": lambda n: write_query(pattern=repeat(n, "A?")),
    "A{n}": lambda n: write_query(pattern=f"A{{{n}}}"),
    "A{,n}": lambda n: write_query(pattern=f"A{{,{n}}} B"),
    "(A B or C){n}": lambda n: write_query(pattern=f"(A B | C){{{n}}}"),
    "(A or B*){n}": lambda n: write_query(pattern=f"(A | B*){{{n}}}"),
    "(A* B*){,n}": lambda n: write_query(pattern=f"(A* B*){{,{n}}}"),
    "(A B)* (A B)*": lambda n: write_query(pattern=repeat(n, "(A B)*")),
    "A+ on the run": lambda n: write_query(
        "B AS x > A.x", pattern=f"A B {repeat(n, 'A+ B')}", measures="A.x AS m"
    ),
}
QUERIES: Mapping[str, Text] = {
    "clauses": lambda n: " UNION ALL ".join([write_query("B AS x > 1")] * n),
    "clauses in WITH": lambda n: (
        "WITH "
        + ", ".join(f"c{i} AS ({write_query('B AS x > 1')})" for i in range(n))
        + f" SELECT * FROM c{n - 1}"
    ),
    "select list": lambda n: write_query("B AS x > 1").replace(
        "*", repeat(n, "m + # AS c#", ", "), 1
    ),
    "WHERE around": lambda n: f"{write_query('B AS x > 1')} WHERE {repeat(n, 'm <> #', ' AND ')}",
    "relation": lambda n: write_query("B AS x > 1").replace(
        " r ", f" (SELECT * FROM r WHERE {repeat(n, 'x <> #', ' AND ')}) ", 1
    ),
    "UNION ALL around": lambda n: (
        f"SELECT m FROM ({write_query('B AS x > 1')}) UNION ALL "
        + repeat(n, "SELECT # AS m", " UNION ALL ")
    ),
    "VALUES": lambda n: f"{write_query()} JOIN (VALUES {repeat(n, '(#)', ', ')}) AS v(a) ON a = m",
    "comments": lambda n: f"{write_query('B AS x > 1')} {repeat(n, '/* # */')}",
}
NESTED: Mapping[str, Text] = {
    "parentheses": lambda n: define_b(f"{'(' * n}x > 1{')' * n}"),
    "parentheses on the run": lambda n: define_b(f"{'(' * n}x > A.x{')' * n}"),
    "NOT": lambda n: define_b(f"{'NOT ' * n}x > 1"),
    "calls": lambda n: define_b(f"{'abs(' * n}x{')' * n} > 1"),
    "calls on the run": lambda n: define_b(f"{'abs(' * n}x - A.x{')' * n} > 1"),
    "coalesce on the run": lambda n: define_b(f"{'coalesce(' * n}x - A.x{', 1)' * n} > 1"),
    "CASE in CASE": lambda n: define_b(f"{'CASE WHEN x > 1 THEN ' * n}TRUE{' END' * n}"),
    "CASE in CASE on the run": lambda n: define_b(
        f"{'CASE WHEN x > A.x THEN ' * n}TRUE{' END' * n}"
    ),
    "groups": lambda n: write_query(pattern=f"{'(' * n}A{')' * n} B"),
    "loops in loops": lambda n: write_query(pattern=f"{'(' * n}A{')+' * n} B"),
    "optional loops in loops": lambda n: write_query(pattern=f"{'(' * n}A*{' B?)*' * n} B"),
    "OR in AND": lambda n: define_b(f"{'(x > 1 AND (y > 1 OR ' * n}x > 2{'))' * n}"),
}
SASE: Mapping[str, Text] = {
    "predicates": lambda n: write_sase(2, repeat(n, "a0.x <> #", " AND ")),
    "predicates on the run": lambda n: write_sase(2, repeat(n, "a1.x <> a0.x + #", " AND ")),
    "predicate of OR": lambda n: write_sase(2, f"({repeat(n, 'a0.x = #', ' OR ')})"),
    "predicate of NOT": lambda n: write_sase(2, f"{'NOT ' * n}a0.x > 1"),
    "predicate of a sum": lambda n: write_sase(2, f"{repeat(n, 'a0.x * #', ' + ')} > 1"),
    "components": lambda n: write_sase(n, "a0.x > 1"),
    "components with predicates": lambda n: write_sase(n, repeat(n, "a#.x > 1", " AND ")),
    "Kleene plus": lambda n: write_sase(n, "a0[1].x > 1", "E+ a#[]"),
    "columns of RETURN": lambda n: (
        write_sase(2, "a0.x > 1") + f" RETURN {repeat(n, 'a0.x AS m#', ', ')}"
    ),
}
CALLS: Mapping[str, Callable[[int], Pattern]] = {
    "stages": lambda n: make_stages(n, lambda stage: stage),
    "stages, one or more": lambda n: make_stages(n, lambda stage: stage.one_or_more()),
    "stages, optional": lambda n: make_stages(
        n + 1, lambda stage: stage.optional(), first_changed=1
    ),
    "where": lambda n: add_conditions(n, "x <> {}"),
    "where on the run": lambda n: add_conditions(n, "x <> sum(s.x) + {}"),
    "times": lambda n: Pattern.begin("a").where("x > 1").times(n),
}
LANGUAGES: Mapping[str, Mapping[str, Text]] = {
    "conditions": CONDITIONS,
    "clauses": CLAUSES,
    "row patterns": PATTERNS,
    "queries": QUERIES,
    "nested": NESTED,
}


def write_sase(components: int, predicates: str, component: str = "E a#") -> str:
    """Return a SASE+ query with that many components."""
    parts = repeat(components, component, ", ")
    return f"PATTERN SEQ({parts}) WHERE skip_till_next_match {{ {predicates} }} WITHIN 100"


def make_stages(
    count: int, change: Callable[[Pattern], Pattern], first_changed: int = 0
) -> Pattern:
    """Return a pattern of that many stages; those from number `first_changed` on are changed."""
    pattern = Pattern.begin("s0").where("x = 0")
    for number in range(1, count):
        pattern = pattern.followed_by(f"s{number}").where(f"x = {number}")
        if number >= first_changed:
            pattern = change(pattern)
    return pattern


def add_conditions(count: int, condition: str) -> Pattern:
    """Return a pattern with that many conditions on its last stage."""
    pattern = Pattern.begin("s").followed_by("e")
    for number in range(count):
        pattern = pattern.where(condition.format(number))
    return pattern


def lower_clauses(text: str) -> Iterator[MatchPlan]:
    """Yield the plan of each clause of a query."""
    for site in parse_sql(text).sites:
        yield lower_clause(site.clause)


def plan_sase(text: str) -> MatchPlan:
    """Return the plan of a SASE+ query."""
    return compile_sase(text, StreamOptions(("t",), ("k",)))


def plan_pattern(pattern: Pattern) -> MatchPlan:
    """Return the plan of a pattern."""
    return lower_pattern(PatternQuery(pattern, ("t",), ("k",), ("k", "t", "x")))[0]
