"""`match_rules` returns the matches of each rule, and rejects what it cannot run.

`tests/properties/test_rule_sets.py` compares random rule sets with a slow matcher.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import matchrec
from matchrec import AfterMatch, Pattern, RuleMatches
from matchrec.spark.backend import Backend
from matchrec.spark.backends import find_backend
from matchrec.spark.start.running_session import describe_engine
from tests.cases.case_file import CaseFile, QueryRecord, list_case_files
from tests.cases.test_queries import register_tables, write_value
from tests.properties.test_queries import INTERPRETED, settings
from tests.quick.scale import FULL, LONG_RUN

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.warnings.MatchRecognizeWarning")

STREAMS: dict[str, Any] = {"order_by": "day", "partition_by": "sym"}
V = """MEASURES FIRST(STRT.day) AS first, LAST(DOWN.price) AS bottom, count(*) AS days
    PATTERN (STRT DOWN+ UP) DEFINE DOWN AS price < PREV(price), UP AS price > FIRST(price)"""
FALLS = """MEASURES CLASSIFIER() AS c, MATCH_NUMBER() AS n ALL ROWS PER MATCH WITH UNMATCHED ROWS
    PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price)"""
SPREAD = """MEASURES stddev(price) AS s, concat(A.kind, '!') AS k
    PATTERN (A B*) DEFINE A AS kind = 'b', B AS kind = 'b'"""
PAIRS = """PATTERN SEQ(a x, b y) WHERE skip_till_any_match { x.price > y.price }
    RETURN x.day AS d, y.price AS e"""
SAME_USER = """PATTERN SEQ(ANY x, ANY y) WHERE skip_till_next_match { [user] AND x.price > y.price }
    RETURN x.day AS d, y.day AS e"""


@pytest.fixture(autouse=True)
def interpreted(spark: SparkSession) -> Iterator[None]:
    """Run Spark's queries without compiling them to Java code."""
    with settings(spark, **INTERPRETED):
        yield


@pytest.fixture
def ticks(spark: SparkSession) -> DataFrame:
    """Return prices of X and Y, and one row without a symbol."""
    rows = [
        ("X", 1, 90, "a", "u"),
        ("X", 2, 80, "b", None),
        ("X", 3, 95, "a", "w"),
        ("Y", 1, 5, "b", "w"),
        ("Y", 2, 4, "b", "u"),
        ("Y", 3, 3, "a", "w"),
        ("Y", 4, 9, "b", "u"),
        ("Y", 5, 2, "b", "u"),
        (None, 1, 7, "a", "u"),
    ]
    return spark.createDataFrame(rows, "sym string, day int, price int, kind string, user string")


def count_rows(frame: DataFrame) -> Counter[str]:
    """Return how often each row occurs."""
    return Counter(str(row) for row in frame.collect())


def print_plan(frame: DataFrame) -> str:
    """Return the plan as Spark prints it."""
    with redirect_stdout(StringIO()) as printed:
        frame.explain()
    return printed.getvalue()


def list_operators(frame: DataFrame) -> list[str]:
    """Return the operators of a plan that move, sort or send rows, in alphabetical order."""
    names = r"\b(?:Python)?(Exchange|Sort|Window|MapInArrow) "  # PySpark 3.5: PythonMapInArrow
    return sorted(re.findall(names, print_plan(frame)))


