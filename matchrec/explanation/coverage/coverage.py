"""What `coverage` gives: the funnels of a query's clauses."""

from __future__ import annotations

from dataclasses import field
from textwrap import indent
from typing import Any

from matchrec.arguments import SESSION, Kind, all_of, instance_of
from matchrec.dataclass import dataclass
from matchrec.explanation.coverage.figures import ClauseCoverage
from matchrec.explanation.coverage.picture import draw
from matchrec.explanation.coverage.text import show
from matchrec.pictures.html import preformatted, wide

CLAUSES = Kind(
    "what has been covered",
    lambda given: isinstance(given, dict) and all_of(instance_of(ClauseCoverage), given.values()),
    "write matchrec.coverage(spark, query)",
)
SCHEMA = (
    "clause INT, occurrence INT, variable STRING, came BIGINT, ended BIGINT, "
    "ended_because STRING, ended_because_of BIGINT"
)


@dataclass(frozen=True, repr=False)
class Coverage:
    """How far the starting rows of a query came; prints as text, shows as a picture in a notebook.

    clauses: by their number in the query, from 1. session: of Spark, which makes DataFrames.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> covered = matchrec.coverage(spark, '''
    ...     SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day MEASURES COUNT(*) AS days
    ...         PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
    ...     )''', ticks=ticks)
    >>> sorted(covered.clauses)
    [1]
    """

    clauses: dict[int, ClauseCoverage]
    session: Any = field(compare=False)

    def __post_init__(self) -> None:
        CLAUSES.check("Coverage", "clauses", self.clauses)
        SESSION.check("Coverage", "session", self.session)

    def __str__(self) -> str:
        if len(self.clauses) == 1:
            return show(next(iter(self.clauses.values())))
        return "\n\n".join(
            f"clause {number}\n{indent(show(clause), '  ')}"
            for number, clause in self.clauses.items()
        )

    def __repr__(self) -> str:
        return f"<Coverage: {'; '.join(one.summary for one in self.clauses.values())}>"

    def frame(self) -> Any:
        """A DataFrame of Spark with a row for each occurrence of a variable in PATTERN.

        Occurrence 0 is before any row.
        ended_because: what ended most of the starting rows that ended there, and how many it ended.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> covered = matchrec.coverage(spark, '''
        ...     SELECT * FROM {ticks} MATCH_RECOGNIZE (
        ...         ORDER BY day MEASURES COUNT(*) AS days
        ...         PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
        ...     )''', ticks=ticks)
        >>> covered.frame().select("occurrence", "variable", "came", "ended").show()
        +----------+--------+----+-----+
        |occurrence|variable|came|ended|
        +----------+--------+----+-----+
        |         0|    NULL|   4|    2|
        |         1|    DOWN|   2|    2|
        +----------+--------+----+-----+
        """
        rows = [
            (
                number,
                one.number,
                one.variable,
                one.came,
                one.ended,
                str(one.endings[0]) if one.ended else None,
                one.endings[0].count if one.ended else 0,
            )
            for number, clause in self.clauses.items()
            for one in clause.occurrences
        ]
        return self.session.createDataFrame(rows, SCHEMA)

    def picture(self) -> str:
        """A funnel for each clause, as SVG.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> covered = matchrec.coverage(spark, '''
        ...     SELECT * FROM {ticks} MATCH_RECOGNIZE (
        ...         ORDER BY day MEASURES COUNT(*) AS days
        ...         PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
        ...     )''', ticks=ticks)
        >>> print(covered.picture())
        <svg ...
        """
        return "\n".join(map(draw, self.clauses.values()))

    def _repr_html_(self) -> str:
        return wide(self.picture()) + preformatted(str(self))
