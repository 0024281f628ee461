"""Whether a query gives the same with all shortcuts, with none, and with each alone left out.

At two sizes: a few rows, and a hundred with all thresholds lowered, so that partitions are cut,
come in pieces and are spilled. A long run, in which each example is some 30 comparisons:

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
from matchrec.shortcuts import ALL, Shortcuts, in_force
from tests.generators import clauses
from tests.quick.scale import LONG_RUN, SEED, examples, some_of

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

SWITCHES = tuple(one.name for one in fields(Shortcuts) if one.default is True)
NONE = replace(ALL, **dict.fromkeys(SWITCHES, False))
LOWERED = {
    "range_bytes": 1,
    "range_rows": 1,
    "large": 1 << 20,
    "few": 1,
    "rows_a_call": 16,
    "hashed_rows": 1,
    "sort_bytes": 1 << 10,
    "few_steps": 0,
}
SIZES: dict[str, tuple[int, dict[str, int]]] = {"few rows": (24, {}), "many": (120, LOWERED)}

RUN_ERROR = "MatchRecognizeRunError"
NO_ROOM = "has too little memory for the runs of a search"
Answer = Counter[str] | str


@dataclass(frozen=True)
class Case:
    """What is asked, by the options of the query that asks it."""

    text: str
    ask: Callable[[matchrec.Options], DataFrame]
    leaves_out: bool = False  # whether it asks for some partitions only

    @cached_property
    def is_cut(self) -> bool:
        """Whether its partitions can be cut into ranges."""
        try:
            self.ask(CUT)
        except MatchRecognizeError as error:
            return not not_cut(error)
        return True

    def build(self) -> DataFrame:
        """The result, of partitions that are cut where they can be."""
        try:
            return self.ask(CUT if self.is_cut else matchrec.Options())
        except MatchRecognizeError as error:
            if not_cut(error):
                return self.ask(matchrec.Options())
            raise

    def answer(self, shortcuts: Shortcuts) -> Answer:
        """The rows, each as text, and their types; or why there are none."""
        with in_force(shortcuts):
            try:
                found = self.build()
                types = Counter({f"{one.name} {one.dataType}": 1 for one in found.schema.fields})
                return types + Counter(map(str, found.collect()))
            except MatchRecognizeError as error:
                return f"{type(error).__name__}: {error.message}"
            except PySparkException as error:
                return told(error)


CUT = matchrec.Options(sort="ranges")


def not_cut(error: MatchRecognizeError) -> bool:
    """Whether it says that partitions cannot be cut."""
    return 'sort="auto"' in str(error)


def told(error: PySparkException) -> str:
    """The first line of an error of Spark's that says what our own is."""
    text = str(error)
    return next((one for one in text.splitlines() if "matchrec.errors" in one), text)


def draw(random: Random, rows: DataFrame) -> Case:
    """What is asked of some rows."""
    kinds = [of_clause] * 8 + [of_query] * 2 + [of_window, of_rules, of_aggregates]
    return random.choice(kinds)(random, rows)


def of_clause(random: Random, rows: DataFrame) -> Case:
    """The rows of a clause."""
    text = clauses.random_clause(random).text
    return Case(text, lambda options: matchrec.match_recognize(rows, text, options=options))


def of_query(random: Random, rows: DataFrame) -> Case:
    """What a query makes of a clause, not all of its columns and keys."""
    clause = clauses.random_clause(random)
    text = clause.query
    if random.random() < 0.5:
        text = text.replace("SELECT *", "SELECT count(*) AS n")
    if clause.keys:
        text += " WHERE k = 'a'"
    return replace(of_text(text, rows), leaves_out=bool(clause.keys))


def of_window(random: Random, rows: DataFrame) -> Case:
    """Each row with the match that begins there."""
    return of_text(clauses.random_window(random), rows)


def of_text(text: str, rows: DataFrame) -> Case:
    """The result of a query over `rows`."""
    spark = rows.sparkSession
    return Case(text, lambda options: matchrec.sql(spark, text, rows=rows, options=options))


def of_rules(random: Random, rows: DataFrame) -> Case:
    """The matches of two rules."""
    drawn = [clauses.random_clause(random).text for _ in "rq"]
    rules = {name: text[text.index("PATTERN") :] for name, text in zip("rq", drawn, strict=True)}
    keys = random.choice([[], ["k"], ["k", "s"]])

    def ask(options: matchrec.Options) -> DataFrame:
        found = matchrec.match_rules(
            rows, rules, partition_by=keys, order_by=["t", "id"], options=options
        )
        return found.matches

    return Case(f"{rules} by {keys}", ask)


