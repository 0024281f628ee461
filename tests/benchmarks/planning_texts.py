"""What planning is measured with: queries that grow with n, each in one respect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from matchrec import Pattern
from matchrec.patterns.sase import Streams, compile_sase
from matchrec.patterns.stages.lower import PatternQuery, lower_pattern
from matchrec.plan.match_plan import MatchPlan
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause

COLUMNS = "k string, t bigint, x bigint, y bigint, event_type string"
TABLE = "SELECT 'X' AS k, id AS t, id % 7 AS x, id % 11 AS y, 'E' AS event_type FROM range(100)"
Text = Callable[[int], str]


def many(count: int, text: str, between: str = " ") -> str:
    """The text so many times, with its number in place of `#`."""
    return between.join(text.replace("#", str(number)) for number in range(count))


def query(
    define: str = "",
    pattern: str = "A B",
    measures: str = "A.x AS m",
    keys: str = "PARTITION BY k ORDER BY t",
    other: str = "",
) -> str:
    """A query around one clause."""
    given = f"DEFINE {define}" if define else ""
    return (
        f"SELECT * FROM r MATCH_RECOGNIZE ({keys} MEASURES {measures} PATTERN ({pattern})"
        f" {other} {given})"
    )


def defined(condition: str, **parts: str) -> str:
    """A query with a condition of B."""
    return query(f"B AS {condition}", **parts)


CONDITIONS: Mapping[str, Text] = {
    "OR of columns": lambda n: defined(many(n, "x = #", " OR ")),
    "AND of columns": lambda n: defined(many(n, "x <> #", " AND ")),
    "OR, qualified": lambda n: defined(many(n, "B.x = #", " OR ")),
    "OR with PREV": lambda n: defined(many(n, "x > PREV(y) + #", " OR ")),
    "OR on the run": lambda n: defined(many(n, "x > A.x + #", " OR ")),
    "AND on the run": lambda n: defined(many(n, "x <> A.x + #", " AND ")),
    "OR of aggregates on the run": lambda n: defined(many(n, "sum(A.x + #) > y", " OR ")),
    "sum of terms on the run": lambda n: defined(f"{many(n, 'A.x * #', ' + ')} > x"),
    "sum of columns": lambda n: defined(f"{many(n, 'x * #', ' + ')} > y"),
    "IN list": lambda n: defined(f"x IN ({many(n, '#', ', ')})"),
    "IN list on the run": lambda n: defined(f"A.x + x IN ({many(n, '#', ', ')})"),
    "CASE branches": lambda n: defined(f"CASE {many(n, 'WHEN x = # THEN y > #')} END"),
    "CASE on the run": lambda n: defined(f"CASE {many(n, 'WHEN x = A.x + # THEN y > #')} END"),
    "COALESCE on the run": lambda n: defined(f"coalesce({many(n, 'A.x + x', ', ')}) > 1"),
    "GREATEST on the run": lambda n: defined(f"greatest({many(n, 'A.x + #', ', ')}) > x"),
    "GREATEST of computed values": lambda n: defined(f"greatest({many(n, 'A.x + x', ', ')}) > 1"),
    "lambdas": lambda n: defined(many(n, "exists(array(x), e -> e > #)", " OR ")),
    "rows back on the run": lambda n: query(
        f"B AS LAST(x, {n}) > 1 AND LAST(CLASSIFIER(), {n}) = 'A'", pattern="A B*"
    ),
    "subqueries": lambda n: defined(many(n, "x > (SELECT max(id) FROM range(#))", " OR ")),
    "RUNNING": lambda n: defined(many(n, "RUNNING sum(A.x) > #", " OR ")),
    "calls": lambda n: defined(many(n, "abs(x + #) > 1", " OR ")),
    "groups": lambda n: defined(many(n, "(x = # AND (y > 1 OR x > 2))", " OR ")),
    "one long string": lambda n: defined(f"x = length('{'a' * 10 * n}')"),
}
CLAUSES: Mapping[str, Text] = {
    "measures": lambda n: query(measures=many(n, "A.x + # AS m#", ", ")),
    "measures of aggregates": lambda n: query(measures=many(n, "sum(A.x * #) AS m#", ", ")),
    "one long measure": lambda n: query(measures=f"{many(n, 'A.x * #', ' + ')} AS m"),
    "measures of all rows": lambda n: query(
        measures=many(n, "FINAL LAST(B.x + #) AS m#", ", "), other="", pattern="A B+"
    ).replace(" PATTERN", " ALL ROWS PER MATCH PATTERN"),
    "definitions": lambda n: query(
        many(n, "V# AS x = #", ", "), pattern=many(n, "V#"), measures="V0.x AS m"
    ),
    "definitions, alternatives": lambda n: query(
        many(n, "V# AS x = #", ", "), pattern=f"({many(n, 'V#', ' | ')})+", measures="V0.x AS m"
    ),
    "definitions on the run": lambda n: query(
        many(n, "V# AS x > FIRST(x) + #", ", "), pattern=many(n, "V#"), measures="V0.x AS m"
    ),
    "definitions of the one before": lambda n: query(
        ", ".join(f"V{i + 1} AS x > V{i}.x" for i in range(n)),
        pattern=many(n + 1, "V#"),
        measures="V0.x AS m",
    ),
    "subsets": lambda n: query("B AS x > 1", other=f"SUBSET {many(n, 'S# = (A, B)', ', ')}"),
    "one subset of many": lambda n: query(
        pattern=many(n, "V#"), measures="S.x AS m", other=f"SUBSET S = ({many(n, 'V#', ', ')})"
    ),
    "partition keys": lambda n: query(keys=f"PARTITION BY {many(n, 'x + #', ', ')} ORDER BY t"),
    "order keys": lambda n: query(keys=f"PARTITION BY k ORDER BY {many(n, 'x + #', ', ')}"),
    "measures of classifiers": lambda n: query(
        many(n, "V# AS x = #", ", "),
        pattern=f"({many(n, 'V#', ' | ')})+",
        measures=many(n, "LAST(V#.x) AS m#", ", "),
    ),
}
PATTERNS: Mapping[str, Text] = {
    "A A A": lambda n: query(pattern=many(n, "A")),
    "alternatives": lambda n: query(pattern=f"({many(n, 'V#', ' | ')})*", measures="V0.x AS m"),
    "A* A* A*": lambda n: query("A AS x > 1", pattern=many(n, "A*")),
    "V0* V1* V2*": lambda n: query(pattern=many(n, "V#*"), measures="V0.x AS m"),
    "V0+ V1+ V2+": lambda n: query(pattern=many(n, "V#+"), measures="V0.x AS m"),
    "A? A? A?": lambda n: query(pattern=many(n, "A?")),
    "A{n}": lambda n: query(pattern=f"A{{{n}}}"),
    "A{,n}": lambda n: query(pattern=f"A{{,{n}}} B"),
    "(A B or C){n}": lambda n: query(pattern=f"(A B | C){{{n}}}"),
    "(A or B*){n}": lambda n: query(pattern=f"(A | B*){{{n}}}"),
    "(A* B*){,n}": lambda n: query(pattern=f"(A* B*){{,{n}}}"),
    "(A B)* (A B)*": lambda n: query(pattern=many(n, "(A B)*")),
    "A+ on the run": lambda n: query(
        "B AS x > A.x", pattern=f"A B {many(n, 'A+ B')}", measures="A.x AS m"
    ),
}
QUERIES: Mapping[str, Text] = {
    "clauses": lambda n: " UNION ALL ".join([query("B AS x > 1")] * n),
    "clauses in WITH": lambda n: (
        "WITH "
        + ", ".join(f"c{i} AS ({query('B AS x > 1')})" for i in range(n))
        + f" SELECT * FROM c{n - 1}"
    ),
    "select list": lambda n: query("B AS x > 1").replace("*", many(n, "m + # AS c#", ", "), 1),
    "WHERE around": lambda n: f"{query('B AS x > 1')} WHERE {many(n, 'm <> #', ' AND ')}",
    "relation": lambda n: query("B AS x > 1").replace(
        " r ", f" (SELECT * FROM r WHERE {many(n, 'x <> #', ' AND ')}) ", 1
    ),
    "UNION ALL around": lambda n: (
        f"SELECT m FROM ({query('B AS x > 1')}) UNION ALL "
        + many(n, "SELECT # AS m", " UNION ALL ")
    ),
    "VALUES": lambda n: f"{query()} JOIN (VALUES {many(n, '(#)', ', ')}) AS v(a) ON a = m",
    "comments": lambda n: f"{query('B AS x > 1')} {many(n, '/* # */')}",
}
NESTED: Mapping[str, Text] = {
    "parentheses": lambda n: defined(f"{'(' * n}x > 1{')' * n}"),
    "parentheses on the run": lambda n: defined(f"{'(' * n}x > A.x{')' * n}"),
    "NOT": lambda n: defined(f"{'NOT ' * n}x > 1"),
    "calls": lambda n: defined(f"{'abs(' * n}x{')' * n} > 1"),
    "calls on the run": lambda n: defined(f"{'abs(' * n}x - A.x{')' * n} > 1"),
    "coalesce on the run": lambda n: defined(f"{'coalesce(' * n}x - A.x{', 1)' * n} > 1"),
    "CASE in CASE": lambda n: defined(f"{'CASE WHEN x > 1 THEN ' * n}TRUE{' END' * n}"),
    "CASE in CASE on the run": lambda n: defined(
        f"{'CASE WHEN x > A.x THEN ' * n}TRUE{' END' * n}"
    ),
    "groups": lambda n: query(pattern=f"{'(' * n}A{')' * n} B"),
    "loops in loops": lambda n: query(pattern=f"{'(' * n}A{')+' * n} B"),
    "optional loops in loops": lambda n: query(pattern=f"{'(' * n}A*{' B?)*' * n} B"),
    "OR in AND": lambda n: defined(f"{'(x > 1 AND (y > 1 OR ' * n}x > 2{'))' * n}"),
}
SASE: Mapping[str, Text] = {
    "predicates": lambda n: sase(2, many(n, "a0.x <> #", " AND ")),
    "predicates on the run": lambda n: sase(2, many(n, "a1.x <> a0.x + #", " AND ")),
    "predicate of OR": lambda n: sase(2, f"({many(n, 'a0.x = #', ' OR ')})"),
    "predicate of NOT": lambda n: sase(2, f"{'NOT ' * n}a0.x > 1"),
    "predicate of a sum": lambda n: sase(2, f"{many(n, 'a0.x * #', ' + ')} > 1"),
    "components": lambda n: sase(n, "a0.x > 1"),
    "components with predicates": lambda n: sase(n, many(n, "a#.x > 1", " AND ")),
    "Kleene plus": lambda n: sase(n, "a0[1].x > 1", "E+ a#[]"),
    "columns of RETURN": lambda n: sase(2, "a0.x > 1") + f" RETURN {many(n, 'a0.x AS m#', ', ')}",
}
CALLS: Mapping[str, Callable[[int], Pattern]] = {
    "stages": lambda n: stages(n, lambda one: one),
    "stages, one or more": lambda n: stages(n, lambda one: one.one_or_more()),
    "stages, optional": lambda n: stages(n + 1, lambda one: one.optional(), of=1),
    "where": lambda n: chained(n, "x <> {}"),
    "where on the run": lambda n: chained(n, "x <> sum(s.x) + {}"),
    "times": lambda n: Pattern.begin("a").where("x > 1").times(n),
}
LANGUAGES: Mapping[str, Mapping[str, Text]] = {
    "conditions": CONDITIONS,
    "clauses": CLAUSES,
    "row patterns": PATTERNS,
    "queries": QUERIES,
    "nested": NESTED,
}


def sase(components: int, predicates: str, component: str = "E a#") -> str:
    """A SASE+ query."""
    parts = many(components, component, ", ")
    return f"PATTERN SEQ({parts}) WHERE skip_till_next_match {{ {predicates} }} WITHIN 100"


def stages(count: int, change: Callable[[Pattern], Pattern], of: int = 0) -> Pattern:
    """Stages one after the other, changed from number `of` on."""
    found = Pattern.begin("s0").where("x = 0")
    for number in range(1, count):
        found = found.followed_by(f"s{number}").where(f"x = {number}")
        found = change(found) if number >= of else found
    return found


def chained(count: int, condition: str) -> Pattern:
    """One stage with many conditions."""
    found = Pattern.begin("s").followed_by("e")
    for number in range(count):
        found = found.where(condition.format(number))
    return found


def plans_of_query(text: str) -> Iterator[MatchPlan]:
    """The plans of a query's clauses."""
    for site in parse_sql(text).sites:
        yield lower_clause(site.clause)


def plan_of_sase(text: str) -> MatchPlan:
    """The plan of a SASE+ query."""
    return compile_sase(text, Streams(("t",), ("k",)))


def plan_of_pattern(pattern: Pattern) -> MatchPlan:
    """The plan of a pattern."""
    return lower_pattern(PatternQuery(pattern, ("t",), ("k",), ("k", "t", "x")))[0]