@pytest.mark.larger
def test_each_rule_of_a_set_has_the_rows_of_its_query(ticks: DataFrame) -> None:
    soon = Pattern.begin("a").where(sql.col("kind") == "a")
    soon = soon.followed_by("b").where(sql.col("price") < 85)
    again = (
        Pattern.begin("b").where(sql.col("kind") == "b").next("c").where("price < last(b.price)")
    )
    sase = {"type_column": "kind", **STREAMS}
    frames_of_rules = {
        "v": (V, matchrec.match_recognize(ticks, f"PARTITION BY sym ORDER BY day {V}")),
        "falls": (FALLS, matchrec.match_recognize(ticks, f"PARTITION BY sym ORDER BY day {FALLS}")),
        "sd": (SPREAD, matchrec.match_recognize(ticks, f"PARTITION BY sym ORDER BY day {SPREAD}")),
        "pairs": (PAIRS, matchrec.match_sase(ticks, PAIRS, **sase)),
        "same": (SAME_USER, matchrec.match_sase(ticks, SAME_USER, **sase)),
        "soon": (soon, matchrec.match_pattern(ticks, soon, **STREAMS)),
        "again": (again, matchrec.match_pattern(ticks, again, **STREAMS)),
    }
    if not FULL:
        frames_of_rules = {name: frames_of_rules[name] for name in ("falls", "same", "soon")}
    rules = {name: rule for name, (rule, _) in frames_of_rules.items()}
    together = matchrec.match_rules(ticks, rules, **sase).cache()
    for name, (_, frame) in frames_of_rules.items():
        matches = together.rule(name)
        assert matches.dtypes == frame.dtypes
        assert count_rows(matches) == count_rows(frame), name
    together.unpersist()


def test_events_of_patterns_are_sent_as_columns(ticks: DataFrame) -> None:
    rules = {"falls": Pattern.begin("a").where("price > 80").next("b").where("price < 85")}
    result = matchrec.match_rules(ticks, rules, **STREAMS)
    assert "struct(" not in print_plan(result.rows)
    (row,) = result.rule("falls").where("sym = 'X'").collect()
    assert [tuple(event)[:3] for event in (*row.a, *row.b)] == [("X", 1, 90), ("X", 2, 80)]


@pytest.mark.parametrize("skip", ["TO NEXT ROW", "PAST LAST ROW"])
def test_without_a_match_there_is_no_list_of_its_rows(ticks: DataFrame, skip: str) -> None:
    stages = Pattern.begin("a").where("price > 80").next("b").where("price > 900")
    lists = f"""MEASURES collect_list(day) AS days AFTER MATCH SKIP {skip}
        PATTERN (A B) DEFINE A AS price > 80, B AS price > 900"""
    rules = {"stages": stages.after_match(AfterMatch.SKIP_TO_NEXT), "lists": lists}
    result = matchrec.match_rules(ticks, rules, **STREAMS)
    assert [result.matches.count(), *(result.rule(rule).count() for rule in rules)] == [0, 0, 0]


def test_matches_have_their_rule_their_times_and_their_events(ticks: DataFrame) -> None:
    rules = {"v": V, "same": SAME_USER, "none": "PATTERN (A?) DEFINE A AS price = 90"}
    rules["hidden"] = "MEASURES MATCHED_ROWS() AS m PATTERN (A {- B -}) DEFINE A AS price = 80"
    matches = matchrec.match_rules(ticks, rules, **STREAMS, event_columns=["day", "user"]).matches
    assert matches.columns == ["rule", "sym", "match_number", "start_time", "end_time", "events"]
    rows: dict[str, list[Any]] = defaultdict(list)
    for row in matches.orderBy("sym", "match_number").collect():
        events = [tuple(event) for event in row.events]
        rows[row.rule].append((*tuple(row)[1:-1], events))
    assert rows["v"] == [
        ("X", 1, 1, 3, [(1, "u", "STRT"), (2, None, "DOWN"), (3, "w", "UP")]),
        ("Y", 1, 1, 4, [(1, "w", "STRT"), (2, "u", "DOWN"), (3, "w", "DOWN"), (4, "u", "UP")]),
    ]
    assert rows["same"] == [  # numbered for each symbol, although the search is for each user
        ("Y", 1, 1, 3, [(1, "w", "x"), (3, "w", "y")]),
        ("Y", 2, 2, 5, [(2, "u", "x"), (5, "u", "y")]),
        ("Y", 3, 4, 5, [(4, "u", "x"), (5, "u", "y")]),
    ]
    assert rows["hidden"] == [("X", 1, 2, 3, [(2, None, "A")])]
    assert rows["none"][:3] == [
        (None, 1, None, None, []),
        ("X", 1, 1, 1, [(1, "u", "A")]),
        ("X", 2, None, None, []),
    ]


