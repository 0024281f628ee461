"""Arguments from two rows are cast as Spark casts them implicitly.

For each function and each type of its argument, Spark computes the value in a join of the rows A
and B. DEFINE must compute the same value. If DEFINE raises an error, so must Spark for the same
pair of rows. A call that Spark rejects must be rejected.

A long run: MATCHREC_EXAMPLES=200 MATCHREC_SEED=1000 pytest tests/spark/conditions/test_casts.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.row_column import build_row_column
from matchrec.errors import MatchRecognizeError
from matchrec.output.measure_sql import ReadInSql
from tests.properties.test_queries import INTERPRETED, settings
from tests.quick.scale import FULL, LONG_RUN, SEED, examples
from tests.tasks.query_batches import Prepared, QueryBatch, Run

INTS = [0, 1, -1, 2, 3, 5, -(2**31), 2**31 - 1]
BIGINTS = [*INTS, 2**31, 2**31 + 1, -(2**31) - 1, 2**32 + 1, 2**32 + 2, -(2**32) - 1, 2**63 - 1]
FRACTIONS = [0.5, 1.9, -1.9, 2.5, 2.0**31, 2.0**31 + 1, 2.0**32 + 1, 1e300]
NUMERALS = ["1.9", " 2 ", "1e1", "a", "", "2147483648", "4294967297", "9223372036854775808", "+3"]
ARGUMENTS: dict[str, tuple[str, Sequence[object], str]] = {
    "y": ("TINYINT", [0, 1, -1, 2, 127, -128], "(B.y + A.y0)"),
    "i": ("INT", INTS, "(B.i + A.i0)"),
    "l": ("BIGINT", [*BIGINTS, -(2**63)], "(B.l + A.l0)"),
    "d": ("DOUBLE", [*BIGINTS, *FRACTIONS, "NaN", "Infinity", "-Infinity"], "(B.d + A.d0)"),
    "f": ("FLOAT", [0, 1, -1, 2.5, 2.0**31, 2.0**33, "NaN", "-Infinity"], "(B.f + A.f0)"),
    "m": ("DECIMAL(25, 2)", [*BIGINTS, "1.99", "-1.99", "0.5", 2**64 + 1], "(B.m + A.m0)"),
    "n": ("STRING", [*BIGINTS, *NUMERALS], "(B.n || A.n0)"),
    "o": ("BOOLEAN", ["true"], "(B.o AND A.o0)"),
}
"""The types of arguments, values at their edges, and the argument made of two rows."""

OTHER_COLUMNS: dict[str, tuple[str, Sequence[object]]] = {
    "s": ("STRING", ["abcdef", "a,b,c", "", "é😀x"]),
    "xs": ("ARRAY<INT>", ["[1, 2, 3]", "[]", "[7, null]"]),
    "day": ("DATE", ["2024-02-29", "1970-01-01", "0001-01-01", "9999-12-31"]),
    "ts": ("TIMESTAMP", ["2024-02-29 12:34:56.000001", "1970-01-01 00:00:00"]),
}
"""The other columns that the functions read: their types and values."""

# The third argument of levenshtein is never NULL. For NULL, Spark returns -1 or NULL, depending on
# how it compiles the query.
INTEGER_CONDITIONS = """
levenshtein('ab', A.s, coalesce({}, 1)); A.xs[{}]
date_add(A.day, {}); date_sub(A.day, {}); dateadd(A.day, {}); A.day + {}; {} + A.day; A.day - {}
datediff(A.day, A.day + {}); collect_list(A.i0)[{}]
"""
TEXT_CONDITIONS = """
levenshtein({0}, A.s); {0} LIKE A.s || '%'; A.s LIKE {0}; A.s || {0}; concat(A.s, {0})
"""
FLOAT_CONDITIONS = """
sqrt({0}); ln({0}); exp({0}); power({0}, A.d0); radians({0}); isnan({0}); log(2, {0})
"""
FORMS = {
    group: [form.strip() for form in text.replace("\n", ";").split(";") if form.strip()]
    for group, text in {
        "integers": INTEGER_CONDITIONS,
        "texts": TEXT_CONDITIONS,
        "floats": FLOAT_CONDITIONS,
    }.items()
}
# The columns that are cast to each type. Not floats to texts, which only Java writes as Spark does.
SOURCE_COLUMNS = {"integers": "yildfmno", "texts": "yilmno", "floats": "yilmn"}
COUNT = max(map(len, (values for _, values, _ in ARGUMENTS.values())))
ZEROS = {"n": "", "o": "true"}
CLAUSE = """SELECT * FROM {} MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES LAST(t) AS last
    PATTERN (A B) DEFINE B AS {})"""
FAILURES = (PySparkException, Py4JJavaError)
STEP = 1 if LONG_RUN else 16 if FULL else 64  # a run tests every n-th call
ALGORITHM = "auto"
KEY = build_row_column("k")


@dataclass(frozen=True)
class Call:
    """A call of a function whose arguments are from two rows."""

    column: str  # the argument that is cast
    text: str  # the call in DEFINE


def list_calls() -> list[Call]:
    """Return each function with each type of argument, as a column and as an expression."""
    return [
        Call(column, form.replace("{0}", "{}").replace("{}", argument))
        for group, forms in FORMS.items()
        for form in forms
        for column in SOURCE_COLUMNS[group]
        for argument in (f"B.{column}", ARGUMENTS[column][2])
        if "A." in form + argument  # Spark computes calls that read one row
    ]


def create_pairs(spark: SparkSession, random: Random, count: int) -> None:
    """Create the view `pairs` with two rows for each `k`.

    The second row has the argument that is cast, and the first one the other arguments.
    """
    cast_columns = {name: (type_, values) for name, (type_, values, _) in ARGUMENTS.items()}
    drawn = {
        name: [*values, *random.choices([None, *values], k=count)][:count]
        for name, (_, values) in cast_columns.items()
    }
    for values in drawn.values():
        random.shuffle(values)
    drawn |= {
        name: random.choices([None, *v, *v, *v], k=count) for name, (_, v) in OTHER_COLUMNS.items()
    }
    texts = [
        tuple(None if value is None else str(value) for value in (k, *row))
        for k, row in enumerate(zip(*drawn.values(), strict=True))
    ]
    types = {name: type_ for name, (type_, _) in (cast_columns | OTHER_COLUMNS).items()}
    frame = spark.createDataFrame(texts, ", ".join(f"{n} STRING" for n in ("k", *drawn)))
    casts = [
        f"from_json({n}, '{types[n]}') AS {n}" if n == "xs" else f"CAST({n} AS {types[n]}) AS {n}"
        for n in drawn
    ]
    zeros = [f"CAST('{ZEROS.get(n, '0')}' AS {types[n]}) AS {n}0" for n in cast_columns]
    wide = frame.selectExpr("CAST(k AS INT) AS k", *casts, *zeros)
    pairs = wide.selectExpr(
        "k", "explode(array(0, 1)) AS t", *[c for c in wide.columns if c != "k"]
    )
    pairs.localCheckpoint().createOrReplaceTempView("pairs")


def join_pairs(spark: SparkSession, columns: Sequence[str], only: str = "") -> DataFrame:
    """Return columns for each pair of rows, or for some pairs, as Spark computes them."""
    return spark.sql(
        f"SELECT A.k, {', '.join(columns)} FROM pairs A JOIN pairs B "
        f"ON A.k = B.k AND A.t = 0 AND B.t = 1{only}"
    )


def write_for_spark(call: Call) -> str:
    """Return the call as SQL in a join."""
    return call.text.replace("collect_list(A.i0)", "array(A.i0)")


def is_valid_in_spark(spark: SparkSession, call: Call) -> bool:
    """Return whether Spark accepts the call."""
    try:
        join_pairs(spark, [write_for_spark(call)]).schema  # noqa: B018
    except PySparkException:
        return False
    return True


def find_failing_pairs(
    batch: QueryBatch, calls: dict[str, Call], *, ansi: bool
) -> dict[Call, set[int]]:
    """Return the pairs for which each call raises an error."""
    results = run_queries(batch, ansi=ansi)
    return {calls[query]: failing for query, (_, failing) in results.items()}


def run_queries(batch: QueryBatch, *, ansi: bool) -> dict[str, tuple[set[int], set[int]]]:
    """Return for each query the pairs that match, and those that raise an error."""
    linked = batch.link(ALGORITHM, ansi=ansi)
    if not linked:
        return {}
    prepared = batch.prepared(linked.values(), [KEY])
    keys = prepared.columns[KEY].to_numpy()[prepared.starts].tolist()
    results = {}
    for query, compiled_query in linked.items():
        matched = find_matching_pairs(compiled_query, prepared, None)
        matches_of_pairs = {}
        if matched is None:
            matches_of_pairs = {
                key: find_matching_pairs(compiled_query, prepared, [pair])
                for pair, key in enumerate(keys)
            }
            matched = {key for key, matches in matches_of_pairs.items() if matches}
        results[query] = (
            matched,
            {key for key, matches in matches_of_pairs.items() if matches is None},
        )
    return results


def find_matching_pairs(
    compiled_query: CompiledQuery, prepared: Prepared, partitions: Sequence[int] | None
) -> set[int] | None:
    """Return the pairs that match, in some partitions or all, or None if there is an error."""
    try:
        batches = Run(compiled_query, prepared, partitions, 1 << 20).batches()
    except MatchRecognizeError:
        return None
    (column,) = (
        piece.index for piece in compiled_query.outputs[0].pieces if isinstance(piece, ReadInSql)
    )
    return {key for batch in batches for key in batch.column(column).to_pylist()}


def find_differences(spark: SparkSession, calls: Sequence[Call], *, ansi: bool) -> Iterator[str]:
    """Yield a line for each difference between DEFINE and Spark."""
    queries = {CLAUSE.format("pairs", f"({call.text}) IS NOT NULL"): call for call in calls}
    names = spark.table("pairs").columns
    batch = QueryBatch(spark, "pairs", list(queries), names=names)
    failing_pairs = find_failing_pairs(batch, queries, ansi=ansi)
    valid_calls = [call for call in failing_pairs if is_valid_in_spark(spark, call)]
    for call in failing_pairs:
        if call not in valid_calls:
            yield f"accepted, but rejected by Spark: {call.text}"
    yield from list_wrong_refusals(spark, queries, batch)
    columns = []
    for number, call in enumerate(valid_calls):
        failing = ", ".join(map(str, failing_pairs[call])) or "-1"
        columns.append(f"IF(A.k IN ({failing}), NULL, {write_for_spark(call)}) AS e{number}")
    values, without_values = compute_in_spark(spark, columns)
    for number in without_values:
        yield f"no error, but Spark's: {valid_calls[number].text}"
    values.createOrReplaceTempView("expected")
    spark.sql(
        "SELECT p.*, e.* EXCEPT (k) FROM pairs p JOIN expected e ON p.k = e.k"
    ).localCheckpoint().createOrReplaceTempView("compared")
    comparisons = {
        CLAUSE.format("compared", f"({call.text}) <=> B.e{number}"): call
        for number, call in enumerate(valid_calls)
        if number not in without_values
    }
    all_names = spark.table("compared").columns
    batch = QueryBatch(spark, "compared", list(comparisons), names=all_names)
    texts = [f"CAST({name} AS STRING) AS {name}" for name in all_names[1:]]
    rows = {
        row.k: row
        for row in spark.table("compared").where("t = 1").selectExpr("k", *texts).collect()
    }
    for query, (matched, failed) in run_queries(batch, ansi=ansi).items():
        call = comparisons[query]
        number = valid_calls.index(call)
        for k in sorted(rows.keys() - matched - failed):
            value = rows[k][f"e{number}"]
            yield f"{call.text} of {show_arguments(rows[k], call)}: Spark's is {value!r}"
        for k in choose_pairs(sorted(failing_pairs[call])):
            if not fails_in_spark(spark, call, k):
                yield f"{call.text} of {show_arguments(rows[k], call)}: an error, not Spark's"
    for query, reason in batch.refused.items():
        yield f"{comparisons[query].text}: {reason}"


def choose_pairs(pairs: Sequence[int]) -> Sequence[int]:
    """Return the pairs with an error that are compared with Spark: in a long run, all of them."""
    return pairs if LONG_RUN else pairs[:1]


def list_wrong_refusals(
    spark: SparkSession, queries: dict[str, Call], batch: QueryBatch
) -> Iterator[str]:
    """Yield the calls that are rejected although Spark accepts them, except documented ones."""
    for query, reason in batch.refused.items():
        call = queries[query]
        if is_valid_in_spark(spark, call) and not is_known_refusal(call):
            yield f"refused: {call.text}: {reason.splitlines()[0]}"


def is_known_refusal(call: Call) -> bool:
    """Return whether a rejection is documented: in ANSI mode, Spark takes texts as days."""
    return call.column == "n" and call.text.startswith(("date", "A.day - "))


def compute_in_spark(spark: SparkSession, columns: list[str]) -> tuple[DataFrame, set[int]]:
    """Return Spark's values, and the numbers of the columns that it cannot compute."""
    try:
        values = join_pairs(spark, columns).localCheckpoint()
    except FAILURES:
        without_values = {
            number for number, column in enumerate(columns) if not has_values(spark, column)
        }
        columns_with_null = [
            f"NULL AS e{number}" if number in without_values else column
            for number, column in enumerate(columns)
        ]
        return join_pairs(spark, columns_with_null).localCheckpoint(), without_values
    return values, set()


