"""`RuleMatches`: the result of `match_rules`, whose DataFrames are views of one search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from pyspark.sql import DataFrame

from matchrec.arguments import DATAFRAME, TEXT, check_arguments
from matchrec.errors import MatchRecognizeError
from matchrec.errors import rule_sets as errors
from matchrec.errors.arguments import no_attribute, operation_not_supported
from matchrec.errors.streams import cache_over_stream
from matchrec.explain.explanation import Explanation
from matchrec.explain.pictures.html import wrap_in_details, write_paragraph, write_preformatted
from matchrec.explain.rule_set import explain_rules
from matchrec.public_names import public
from matchrec.spark.request import is_streaming
from matchrec.spark.rule_sets import build

if TYPE_CHECKING:
    from typing_extensions import Self


# The rules that were left out because they have a mistake, each with the error.
RejectedRules = dict[str, MatchRecognizeError]


@public
class RuleMatches:
    """The matches of a set of rules, from `match_rules`.

    Its DataFrames are views of one search. After `cache()` the search runs once for all of them.
    Without it, each action searches again. Over a stream each view is a streaming DataFrame, and
    each query that you start runs its own search. To get all views from one query, write `rows`.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 95) AS t(day, price)")
    >>> result = matchrec.match_rules(ticks, {
    ...     "fall": "MEASURES FALL.price AS low PATTERN (FALL) DEFINE FALL AS price < PREV(price)",
    ...     "rise": "MEASURES RISE.price AS high PATTERN (RISE) DEFINE RISE AS price > PREV(price)",
    ... }, order_by="day").cache()
    >>> result
    <RuleMatches: fall, rise>
    >>> result.rule("rise").show()
    +----+
    |high|
    +----+
    |  95|
    +----+
    >>> _ = result.unpersist()
    """

    def __init__(
        self, built_set: build.BuiltRuleSet, rejected: RejectedRules | None = None
    ) -> None:
        """Make the views of a search. Only `match_rules` and `split` do this.

        Args:
            built_set: the rules, and the rows of the search for all of them.
            rejected: the rules that were left out; None if there are none.
        """
        self._built_set = built_set
        self._matches = build.select_matches(built_set)
        # The results that `rule` has returned, by the names of the rules.
        self._results: dict[str, DataFrame] = {}
        self._rejected = dict(rejected or {})

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.rules
        ('large',)
        """
        return tuple(dict.fromkeys(rule.version.rule for rule in self._built_set.rule_set.rules))

    @property
    def rejected(self) -> dict[str, MatchRecognizeError]:
        """The rules that `on_error="continue"` left out of a DataFrame of rules.

        The keys say which rule and which of its versions was left out, and the values are the
        errors.

        >>> table = spark.sql('''VALUES
        ...     ("large", "PATTERN (A) DEFINE A AS id > 1", 3),
        ...     ("wrong", "PATTERN (A) DEFINE A AS ix > 1", 3)
        ...     AS rules(rule, text, valid_from)
        ... ''')
        >>> result = matchrec.match_rules(spark.range(6), table, order_by="id", on_error="continue")
        >>> result.rules, result.rejected["wrong, valid from 3"].code
        (('large',), 'unknown-column')
        """
        return dict(self._rejected)

    @property
    def matches(self) -> DataFrame:
        """All matches of all rules, one row for each match.

        The columns are:

        - `rule`;
        - `rule_version` if rules have versions: the time from which the version is valid;
        - the partition columns;
        - `match_number`, the number of the match in its partition;
        - `start_time` and `end_time`, the values of the first ORDER BY column on the first and last
          row;
        - `events`, an array of the rows, each with the `variable` that it is mapped to.

        An empty match has no times and no events.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.matches.show(truncate=False)
        +-----+------------+----------+--------+----------------+
        |rule |match_number|start_time|end_time|events          |
        +-----+------------+----------+--------+----------------+
        |large|1           |1         |2       |[{1, A}, {2, A}]|
        +-----+------------+----------+--------+----------------+
        """
        return self._matches

    @property
    def errors(self) -> DataFrame:
        """The errors of rules that failed, with `on_error="continue"`.

        There is a row for each rule and each partition in which it failed.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.errors.columns
        ['rule', 'message']
        """
        return build.select_failures(self._built_set)

    @check_arguments(name=TEXT)
    def rule(self, name: str) -> DataFrame:
        """Return the result of one rule, in all of its versions, with the columns of its query.

        Args:
            name: the name of the rule.

        Raises:
            MatchRecognizePlanError: there is no such rule.

        >>> rules = {"large": "MEASURES count(*) AS n PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.rule("large").show()
        +---+
        |  n|
        +---+
        |  2|
        +---+
        """
        if name not in self.rules:
            raise errors.unknown_rule(name=name, rules=self.rules)
        if name not in self._results:
            self._results[name] = build.select_result(self._built_set, name)
        return self._results[name]

    @property
    def rows(self) -> DataFrame:
        """The rows of the search, from which all views are made. Write them once, then use `split`.

        >>> rules = {"large": "MEASURES A.id AS n PATTERN (A) DEFINE A AS id > 1"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> written = result.rows.localCheckpoint()
        >>> result.split(written).rule("large").collect()
        [Row(n=2)]
        """
        return self._built_set.rows

    @check_arguments(df=DATAFRAME)
    def split(self, df: DataFrame) -> RuleMatches:
        """Return the views of some of `rows`, such as the rows of a micro-batch in `foreachBatch`.

        Args:
            df: some or all of `rows`, with all of their columns.

        Raises:
            MatchRecognizePlanError: `df` lacks a column of `rows`.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.split(result.rows.limit(0)).matches.count()
        0
        """
        missing_columns = [name for name in self.rows.columns if name not in df.columns]
        if missing_columns:
            raise errors.not_rows_of_rule_set(column=missing_columns[0])
        return RuleMatches(self._built_set.replace_rows(df), self._rejected)

    def cache(self) -> Self:
        """Cache the result of the search, so that only the first action searches.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.cache().matches.count(), result.unpersist().rules
        (1, ('large',))
        """
        if is_streaming(self._built_set.rows):
            raise cache_over_stream()
        self._built_set.rows.cache()
        return self

    def unpersist(self) -> Self:
        """Remove the result of the search from Spark's cache.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> result.cache().unpersist()
        <RuleMatches: large>
        """
        self._built_set.rows.unpersist()
        return self

    def explain(self) -> Explanation:
        """Explain what Spark computes once for all rules, then how each rule runs.

        >>> rules = {"large": "PATTERN (A+) DEFINE A AS id > 0"}
        >>> result = matchrec.match_rules(spark.range(3), rules, order_by="id")
        >>> print(result.explain())
        partitions and order of all rules
          all rows form one partition
          order by `id`
          sorted by the workers; the engine only groups the rows by partition
        ...
        """
        built_set = self._built_set
        return explain_rules(
            built_set.rule_set, built_set.queries, built_set.compiled_rules.preparation.sorter
        )

    if not TYPE_CHECKING:  # otherwise type checkers would accept any attribute

        def __getitem__(self, key: object) -> NoReturn:
            """Raise a TypeError, which says how to get the result of a rule."""
            argument = repr(key) if isinstance(key, str) else '"name"'
            raise operation_not_supported(
                owner="a RuleMatches", operation=f"result[{key!r}]", call=f"result.rule({argument})"
            )

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an AttributeError. If a DataFrame has `name`, the error says how to get one."""
            raise no_attribute(self, name, "matches", DataFrame)

    def __repr__(self) -> str:
        return f"<RuleMatches: {', '.join(self.rules)}>"

    def _repr_html_(self) -> str:
        """Return the rules and columns for notebooks, with the explanation folded up."""
        rules = write_paragraph(f"rules: {', '.join(self.rules)}")
        columns = write_paragraph(
            ", ".join(f"{name}: {type_}" for name, type_ in self._matches.dtypes)
        )
        return (
            rules + columns + wrap_in_details("all steps", write_preformatted(self.explain().text))
        )
