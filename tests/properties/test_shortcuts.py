"""A query has the same result with all shortcuts, without any, and without each single one.

There are two sizes: a few rows; and a hundred rows with all thresholds lowered, so that partitions
are cut, arrive in pieces and are spilled. In a long run, each example is compared about 30 times:

    MATCHREC_EXAMPLES=2000 pytest tests/properties/test_shortcuts.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from random import Random

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.errors import MatchRecognizeError
from matchrec.shortcuts import ALL, Shortcuts, use_shortcuts
from tests.generators import clauses
from tests.quick.scale import LONG_RUN, SEED, examples, some_of

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

SWITCHES = tuple(field.name for field in fields(Shortcuts) if field.default is True)
NO_SHORTCUTS = replace(ALL, **dict.fromkeys(SWITCHES, False))
LOWERED_THRESHOLDS = {
    "min_bytes_to_cut": 1,
    "min_rows_of_range": 1,
    "large_key_one_in": 1 << 20,
    "needed_rows_one_in": 1,
    "max_rows_of_single_task": 0,
    "rows_per_call": 16,
    "min_rows_to_hash": 1,
    "min_repeats_of_text": 1,
    "max_sort_bytes": 1 << 10,
    "max_python_steps": 0,
}
SIZES: dict[str, tuple[int, dict[str, int]]] = {
    "few rows": (24, {}),
    "many": (120, LOWERED_THRESHOLDS),
}

RUN_ERROR = "MatchRecognizeRunError"
TOO_LITTLE_MEMORY = "has too little memory for the runs of a search"
# The rows and column types of a result, as texts; or the text of an error.
Answer = Counter[str] | str


@dataclass(frozen=True)
class Case:
    """A query."""

    text: str  # as messages show it
    run: Callable[[matchrec.Options], DataFrame]
    selects_partitions: bool = False  # whether its result has rows of some partitions only

    @cached_property
    def can_be_cut(self) -> bool:
        """Return whether partitions can be cut into ranges."""
        try:
            self.run(IN_RANGES)
        except MatchRecognizeError as error:
            return not forbids_ranges(error)
        return True

    def build(self) -> DataFrame:
        """Return the result. Partitions are cut into ranges if they can be."""
        try:
            return self.run(IN_RANGES if self.can_be_cut else matchrec.Options())
        except MatchRecognizeError as error:
            if forbids_ranges(error):
                return self.run(matchrec.Options())
            raise

    def answer(self, shortcuts: Shortcuts) -> Answer:
        """Run the query, and return its rows and types, or the text of the error that it raises."""
        with use_shortcuts(shortcuts):
            try:
                result = self.build()
                types = Counter(f"{field.name} {field.dataType}" for field in result.schema.fields)
                return types + Counter(map(str, result.collect()))
            except MatchRecognizeError as error:
                return f"{type(error).__name__}: {error.message}"
            except PySparkException as error:
                return find_own_message(error)


IN_RANGES = matchrec.Options(sort="ranges")


def forbids_ranges(error: MatchRecognizeError) -> bool:
    """Return whether an error says that partitions cannot be cut."""
    return 'sort="auto"' in str(error)


def find_own_message(error: PySparkException) -> str:
    """Return the class and message of a worker's error; the whole text of other errors."""
    worker_error = matchrec.MatchRecognizeRunError.from_exception(error)
    return str(error) if worker_error is None else f"{RUN_ERROR}: {worker_error.message}"


def draw_case(random: Random, rows: DataFrame) -> Case:
    """Return a random query over some rows."""
    kinds = [draw_clause] * 8 + [draw_query] * 2 + [draw_window, draw_rules, draw_aggregates]
    return random.choice(kinds)(random, rows)


def draw_clause(random: Random, rows: DataFrame) -> Case:
    """Return a query for the rows of a clause."""
    text = clauses.random_clause(random).text
    return Case(text, lambda options: matchrec.match_recognize(rows, text, options=options))


def draw_query(random: Random, rows: DataFrame) -> Case:
    """Return a query that may use only some columns and partitions of a clause."""
    clause = clauses.random_clause(random)
    text = clause.query
    if random.random() < 0.5:
        text = text.replace("SELECT *", "SELECT count(*) AS n")
    if clause.keys:
        text += " WHERE k = 'a'"
    return replace(make_case(text, rows), selects_partitions=bool(clause.keys))


def draw_window(random: Random, rows: DataFrame) -> Case:
    """Return a query with a row pattern window."""
    return make_case(clauses.random_window(random), rows)


def make_case(text: str, rows: DataFrame) -> Case:
    """Return a query over `rows` from its text."""
    spark = rows.sparkSession
    return Case(text, lambda options: matchrec.sql(spark, text, rows=rows, options=options))


def draw_rules(random: Random, rows: DataFrame) -> Case:
    """Return a query for the matches of two rules."""
    texts = [clauses.random_clause(random).text for _ in "rq"]
    rules = {name: text[text.index("PATTERN") :] for name, text in zip("rq", texts, strict=True)}
    keys = random.choice([[], ["k"], ["k", "s"]])

    def match(options: matchrec.Options) -> DataFrame:
        """Return the matches of both rules."""
        result = matchrec.match_rules(
            rows, rules, partition_by=keys, order_by=["t", "id"], options=options
        )
        return result.matches

    return Case(f"{rules} by {keys}", match)