def of_aggregates(random: Random, rows: DataFrame) -> Case:
    """How many matches there are, and where they end."""
    text, by = clauses.random_clause(random).query, random.choice(["partition", "start", "end"])
    asked = {"number": "count(*)"}

    def ask(options: matchrec.Options) -> DataFrame:
        query = matchrec.query(rows.sparkSession, text, rows=rows, options=options)
        return query.aggregate(asked, per=by)

    return Case(f"{asked} by {by} of {text}", ask)


def settings(number: int, lowered: dict[str, int]) -> Iterator[tuple[str, Shortcuts]]:
    """All shortcuts, and all but one: each over one case in four, in a long run over all."""
    yield "all", replace(ALL, **lowered)
    for name in SWITCHES[number % 4 :: 4] if LONG_RUN is None else SWITCHES:
        yield f"all but {name}", replace(ALL, **lowered, **{name: False})


def compare(case: Case, number: int, lowered: dict[str, int]) -> tuple[int, bool]:
    """How many comparisons were made, and whether there was an answer. Raises AssertionError."""
    expected = case.answer(replace(NONE, **lowered))
    count = 0
    for name, shortcuts in settings(number, lowered):
        found = case.answer(shortcuts)
        if NO_ROOM in str(expected) or NO_ROOM in str(found):
            break  # without what keeps the search from growing, so none can tell
        if case.leaves_out and RUN_ERROR in expected:
            break  # of a partition that may not be searched
        count += 1
        if RUN_ERROR in expected and RUN_ERROR in found:
            continue  # which partition fails first is chance
        assert found == expected, f"{case.text}\n{name}: {differences(found, expected)}"
    return count, not isinstance(expected, str)


def differences(found: Answer, expected: Answer) -> str:
    """What one has and the other has not."""
    if isinstance(found, str) or isinstance(expected, str):
        return f"{found!s:.600}\nwithout any: {expected!s:.600}"
    return f"{[*(found - expected)][:5]}\nwithout any: {[*(expected - found)][:5]}"


@pytest.mark.parametrize("size", ["many", pytest.param("few rows", marks=pytest.mark.slow)])
def test_nothing_changes_without_shortcuts(spark: SparkSession, size: str) -> None:
    count, lowered = SIZES[size]
    random = Random(f"{SEED if LONG_RUN else 0} {size}")
    compared = answered = 0
    for number in range(max(examples(32), 4)):
        if number % 8 == 0:
            listed = clauses.random_rows(random, random.randint(1, count))
            rows = spark.createDataFrame(listed, clauses.COLUMNS)
        comparisons, is_answered = compare(draw(random, rows), number, lowered)
        compared += comparisons
        answered += is_answered
    print(f"{compared:,} comparisons, {answered:,} of {number + 1:,} cases with rows")
    assert answered > 0.5 * number


SELECTED = (  # the first one has what came out otherwise
    "A B+", "A B", "A B*", "A B?", "A B??", "A+ B?", "A+", "A{2}", "A (B C)*", "A (B | ())",
    "A B+ C", "(A | B)+ C?", "A B{1,2}", "A? B", "PERMUTE(A, B)", "A NOT C B+",
)  # fmt: skip
OUTPUTS = ("", "ALL MATCHES", "NON-OVERLAPPING MATCHES")


@pytest.mark.slow
@pytest.mark.parametrize("pattern", some_of(SELECTED))
def test_rows_that_no_variable_takes_change_no_selection(spark: SparkSession, pattern: str) -> None:
    """All texts of up to five letters, each a partition: `x` is no row of a variable."""
    texts = ("".join(text) for n in range(1, 6) for text in product("abcx", repeat=n))
    letters = [(text, place, one) for text in texts for place, one in enumerate(text)]
    rows = spark.createDataFrame(letters, "word string, id int, e string").cache()
    conditions = ", ".join(f"{one} AS e = '{one.lower()}'" for one in "ABC" if one in pattern)
    for selection, output in product(("NEXT", "ANY"), OUTPUTS):
        if ("()" in pattern and output) or ("NOT" in pattern and not output):
            continue  # refused
        clause = f"""PARTITION BY word ORDER BY id
            MEASURES FIRST(id) AS f, LAST(id) AS l, count(*) AS n
            PATTERN ({pattern}) SKIP TILL {selection} MATCH {output} DEFINE {conditions}"""
        answers = []
        for shortcuts in (ALL, replace(ALL, rows=False)):
            with in_force(shortcuts):
                answers.append(Counter(map(str, matchrec.match_recognize(rows, clause).collect())))
        assert answers[0] == answers[1], clause
        assert answers[0]
