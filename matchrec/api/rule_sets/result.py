"""What `match_all` gives: the matches of all rules, and each rule's own result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.arguments import DATAFRAME, TEXT, checked
from matchrec.errors.run.failures import (
    cached_stream,
    rows_of_something_else,
    unknown_rule,
)
from matchrec.explanation.explanation import ExplainedRules
from matchrec.pictures.html import folded, paragraph, preformatted
from matchrec.spark.rule_sets.build import (
    BuiltRuleSet,
    all_matches,
    check_measures,
    check_names,
    failures,
    result_of_rule,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Self


class RuleMatches:
    """The matches of a set of rules, from `match_all`.

    Its DataFrames are views of one search: after `cache()` it runs once, for all of them together;
    without, each action runs it anew. Over a stream each is a streaming DataFrame, and each query
    that is started has a search of its own; one query for all views writes `rows`.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 95) AS t(day, price)")
    >>> found = matchrec.match_all(ticks, {
    ...     "fall": "MEASURES DOWN.price AS low PATTERN (DOWN) DEFINE DOWN AS price < PREV(price)",
    ...     "rise": "MEASURES UP.price AS high PATTERN (UP) DEFINE UP AS price > PREV(price)",
    ... }, order_by="day").cache()
    >>> found
    <RuleMatches: fall, rise>
    >>> found.rule("rise").show()
    +----+
    |high|
    +----+
    |  95|
    +----+
    >>> _ = found.unpersist()
    """

    def __init__(self, built: BuiltRuleSet) -> None:
        check_names(built)
        check_measures(built)
        self._built = built
        self._matches = all_matches(built)
        self._errors = failures(built)
        self._results: dict[str, DataFrame] = {}

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_all(spark.range(3), rules, order_by="id")
        >>> found.rules
        ('large',)
        """
        return tuple(one.name for one in self._built.question.rules)

    @property
    def matches(self) -> DataFrame:
        """One row per match of each rule.

        Columns: `rule`, the partition columns, `match_number` in the partition, `start_time` and
        `end_time`, the values of the first ORDER BY column on the first and last row, and `events`,
        an array of the rows with the `variable` that each is mapped to. An empty match has no
        times and no events.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_all(spark.range(3), rules, order_by="id")
        >>> found.matches.show(truncate=False)
        +-----+------------+----------+--------+----------------+
        |rule |match_number|start_time|end_time|events          |
        +-----+------------+----------+--------+----------------+
        |large|1           |1         |2       |[{1, A}, {2, A}]|
        +-----+------------+----------+--------+----------------+
        """
        return self._matches

    @property
    def errors(self) -> DataFrame:
        """With `on_error="keep"`, one row per partition in which a rule failed: why it did.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_all(spark.range(3), rules, order_by="id")
        >>> found.errors.columns
        ['rule', 'message']
        """
        return self._errors

    @checked(name=TEXT)
    def rule(self, name: str) -> DataFrame:
        """The result of one rule, with the columns that its query has by itself.

        >>> rules = {"large": "MEASURES count(*) AS n PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_all(spark.range(3), rules, order_by="id")
        >>> found.rule("large").show()
        +---+
        |  n|
        +---+
        |  2|
        +---+
        """
        if name not in self.rules:
            raise unknown_rule(name, self.rules)
        if name not in self._results:
            self._results[name] = result_of_rule(self._built, self.rules.index(name))
        return self._results[name]

    @property
    def rows(self) -> DataFrame:
        """What all views are views of, to be written once and taken apart by `of`.

        >>> rules = {"large": "MEASURES A.id AS n PATTERN (A) DEFINE A AS id > 1"}
        >>> found = matchrec.match_all(spark.range(3), rules, order_by="id")
        >>> written = found.rows.localCheckpoint()
        >>> found.of(written).rule("large").collect()
        [Row(n=2)]
        """
        return self._built.rows

    @checked(rows=DATAFRAME)
    def of(self, rows: DataFrame) -> RuleMatches:
        """The views of some `rows`, such as those of a micro-batch in `foreachBatch`.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_all(spark.range(3), rules, order_by="id")
        >>> found.of(found.rows.limit(0)).matches.count()
        0
        """
        missing = [name for name in self.rows.columns if name not in rows.columns]
        if missing:
            raise rows_of_something_else(missing)
        return RuleMatches(self._built.over(rows))

    def cache(self) -> Self:
        """Let Spark keep what the first action finds, for all further ones.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_all(spark.range(3), rules, order_by="id")
        >>> found.cache().matches.count(), found.unpersist().rules
        (1, ('large',))
        """
        if self._built.is_stream:
            raise cached_stream()
        self._built.rows.cache()
        return self

    def unpersist(self) -> Self:
        """Let Spark forget what it keeps.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_all(spark.range(3), rules, order_by="id")
        >>> found.cache().unpersist()
        <RuleMatches: large>
        """
        self._built.rows.unpersist()
        return self

    def explain(self) -> str:
        """What Spark computes once for all rules, then what each rule compiles to.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> found = matchrec.match_all(spark.range(3), rules, order_by="id")
        >>> print(found.explain())
        partitions and order of all rules
          all rows form one partition
          order by `id`
          sorted by the workers: Spark only brings the rows of a partition together
        ...
        """
        built = self._built
        return str(ExplainedRules(built.rule_set, built.drafts, built.executables, built.sorts))

    def __repr__(self) -> str:
        return f"<RuleMatches: {', '.join(self.rules)}>"

    def _repr_html_(self) -> str:
        columns = ", ".join(f"{name}: {kind}" for name, kind in self._matches.dtypes)
        shown = paragraph(f"rules: {', '.join(self.rules)}") + paragraph(columns)
        return shown + folded("all stages", preformatted(self.explain()))