def has_values(spark: SparkSession, column: str) -> bool:
    """Return whether Spark can compute a column for all pairs."""
    try:
        join_pairs(spark, [column]).localCheckpoint()
    except FAILURES:
        return False
    return True


def fails_in_spark(spark: SparkSession, call: Call, k: int) -> bool:
    """Return whether Spark cannot compute the call for a pair."""
    try:
        join_pairs(spark, [f"{write_for_spark(call)} AS e"], f" AND A.k = {k}").localCheckpoint()
    except FAILURES:
        return True
    return False


def show_arguments(row: object, call: Call) -> str:
    """Return the arguments of a call as text."""
    names = [call.column, *OTHER_COLUMNS]
    return ", ".join(f"{name} = {row[name]!r}" for name in names)  # type: ignore[index]


@pytest.mark.parametrize("ansi", [False, True])
def test_arguments_are_cast_as_spark_casts_them(spark: SparkSession, ansi: bool) -> None:
    random = Random(SEED)
    with settings(spark, ansi__enabled=str(ansi).lower(), **INTERPRETED):
        with settings(spark, ansi__enabled="false"):
            create_pairs(spark, random, COUNT + examples(16))
        differences = list(find_differences(spark, list_calls()[SEED % STEP :: STEP], ansi=ansi))
    assert not differences, "\n".join([str(len(differences)), *differences])