def test_rows_that_no_measure_reads_are_events(spark: SparkSession) -> None:
    """Rows 2 and 3 satisfy only the condition of B, which is true for every row."""
    rows = spark.sql("VALUES (1, 'a'), (2, 'x'), (3, 'x'), (4, 'c'), (5, 'x') AS t(day, kind)")
    rules = {"only": "PATTERN (A B* C) DEFINE A AS kind = 'a', C AS kind = 'c'"}
    matches = matchrec.match_rules(rows, rules, order_by="day").matches.collect()
    events = [[(event["day"], event["variable"]) for event in row["events"]] for row in matches]
    assert events == [[(1, "A"), (2, "B"), (3, "B"), (4, "C")]]


TOO_LARGE = """MEASURES count(*) AS n PATTERN (A B+)
    DEFINE B AS sum(B.big) > 0 AND B.day > FIRST(A.day)"""


def test_a_failing_rule_is_named_and_others_can_continue(ticks: DataFrame) -> None:
    big = "IF(sym = 'Y', 9223372036854775807, 1) AS big"
    rules = {"v": V, "sums": TOO_LARGE}
    with settings(ticks.sparkSession, ansi__enabled="true"):
        wide = ticks.selectExpr("*", big)
        with pytest.raises(PythonException) as caught:
            matchrec.match_rules(wide, rules, **STREAMS).matches.collect()
        result = matchrec.match_rules(wide, rules, **STREAMS, on_error="continue").cache()
        errors = result.errors.collect()
        sums = result.rule("sums").collect()
        v = result.rule("v").count()
        result.unpersist()
    error = matchrec.MatchRecognizeRunError.from_exception(caught.value)
    assert error is not None
    assert error.message.startswith("rule `sums`: a number in the condition of `B` is too large")
    assert error.partition == {"sym": "Y"}
    assert [(row.rule, row.sym) for row in errors] == [("sums", "Y")]
    assert "a number in the condition of `B` is too large" in errors[0].message
    assert "sym` = 'Y', row" in errors[0].message
    assert [tuple(row) for row in sums] == [("X", 3)]
    assert v == 2


SOON = """MEASURES A.day AS d, C.day AS e AFTER MATCH SKIP TO NEXT ROW PATTERN (A X*? C)
    DEFINE A AS kind = 'a', C AS kind = 'b' AND C.day - A.day <= 1, X AS X.day - A.day <= 1"""


def test_conditions_on_the_order_are_a_window_of_their_rule(ticks: DataFrame) -> None:
    """Without ANSI mode, a difference of days wraps around, but a window of the rule does not."""
    rules = {"soon": SOON, "v": V}
    far = "IF(sym = 'Y', -1500000000 + 700000000 * day, day)"
    with settings(ticks.sparkSession, ansi__enabled="false"):
        result = matchrec.match_rules(ticks, rules, **STREAMS)
        wide = ticks.withColumn("day", sql.expr(far))
        wide_result = matchrec.match_rules(wide, rules, **STREAMS, on_error="continue").cache()
        soon = [tuple(row) for row in result.rule("soon").orderBy("sym").collect()]
        errors = wide_result.errors.collect()
        v = wide_result.rule("v").count()
        wide_result.unpersist()
    explained = result.explain().text
    assert explained.count("\n  window\n") == 1
    assert "first row, by `day` (from the conditions of C, X)" in explained
    assert soon == [("X", 1, 2), ("Y", 3, 4)]
    assert [(row.rule, row.sym) for row in errors] == [("soon", "Y")]
    assert v == 2


def test_rows_are_shuffled_and_sent_once_and_sorted_by_the_workers(ticks: DataFrame) -> None:
    clause = "PATTERN (A B) DEFINE A AS price > {0}, B AS price < PREV(price) AND day > {0}"
    rules: dict[str, Any] = {f"r{number}": clause.format(number % 7) for number in range(80)}
    rules["pairs"] = PAIRS
    result = matchrec.match_rules(ticks, rules, **STREAMS, type_column="kind")
    assert list_operators(result.matches) == ["Exchange", "MapInArrow"]
    explained = result.explain().text
    assert "  sorted by the workers; " in explained
    assert "  condition 12 = `price` > 6, for r6, r13, r20" in explained
    assert "    condition 16 = condition 1 AND `price` < PREV(`price`)" in explained
    assert len(re.findall(r"^  condition \d+ =", explained, re.MULTILINE)) == 16
    matching = {f"r{number}" for number in range(80) if number % 7 < 5}
    assert {row.rule for row in result.matches.collect()} == {"pairs", *matching}