def draw_aggregates(random: Random, rows: DataFrame) -> Case:
    """Return a query that counts the matches of each partition, starting row or last row."""
    text = clauses.random_clause(random).query
    grouping = random.choice(["partition", "start", "end"])
    aggregates = {"number": "count(*)"}

    def count_matches(options: matchrec.Options) -> DataFrame:
        """Return the counts."""
        query = matchrec.query(rows.sparkSession, text, rows=rows, options=options)
        return query.aggregate(aggregates, per=grouping)

    return Case(f"{aggregates} by {grouping} of {text}", count_matches)


def choose_shortcuts(number: int, thresholds: dict[str, int]) -> Iterator[tuple[str, Shortcuts]]:
    """Yield all shortcuts, then all but one, each with its name in messages.

    A shortcut is left out in one case of four, in a long run in every case.

    Args:
        number: the number of the case.
        thresholds: the thresholds that differ from the usual ones.
    """
    yield "all", replace(ALL, **thresholds)
    for name in SWITCHES[number % 4 :: 4] if LONG_RUN is None else SWITCHES:
        yield f"all but {name}", replace(ALL, **thresholds, **{name: False})


def compare(case: Case, number: int, thresholds: dict[str, int]) -> tuple[int, bool]:
    """Compare the results of a query with and without shortcuts.

    Args:
        case: the query.
        number: the number of the case.
        thresholds: the thresholds that differ from the usual ones.

    Returns:
        How many comparisons were made, and whether the query returned rows.
    """
    expected = case.answer(replace(NO_SHORTCUTS, **thresholds))
    count = 0
    for name, shortcuts in choose_shortcuts(number, thresholds):
        answer = case.answer(shortcuts)
        if TOO_LITTLE_MEMORY in str(expected) or TOO_LITTLE_MEMORY in str(answer):
            break  # without its shortcuts a search may need too much memory, so there is no result
        if case.selects_partitions and RUN_ERROR in expected:
            break  # the error may be in a partition that need not be searched
        count += 1
        if RUN_ERROR in expected and RUN_ERROR in answer:
            continue  # which partition fails first is chance
        assert answer == expected, f"{case.text}\n{name}: {show_difference(answer, expected)}"
    return count, not isinstance(expected, str)


def show_difference(answer: Answer, expected: Answer) -> str:
    """Return the rows that only one of two answers has, or both answers if one is an error."""
    if isinstance(answer, str) or isinstance(expected, str):
        return f"{answer!s:.600}\nwithout any: {expected!s:.600}"
    return f"{[*(answer - expected)][:5]}\nwithout any: {[*(expected - answer)][:5]}"


@pytest.mark.parametrize("size", ["many", pytest.param("few rows", marks=pytest.mark.slow)])
def test_nothing_changes_without_shortcuts(spark: SparkSession, size: str) -> None:
    most_rows, thresholds = SIZES[size]
    random = Random(f"{SEED if LONG_RUN else 0} {size}")
    compared = answered = 0
    for number in range(max(examples(32), 4)):
        if number % 8 == 0:
            values = clauses.random_rows(random, random.randint(1, most_rows))
            rows = spark.createDataFrame(values, clauses.COLUMNS)
        comparisons, is_answered = compare(draw_case(random, rows), number, thresholds)
        compared += comparisons
        answered += is_answered
    print(f"{compared:,} comparisons, {answered:,} of {number + 1:,} cases with rows")
    assert answered > 0.5 * number


PATTERNS = (  # the first one has had a wrong result
    "A B+", "A B", "A B*", "A B?", "A B??", "A+ B?", "A+", "A{2}", "A (B C)*", "A (B | ())",
    "A B+ C", "(A | B)+ C?", "A B{1,2}", "A? B", "PERMUTE(A, B)", "A NOT C B+",
)  # fmt: skip
OUTPUTS = ("", "ALL MATCHES", "NON-OVERLAPPING MATCHES")


@pytest.mark.slow
@pytest.mark.parametrize("pattern", some_of(PATTERNS))
def test_rows_that_no_variable_takes_change_no_selection(spark: SparkSession, pattern: str) -> None:
    """Each text of up to five letters is a partition. No variable takes an `x`."""
    texts = ("".join(text) for n in range(1, 6) for text in product("abcx", repeat=n))
    letters = [(text, index, letter) for text in texts for index, letter in enumerate(text)]
    rows = spark.createDataFrame(letters, "word string, id int, e string").cache()
    conditions = ", ".join(f"{name} AS e = '{name.lower()}'" for name in "ABC" if name in pattern)
    for selection, output in product(("NEXT", "ANY"), OUTPUTS):
        if ("()" in pattern and output) or ("NOT" in pattern and not output):
            continue  # not allowed
        clause = f"""PARTITION BY word ORDER BY id
            MEASURES FIRST(id) AS f, LAST(id) AS l, count(*) AS n
            PATTERN ({pattern}) SKIP TILL {selection} MATCH {output} DEFINE {conditions}"""
        answers = []
        for shortcuts in (ALL, replace(ALL, rows=False)):
            with use_shortcuts(shortcuts):
                answers.append(Counter(map(str, matchrec.match_recognize(rows, clause).collect())))
        assert answers[0] == answers[1], clause
        assert answers[0]