JOINED = "MEASURES B.day AS d PATTERN (A B) DEFINE B AS concat_ws('', PREV(kind), kind) = 'ab'"


def test_spark_sorts_once_where_a_rule_needs_it(ticks: DataFrame) -> None:
    rules = {"v": V, "joined": JOINED, "cheap": "PATTERN (A) DEFINE A AS price < 9"}
    result = matchrec.match_rules(ticks, rules, **STREAMS)
    assert list_operators(result.matches) == ["Exchange", "MapInArrow", "Sort", "Window"]
    explained = result.explain().text
    assert (
        "  sorted by the engine: only the engine can compute concat_ws('', PREV(`kind`), `kind`)"
        in explained
    )
    assert "`price` < PREV(`price`), for v" in explained
    assert count_rows(result.rule("joined")) == Counter(["Row(sym='X', d=2)", "Row(sym='Y', d=4)"])
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="only the engine can"):
        matchrec.match_rules(ticks, rules, **STREAMS, options=matchrec.Options(sort="worker"))


def test_matches_do_not_depend_on_who_sorts(ticks: DataFrame) -> None:
    rules = {"v": V, "falls": FALLS, "same": SAME_USER}
    results = [
        matchrec.match_rules(
            ticks, rules, **STREAMS, type_column="kind", options=matchrec.Options(sort=sort)
        )
        for sort in ("worker", "engine")
    ]
    assert "  sorted by the engine: the option sort is engine" in results[1].explain().text
    sorted_by_worker, sorted_by_engine = (
        [count_rows(rule_set.matches), count_rows(rule_set.rule("falls"))] for rule_set in results
    )
    assert sorted_by_worker == sorted_by_engine != [Counter(), Counter()]


def test_rows_that_no_rule_needs_are_not_sent(ticks: DataFrame) -> None:
    first = "price > 90"
    second = "kind = 'b' AND price < 5"
    template = "PATTERN SEQ(ANY x, ANY y) WHERE skip_till_next_match {{ x.{} AND y.{} }}"
    rules = {
        "one": template.format("price > 90", "price < 50"),
        "two": Pattern.begin("p").where(second).followed_by("q").where(first),
    }
    explained = matchrec.match_rules(ticks, rules, **STREAMS).explain().text
    assert "only rows with `price` > 90 or `price` < 50 or (`kind` = 'b') AND " in explained
    rules["three"] = V
    assert "only rows with" not in matchrec.match_rules(ticks, rules, **STREAMS).explain().text


MESSAGES: dict[str, tuple[Callable[[DataFrame], object], str]] = {
    "no rules": (
        lambda df: matchrec.match_rules(df, {}, **STREAMS),
        "`rules` of `match_rules` is empty",
    ),
    "a value that is no rule": (
        lambda df: matchrec.match_rules(df, {"v": V, "w": ["x"]}, **STREAMS),
        "rule `w` of `match_rules` must be a clause, a SASE+ query, a Pattern or a dict of",
    ),
    "names in two cases": (
        lambda df: matchrec.match_rules(df, {"v": V, "V": V}, **STREAMS),
        "rules `v` and `V` differ only in case",
    ),
    "an order of its own": (
        lambda df: matchrec.match_rules(df, {"v": V, "w": f"ORDER BY day {V}"}, **STREAMS),
        """rule `w`: ORDER BY is not allowed in a rule [keys-in-rule]
  line 1, column 10
      ORDER BY day MEASURES FIRST(STRT.day) AS first, LAST(DOWN.price) AS bottom, count(*) AS days
               ^^^
  note: all rules of a set have the same partitions and the same order
  help: remove it, and write match_rules(..., order_by="day")""",
    ),
    "partitions of its own": (
        lambda df: matchrec.match_rules(df, {"v": f"PARTITION BY sym {V}"}, **STREAMS),
        "rule `v`: PARTITION BY is not allowed in a rule",
    ),
    "several keys in a rule": (
        lambda df: matchrec.match_rules(
            df, {"v": "PARTITION BY sym, kind PATTERN (A) DEFINE A AS price > 1"}, **STREAMS
        ),
        """rule `v`: PARTITION BY is not allowed in a rule [keys-in-rule]
  line 1, column 14
      PARTITION BY sym, kind PATTERN (A) DEFINE A AS price > 1
                   ^^^
  note: all rules of a set have the same partitions and the same order
  help: remove it, and write match_rules(..., partition_by=["sym", "kind"])""",
    ),
    "an unknown column": (
        lambda df: matchrec.match_rules(
            df, {"v": V, "w": "PATTERN (A) DEFINE A AS pirce > 1"}, **STREAMS
        ),
        """rule `w`: unknown column `pirce` in DEFINE [unknown-column]
  line 1, column 25
      PATTERN (A) DEFINE A AS pirce > 1
                              ^^^^^""",
    ),
    "a measure of no sense": (
        lambda df: matchrec.match_rules(
            df, {"v": V, "w": "MEASURES sqrt(kind, 1) AS s PATTERN (A)"}, **STREAMS
        ),
        "rule `w`: ",
    ),
    "a SASE+ text": (
        lambda df: matchrec.match_rules(df, {"s": "PATTERN SEQ(a x, b y"}, **STREAMS),
        "rule `s`: ",
    ),
    "an unknown key": (
        lambda df: matchrec.match_rules(df, {"v": V}, order_by="day", partition_by="smy"),
        "unknown column `smy`",
    ),
    "an unknown column of events": (
        lambda df: matchrec.match_rules(df, {"v": V}, **STREAMS, event_columns="dya"),
        "unknown column `dya` in event_columns",
    ),
    "two columns of one name": (
        lambda df: matchrec.match_rules(df.select("*", "price"), {"v": V}, **STREAMS),
        "the input has two columns `price`",
    ),
    "a name of ours": (
        lambda df: matchrec.match_rules(
            df.withColumnRenamed("sym", "Rule"), {"v": V}, order_by="day", partition_by="Rule"
        ),
        "partition column `Rule` has the name of a column of the result",
    ),
    "an unknown rule": (
        lambda df: matchrec.match_rules(df, {"v_shape": V}, **STREAMS).rule("v_shap"),
        "unknown rule `v_shap`",
    ),
    "nested values in an equivalence test": (
        lambda df: matchrec.match_rules(
            df.selectExpr("*", "array(user) AS users"),
            {"s": "PATTERN SEQ(ANY x, ANY y) WHERE skip_till_next_match { [users] }"},
            **STREAMS,
        ),
        "rule `s`: an equivalence test over `users` of type array<string> is not supported in a",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_names_the_rule(ticks: DataFrame, name: str) -> None:
    call, message = MESSAGES[name]
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        call(ticks)
    assert str(caught.value).startswith(message)


def test_a_warning_names_the_rule(ticks: DataFrame) -> None:
    with pytest.warns(matchrec.warnings.SameValueWarning, match="^rule `w`: "):
        matchrec.match_rules(ticks, {"w": "PATTERN (A) DEFINE A AS price = price"}, **STREAMS)


# A query that is one clause over a table: the table, PARTITION BY, ORDER BY and the rest.
SINGLE_CLAUSE = re.compile(
    r"SELECT \* FROM (\w+)\s+MATCH_RECOGNIZE\s*\(\s*(?:PARTITION BY ([\w, ]+?)\s+)?"
    r"ORDER BY ((?:(?! ASC| DESC| NULLS)[\w, ])+?)\s+"
    r"(?=MEASURES|ONE ROW|ALL ROWS|AFTER|PATTERN)(.*)\)(?:\s*AS \w+)?\s*",
    re.DOTALL,
)
# A case file, the table and keys of a rule set, and the rules with the record of each.
Group = tuple[CaseFile, tuple[str, str | None, str], dict[str, QueryRecord]]


def group_queries() -> list[Group]:
    """Group the queries of case files that are one clause over a table by table and keys.

    The largest groups come first. Queries that fail, or that run on one engine only, are left out.
    """
    groups: list[Group] = []
    for file in list_case_files():
        records_by_keys: dict[tuple[str, str | None, str], dict[str, QueryRecord]] = defaultdict(
            dict
        )
        for record in file.queries:
            query = SINGLE_CLAUSE.fullmatch(record.sql)
            if query is None or record.head.note_of("gap"):
                continue
            table, partition, order, rule = query.groups()
            has_several_clauses = re.search(r"MATCH_RECOGNIZE|\) AS \w+ \(", rule)
            names_keys = " AS " in (partition or "")  # not possible in a rule set
            if not (has_several_clauses or names_keys):
                records_by_keys[table, partition, order][rule] = record
        groups += [(file, keys, records) for keys, records in records_by_keys.items()]
    groups.sort(key=lambda group: -len(group[2]))
    if LONG_RUN is not None:
        return groups
    partial = [group for group in groups if group[0].path.stem == "partial_matches"]
    return [*(groups[::8] if FULL else groups[20:21]), *partial[:1]]


def list_rows(result: RuleMatches) -> dict[str, Counter[tuple[str | None, ...]]]:
    """Return the rows of each rule, with values written as in case files."""
    return {
        name: Counter(tuple(map(write_value, row)) for row in result.rule(name).collect())
        for name in result.rules
    }


@pytest.mark.larger
@pytest.mark.parametrize(
    "group", group_queries(), ids=lambda group: f"{group[0].path.stem} {group[1]}"
)
def test_clauses_of_case_files_give_the_same_rows_as_rules(
    spark: SparkSession, group: Group
) -> None:
    file, (table, partition, order), records = group
    register_tables(spark, file)
    rules = {f"line {record.head.line}": text for text, record in records.items()}
    streams = {
        "order_by": order.split(", "),
        "partition_by": partition.split(", ") if partition else [],
    }
    result = matchrec.match_rules(spark.table(table), rules, **streams).cache()
    rows = list_rows(result)
    result.unpersist()
    on_sail = describe_engine(spark).startswith("Sail")
    for record in records.values():
        name = f"line {record.head.line}"
        assert result.rule(name).columns == list(record.columns)
        if on_sail and record.head.note_of("sail"):  # a known difference in Sail's SQL
            continue
        assert rows[name] == Counter(record.rows), record.sql


def test_rows_that_are_not_sent_change_no_result(ticks: DataFrame) -> None:
    pair = "PATTERN SEQ(ANY x, ANY y) WHERE skip_till_next_match { x.price > 4 AND y.price < 4 }"
    rules: dict[str, Any] = {"pair": pair, "dear": Pattern.begin("a").where("price > 90")}
    result = matchrec.match_rules(ticks, rules, **STREAMS)
    assert "only rows with" in result.explain().text
    assert count_rows(result.rule("pair")) == count_rows(
        matchrec.match_sase(ticks, pair, **STREAMS)
    )


def test_rules_with_double_quotes_read_the_settings_once(
    ticks: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    backend_class = type(find_backend(ticks.sparkSession))
    read_settings = backend_class.read_settings

    def count_read(backend: Backend, names: Sequence[str]) -> list[Any]:
        """Read settings as the backend does, and count the read."""
        reads.append(names)
        return read_settings(backend, names)

    monkeypatch.setattr(backend_class, "read_settings", count_read)
    counts = []
    for rule_count in (1, 5):
        rules = {
            f"rule{index}": 'PATTERN (A) DEFINE A AS kind = "b"' for index in range(rule_count)
        }
        reads.clear()
        matchrec.match_rules(ticks, rules, **STREAMS)
        counts.append(len(reads))
    assert counts[0] == counts[1]


def test_a_result_has_no_subscripts(spark: SparkSession) -> None:
    rules = {"large": "MEASURES A.id AS n PATTERN (A) DEFINE A AS id > 1"}
    result: Any = matchrec.match_rules(spark.range(3), rules, order_by="id")
    with pytest.raises(TypeError, match=re.escape("write result.rule('large')")):
        result["large"]
