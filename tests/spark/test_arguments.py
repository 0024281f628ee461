"""A wrong argument of any public function raises an error of matchrec that names the argument.

For each parameter of each public function, class and method, each of `VALUES` is passed in a call
whose other arguments are right. `RIGHT_KINDS` says which values are right for a parameter. All
others must raise an error that names the parameter.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from functools import partial
from threading import Event, Thread
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql.functions import col

import matchrec
from matchrec import AfterMatch, Counters, MatchRecognizeError, Options, Pattern, Query
from matchrec.api import questions
from matchrec.spark.analysis_log import find_analysis_logger, silence_analysis
from matchrec.spark.backend import Backend
from tests.pages.reference import list_definitions

pytestmark = pytest.mark.one_of(4)

VALUES: dict[str, Any] = {
    "None": None,
    "3": 3,
    "-1": -1,
    "1.5": 1.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "True": True,
    "5,000 digits": 10**5000,
    "bytes": b"x",
    "empty text": "",
    "text": "nosuch",
    "list": [],
    "list of 3": [3],
    "tuple": (),
    "dict": {},
    "dict of object": {"a": object()},
    "object": object(),
    "class": Counters,
    "function": lambda: 0,
    "date": date(2020, 1, 1),
    "timedelta": timedelta(minutes=1),
    "pattern": Pattern.begin("a"),
    "a pattern with stages": Pattern(()),
    "Column": "Column",  # made in the test, because it needs a session
}

TEXTS = ("empty text", "text")
LITERALS = ("3", "-1", "1.5", "nan", "inf", "True", "5,000 digits", *TEXTS, "list of 3", "Column")
STAGE = (*TEXTS, "pattern", "a pattern with stages")
DURATION = ("3", "-1", "1.5", "5,000 digits", *TEXTS, "timedelta")
INTEGERS = ("3", "-1")
ROW = ("None", *INTEGERS, "1.5", "nan", "inf", "True", "5,000 digits", *TEXTS, "tuple", "date")

RIGHT_KINDS: dict[str, tuple[str, ...]] = {
    "query": TEXTS,
    "partition": ("None", "dict", "dict of object"),
    "row": (*ROW, "timedelta"),
    "limit": ("3",),
    "why.clause": ("None", *INTEGERS, *TEXTS),
    "coverage.clause": ("None", *INTEGERS, *TEXTS),
    "aggregate.clause": ("None", *INTEGERS, *TEXTS),
    "explain.clause": ("None", *INTEGERS, *TEXTS),
    "aggregate.per": (),
    "backtest.clause": ("None", *INTEGERS, *TEXTS),
    "serve.spark": ("None",),
    "serve.host": TEXTS,
    "serve.port": ("3",),
    "serve.token": ("None", *TEXTS),
    "serve.tls_cert": ("None", *TEXTS),
    "serve.tls_key": ("None", *TEXTS),
    "serve.allow_anyone": ("True",),
    "key": ("None", *TEXTS, "list", "tuple"),
    "start": TEXTS,
    "end": TEXTS,
    "aggregates": ("None",),
    "match_recognize.clause": TEXTS,
    "sweep.clause": TEXTS,
    "grid": (),
    "match_recognize.args": ("None", "dict"),
    "x": TEXTS,
    "y": TEXTS,
    "by": ("None", *TEXTS),
    "between": ("None",),
    "match": ("None", *TEXTS),
    "count": ("3",),
    "_most_matches": ("None", "3"),
    "page": ("3",),
    "panels": ("3",),
    "transpile.query": STAGE,
    "text": TEXTS,
    "events": ("text",),
    "_stage": ("None",),
    "args": ("None", "list", "list of 3", "dict"),
    "frames": LITERALS,
    "max_steps": ("None", "3"),
    "analyze": ("True",),
    "counters": ("None",),
    "options": ("None",),
    "transpile.order_by": (*TEXTS, "list", "tuple"),
    "transpile.partition_by": (*TEXTS, "list", "tuple"),
    "order_by": (*TEXTS, "list", "tuple", "Column"),
    "partition_by": (*TEXTS, "list", "tuple", "Column"),
    "rules": ("dict",),
    "column": ("None", *TEXTS),
    "event_columns": ("None", *TEXTS, "list", "tuple"),
    "type_column": TEXTS,
    "pattern": ("pattern", "a pattern with stages"),
    "begin.stage": STAGE,
    "next.stage": STAGE,
    "followed_by.stage": STAGE,
    "followed_by_any.stage": STAGE,
    "name": STAGE,
    "condition": (*TEXTS, "Column"),
    "gap": ("None", *DURATION),
    "window": DURATION,
    "least": INTEGERS,
    "most": ("None", *INTEGERS),
    "timeout": ("3", "1.5"),
    "_throws": ("True",),
    "timeouts": ("True",),
    "_to": ("None",),
    "engine": ("None",),
    "cores": ("None", "3"),
    "memory": ("None",),
    "_stages": ("tuple",),
}
RIGHT_KINDS["skip_to_first.stage"] = RIGHT_KINDS["skip_to_last.stage"] = TEXTS

METHODS = (
    *(getattr(Pattern, name) for name in vars(Pattern) if not name.startswith("_")),
    *(AfterMatch.skip_to_first, AfterMatch.skip_to_last, Counters.values),
    *(
        Query.aggregate,
        Query.backtest,
        Query.explain,
        Query.why,
        Query.coverage,
        Query.plot,
        Query.to_sql,
    ),
)
CALLABLES = (
    *(getattr(matchrec, name) for name in matchrec.__all__ if name.islower() and name != "query"),
    *(Pattern, AfterMatch, Options),
    *(method for method in METHODS if inspect.isfunction(method)),
)


def list_parameters() -> Iterator[Any]:
    """Yield every parameter of every callable."""
    for function in CALLABLES:
        for name in inspect.signature(function).parameters:
            if name != "self":
                yield pytest.param(function, name, id=f"{function.__qualname__}-{name}")


def make_right_call(function: Callable[..., Any], spark: SparkSession) -> Callable[..., Any]:
    """Return the function with right arguments for all required parameters."""
    df = spark.createDataFrame([(1, 5), (2, 6)], "t int, v int")
    right = {
        "self": Counters() if function is Counters.values else Pattern.begin("a").one_or_more(),
        "spark": spark,
        "df": df,
        "matches": df,
        "data": df,
        "labels": df,
        "start": "t",
        "end": "t",
        "x": "t",
        "y": "v",
        "query": "SELECT * FROM range(3) MATCH_RECOGNIZE (PARTITION BY id PATTERN (A))",
        "clause": "ORDER BY t MEASURES FIRST(t) AS a PATTERN (A B)",
        "text": "PATTERN SEQ(ANY a)",
        "pattern": Pattern.begin("a"),
        "rules": {"a": "PATTERN (A)"},
        "events": "t",
        "order_by": "t",
        "name": "b",
        "condition": "v > 1",
        "least": 1,
        "count": 1,
        "window": 10,
        "stage": "b",
        "_stages": (),
    }
    if function is matchrec.explode_matches:
        right["df"] = df.selectExpr("array(struct(t, v)) AS rows")
    if function is matchrec.sweep:
        right |= {"clause": "ORDER BY t PATTERN (A) DEFINE A AS v > :x", "grid": {"x": [1]}}
    if function.__qualname__.startswith("Query."):
        right["self"] = matchrec.query(df, right["clause"])
    elif "self" in inspect.signature(function).parameters and "pattern" not in function.__name__:
        needs_no_quantifier = function.__name__ in ("times", "times_or_more", "one_or_more")
        right["self"] = Pattern.begin("a") if needs_no_quantifier else right["self"]
    needed = {
        name: right[name]
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is parameter.empty and name in right
    }
    receiver = needed.pop("self", None)
    return partial(function, *([] if receiver is None else [receiver]), **needed)


@pytest.fixture
def no_answer(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Keep `why` from running a job, and `serve` from starting a gateway. Other tests run them.

    But `why` tests the argument `partition` only when it collects the partition.
    """
    if request.node.callspec.params["parameter"] != "partition":
        monkeypatch.setattr(questions, "explain_partition", lambda *_: None)
    monkeypatch.setattr("matchrec.gateway.serve.start_gateway", lambda *_: None)


@pytest.mark.parametrize(("function", "parameter"), [*list_parameters()])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_answer")
def test_arguments_of_the_wrong_kind_are_rejected(
    spark: SparkSession, function: Callable[..., Any], parameter: str
) -> None:
    call = make_right_call(function, spark)
    kinds_of_function = RIGHT_KINDS.get(f"{function.__name__}.{parameter}")
    right_kinds = kinds_of_function or RIGHT_KINDS.get(parameter, ())
    for name, value in VALUES.items():
        argument = col("v") if name == "Column" else value
        arguments = {"unused" if parameter == "frames" else parameter: argument}
        if name in right_kinds:
            try:
                call(**arguments)
            except (MatchRecognizeError, PySparkException):
                continue
        else:
            with pytest.raises(MatchRecognizeError) as refused:
                call(**arguments)
            message = str(refused.value)
            assert next(iter(arguments)).lstrip("_") in message, (name, message)
            assert len(message) < 600, (name, message)


def test_the_message_names_method_stage_and_argument() -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        Pattern.begin("a").times("2")  # type: ignore[arg-type]
    assert str(refused.value) == (
        "`least` of `Pattern.times` at stage `a` must be a whole number up to 2147483647, but is "
        "'2', of type str [wrong-argument]\n"
        "  help: write times(2), times(2, 4) or times_or_more(2)"
    )


def test_a_call_of_the_whole_pattern_names_no_stage() -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        Pattern.begin("a").first_matches(0)
    assert str(refused.value) == (
        "`count` of `Pattern.first_matches` must be a whole number from 1 to 2147483647, but is 0 "
        "[wrong-argument]\n  help: write first_matches(1)"
    )
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        Pattern.begin("a").after_match(3)  # type: ignore[arg-type]
    assert refused.value.message == (
        "`strategy` of `Pattern.after_match` must be an AfterMatch, but is 3, of type int"
    )


@pytest.mark.parametrize(
    ("value", "shown", "hint"),
    [
        (0, "0", "write 1 or more, or leave max_steps out for no limit"),
        ("5", "'5', of type str", "write max_steps=5"),
        (True, "True, of type bool", "write max_steps=1_000_000_000, or leave it out for no limit"),
    ],
)
def test_a_message_names_the_type_only_if_it_is_wrong(value: Any, shown: str, hint: str) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        Options(max_steps=value)
    assert refused.value.message == (
        f"`max_steps` of `Options` must be a whole number of 1 or more, or None, but is {shown}"
    )
    assert refused.value.hint == hint


def test_an_unknown_engine_is_shown_without_its_type() -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.session("duckdb")
    assert refused.value.message == (
        '`engine` of `session` must be "sail", "spark" or the address of a server, or None, but is '
        "'duckdb'"
    )


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ([1], "pass pandas.DataFrame([...], columns=[...])"),
        ({"id": [1]}, "pass pandas.DataFrame({...})"),
        (pd.Series([1]), "pass series.to_frame()"),
        (
            pd.DataFrame({"id": [1]}).groupby("id"),
            "pass the frame itself: PARTITION BY makes the groups",
        ),
    ],
)
def test_rows_that_are_not_a_frame(rows: Any, hint: str) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.match_recognize(rows, "ORDER BY id PATTERN (A)")
    assert refused.value.hint == hint


def test_a_misspelt_option_value_is_corrected(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.Options(algorithm="backtraking")  # type: ignore[arg-type]
    assert str(refused.value) == (
        "unknown value `backtraking` for `algorithm` of `Options` [unknown-option-value]\n"
        "  note: it must be one of auto, backtracking, breadth_first\n"
        '  help: write options=matchrec.Options(algorithm="backtracking")'
    )


def test_a_call_that_does_not_fit_the_signature_is_a_type_error(spark: SparkSession) -> None:
    with pytest.raises(TypeError, match="order_by"):
        matchrec.match_pattern(spark.range(1), Pattern.begin("a"))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="algoritm"):
        matchrec.enable(spark, algoritm="auto")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^query\(\) missing .*order_by"):
        matchrec.query(spark.range(1), Pattern.begin("a"))  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"^Options\(\) got .*'algoritm'; write algorithm=$"):
        matchrec.Options(algoritm="auto")  # type: ignore[call-arg]


def test_a_missing_argument_has_advice(spark: SparkSession) -> None:
    ids = spark.range(1)
    write_order = 'write order_by="...", or order_by=["...", "..."], with names of columns'
    begin: Any = Pattern.begin
    where: Any = Pattern.begin("a").where
    match_pattern: Any = partial(matchrec.match_pattern, ids, Pattern.begin("a"))
    match_sase: Any = partial(matchrec.match_sase, ids, "PATTERN SEQ(A a)")
    for call, advice in (
        (match_pattern, write_order),
        (match_sase, write_order),
        (begin, 'write "name", or for a group a Pattern such as Pattern.begin("a").next("b")'),
        (where, 'write "price > 10", or F.col("price") > 10 after from pyspark.sql import'),
    ):
        with pytest.raises(TypeError, match=rf"\(\) missing .*; {re.escape(advice)}"):
            call()


def test_signatures_name_all_arguments() -> None:
    keywords = {
        argument.arg
        for overloaded in list_definitions(matchrec.query)
        for argument in overloaded.args.kwonlyargs
    }
    parameters = inspect.signature(matchrec.query).parameters
    assert list(parameters)[:3] == ["spark_or_df", "query_or_pattern", "args"]
    assert keywords < parameters.keys()
    for name in matchrec.__all__:
        if name.islower():
            assert "*args" not in str(inspect.signature(getattr(matchrec, name)))


def test_a_query_instead_of_the_session_is_rejected() -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.enable("SELECT 1")  # type: ignore[arg-type]
    assert str(refused.value).startswith(
        "`spark` of `enable` must be a SparkSession, but is 'SELECT 1', of type str "
        "[wrong-argument]\n"
        "  help: pass the session: matchrec.session()"
    )


def test_a_query_before_the_session_is_rejected(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.sql("SELECT 1", spark)  # type: ignore[call-overload]
    assert str(caught.value) == (
        "`spark` of `sql` must be a SparkSession, but is 'SELECT 1', of type str [wrong-argument]\n"
        "  help: pass the session first, and then this text"
    )


def test_a_misspelt_required_argument_is_corrected(spark: SparkSession) -> None:
    match_sase: Any = matchrec.match_sase
    with pytest.raises(TypeError) as caught:
        match_sase(spark.range(1), "PATTERN SEQ(* a)", orderby="id")
    message = "match_sase() got an unexpected keyword argument 'orderby'; write order_by="
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("arguments", [(), ("session",)])
def test_a_missing_query_is_named(spark: SparkSession, arguments: tuple[str, ...]) -> None:
    sql: Any = matchrec.sql
    with pytest.raises(TypeError) as caught:
        sql(*(spark for _ in arguments))
    assert str(caught.value) == (
        "sql() missing a required argument: 'query'; write query=\"SELECT ...\""
    )


@pytest.mark.parametrize(
    ("order", "hint"),
    [
        ("id", 'write order_by="id"'),
        (["id", "at"], 'write order_by=["id", "at"]'),
        (3, 'write args={"name": value} for :name'),
    ],
)
def test_an_order_instead_of_the_values_is_recognized(
    spark: SparkSession, order: Any, hint: str
) -> None:
    ids = spark.range(1)
    calls: tuple[Callable[..., object], ...] = (
        partial(matchrec.match_sase, ids, "PATTERN SEQ(ANY a)"),
        partial(matchrec.match_pattern, ids, Pattern.begin("a")),
        partial(matchrec.query, ids, "PATTERN SEQ(ANY a)"),
    )
    for call in calls:
        with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
            call(order)
        assert caught.value.message.startswith("`args` of `")
        assert caught.value.hint == hint


def test_an_option_is_not_an_argument(spark: SparkSession) -> None:
    clause = "ORDER BY id PATTERN (A) DEFINE A AS id >= 0"
    df = spark.range(1)
    calls: dict[str, Callable[..., object]] = {
        "match_recognize": partial(matchrec.match_recognize, df, clause),
        "query": partial(matchrec.query, df, clause),
        "match_pattern": partial(matchrec.match_pattern, df, Pattern.begin("a"), order_by="id"),
        "enable": partial(matchrec.enable, spark),
    }
    for name, call in calls.items():
        with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
            call(algorithm="auto")
        assert str(refused.value) == (
            f"`algorithm` is an option, not an argument of `{name}` [option-as-argument]\n"
            "  help: write options=matchrec.Options(algorithm=...)"
        )


def test_wrapped_sessions_and_dataframes_are_accepted(spark: SparkSession) -> None:
    class Wrapper:
        """A wrapper of an object of Spark, such as some vendors make."""

        def __init__(self, wrapped: Any) -> None:
            self.wrapped = wrapped

        def __getattr__(self, name: str) -> Any:
            return getattr(self.wrapped, name)

    session: Any = Wrapper(spark)
    clause = "ORDER BY id MEASURES A.id AS x PATTERN (A) DEFINE A AS id >= 0"
    query = f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})"
    assert matchrec.sql(session, query, t=spark.range(1)).count() == 1
    df: Any = Wrapper(spark.range(1))
    assert matchrec.sql(session, "SELECT 1 AS x").count() == 1
    assert matchrec.query(session, query, t=spark.range(1)).explain().clauses
    assert matchrec.match_recognize(df.toPandas(), clause).count() == 1
    with pytest.raises(MatchRecognizeError, match="is the class"):
        matchrec.sql(SparkSession, query)  # type: ignore[arg-type]
    with pytest.raises(MatchRecognizeError, match="of type Builder"):
        matchrec.sql(SparkSession.builder, query)  # type: ignore[arg-type]


def test_values_that_spark_cannot_take_are_rejected(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.sql(spark, "SELECT :x", {"x": object()})
    assert str(refused.value).startswith("`args['x']` of `sql` must be a number, a string, a date,")
    assert "but is of type object [wrong-argument]" in str(refused.value)
    with pytest.raises(matchrec.MatchRecognizePlanError):
        matchrec.sql(spark, "SELECT 1", {1: "x"})  # type: ignore[dict-item]
    values = [None, True, 1, 1.5, "x", date(2020, 1, 1), timedelta(1), [1, 2], col("1").isNull()]
    with pytest.raises(matchrec.MatchRecognizePlanError, match="args has 9 values"):
        matchrec.sql(spark, make_right_call(matchrec.sql, spark).keywords["query"], values)


def test_a_mapping_need_not_be_a_dict(spark: SparkSession) -> None:
    df = spark.range(4)
    clause = "ORDER BY id MEASURES A.id AS id PATTERN (A) DEFINE A AS id >= :least"
    least = MappingProxyType({"least": 2})
    for matches in (
        matchrec.match_recognize(df, clause, least),
        matchrec.sql(spark, f"SELECT * FROM {{df}} MATCH_RECOGNIZE ({clause})", least, df=df),
    ):
        assert sorted(row.id for row in matches.collect()) == [2, 3]
    counts = matchrec.sweep(df, clause, MappingProxyType({"least": [1, 3]})).rows
    assert [row[:2] for row in counts] == [(1, 3), (3, 1)]
    rules = MappingProxyType({"late": MappingProxyType({2: "PATTERN (A) DEFINE A AS id >= 0"})})
    assert matchrec.match_rules(df, rules, order_by="id").matches.count() == 2
    aggregates = MappingProxyType({"matches": "count(*)"})
    assert matchrec.query(df, clause, least).aggregate(aggregates).collect() == [Row(matches=2)]
    with pytest.raises(MatchRecognizeError, match=r"`args\['x'\]` of `sql` must be"):
        matchrec.sql(spark, "SELECT :x", MappingProxyType({"x": object()}))  # type: ignore[arg-type]


@pytest.mark.parametrize("by_arrow", ["true", "false"])
def test_a_missing_number_of_pandas_is_null(spark: SparkSession, by_arrow: str) -> None:
    """Without Arrow, PySpark converts it to NaN, which would be greater than all numbers."""
    frame = pd.DataFrame({"t": range(4), "x": [1.0, None, 3.0, None], "s": ["a", None, "b", "c"]})
    clause = "ORDER BY t MEASURES A.t AS t PATTERN (A) DEFINE A AS {}"
    name = "spark.sql.execution.arrow.pyspark.enabled"
    before = spark.conf.get(name, "true")
    spark.conf.set(name, by_arrow)
    try:
        for condition, rows in (("x IS NULL", [1, 3]), ("x > 2", [2]), ("s IS NULL", [1])):
            matches = matchrec.match_recognize(frame, clause.format(condition)).collect()
            assert sorted(row.t for row in matches) == rows
        assert str(spark.conf.get(name)) == by_arrow
    finally:
        spark.conf.set(name, str(before))


def test_threads_set_a_setting_one_after_the_other() -> None:
    """Otherwise the second thread would restore the value that the first one has set."""
    name = "spark.sql.execution.arrow.pyspark.enabled"
    session: Any = SimpleNamespace(conf=Settings({name: "false"}))
    first_has_set_it = Event()
    values = []

    def read_setting() -> None:
        """Read the setting after the first thread has set it."""
        first_has_set_it.wait()
        with Backend(session).use_arrow():
            values.append(session.conf[name])

    thread = Thread(target=read_setting)
    thread.start()
    with Backend(session).use_arrow():
        first_has_set_it.set()
        thread.join(0.1)
        assert not values
    thread.join()
    assert (values, session.conf[name]) == (["true"], "false")


class Settings(dict[str, str]):
    """The settings of a session."""

    set = dict.__setitem__


FRAMES = {
    "pass spark.createDataFrame(frame)": pd.DataFrame({"id": [1]}),
    "pass spark.createDataFrame(table.to_pandas())": pa.table({"id": [1]}),
}


@pytest.mark.parametrize("hint", FRAMES)
def test_a_frame_of_another_library_is_rejected(spark: SparkSession, hint: str) -> None:
    frame: Any = FRAMES[hint]
    df = spark.range(1)
    calls = (
        lambda: matchrec.match_rules(df, frame, order_by="id"),
        lambda: matchrec.explode_matches(frame),
        lambda: matchrec.explode_graph(frame),
    )
    for call in calls:
        with pytest.raises(MatchRecognizeError) as caught:
            call()
        message, *_, last = str(caught.value).split("\n")
        assert message.endswith(
            (
                ", but is a pandas DataFrame [wrong-argument]",
                ", but is a pyarrow Table [wrong-argument]",
            )
        )
        assert last == f"  help: {hint}"


def test_a_frame_of_pandas_on_spark_is_rejected() -> None:
    frame = type("DataFrame", (), {"__module__": "pyspark.pandas.frame"})()
    with pytest.raises(MatchRecognizeError, match=r"a pandas-on-Spark DataFrame.*\n.*to_spark"):
        matchrec.explode_matches(frame)


def test_a_query_instead_of_a_clause_is_rejected(spark: SparkSession) -> None:
    clause = "-- all\nORDER BY id MEASURES A.id AS x PATTERN (A) DEFINE A AS id >= 0"
    with pytest.raises(MatchRecognizeError, match=r"pass a whole query to matchrec\.sql"):
        matchrec.match_recognize(spark.range(1), f"SELECT * FROM t MATCH_RECOGNIZE ({clause})")
    for text, call in ((clause, "match_recognize"), ("PATTERN SEQ(ANY a)", "match_sase")):
        with pytest.raises(MatchRecognizeError, match=f"matchrec.{call}"):
            matchrec.sql(spark, text)


def test_sql_is_not_sase(spark: SparkSession) -> None:
    """The error comes before the one about `order_by`, which SQL does not need."""
    clause = "ORDER BY id MEASURES A.id AS x PATTERN (A) DEFINE A AS id >= 0"
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    for text, call in ((clause, "match_recognize"), (query, "sql")):
        with pytest.raises(
            MatchRecognizeError, match=f"(?s)is not SASE.*\n.*matchrec.{call}"
        ) as caught:
            matchrec.match_sase(spark.range(1), text)  # type: ignore[call-arg]
        assert (caught.value.code, caught.value.column) == ("sql-as-sase", 1)


@pytest.mark.parametrize(
    ("text", "column"), [("", None), ("  \n", None), ("/* all */", 1), ("\n  -- all", 3)]
)
def test_an_empty_query_is_rejected_at_its_end(
    spark: SparkSession, text: str, column: int | None
) -> None:
    calls = (
        lambda: matchrec.sql(spark, text),
        lambda: matchrec.sql(spark, text, dialect="oracle"),
        lambda: matchrec.transpile(text, read="oracle", write="spark"),
        lambda: matchrec.match_sase(spark.range(1), text, order_by="id"),
    )
    for call in calls:
        with pytest.raises(MatchRecognizeError, match="the query is empty") as caught:
            call()
        assert (caught.value.code, caught.value.column) == ("empty-query", column)
    with pytest.raises(
        MatchRecognizeError, match=r"missing PATTERN.*\n  note: the clause is empty"
    ):
        matchrec.match_recognize(spark.range(1), "")


def test_order_by_is_not_for_a_clause(spark: SparkSession) -> None:
    clause = " ORDER BY id PATTERN (A) DEFINE A AS id > 1"
    with pytest.raises(
        matchrec.MatchRecognizePlanError, match="`order_by` is not allowed"
    ) as caught:
        matchrec.query(spark.range(3), clause, order_by="id")
    assert (caught.value.column, caught.value.hint) == (
        2,
        "leave order_by out, and write ORDER BY in the clause",
    )


@pytest.mark.parametrize(
    "call", [matchrec.sql, matchrec.transpile, lambda text: matchrec.query(text).to_df()]
)
def test_the_name_of_a_file_is_not_a_query(
    spark: SparkSession, call: Callable[[str], object]
) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        call("falls/deep.sql")
    assert caught.value.code == "file-name-as-query"
    assert caught.value.hint == "pass its text: open('falls/deep.sql').read()"


@pytest.mark.parametrize(
    ("strategy", "name"),
    [("NO_SKIP", "NO_SKIP"), ("skip_past_last", "SKIP_PAST_LAST_EVENT"), (3, "SKIP_TO_NEXT")],
)
def test_the_name_of_a_skip_strategy_is_not_a_strategy(strategy: Any, name: str) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as caught:
        matchrec.Pattern.begin("a").after_match(strategy)
    assert caught.value.hint == f"write after_match(AfterMatch.{name})"


def test_a_query_runs_in_the_running_session(spark: SparkSession) -> None:
    ids = spark.range(1)
    assert matchrec.query("SELECT 1 AS id").collect() == [(1,)]
    assert matchrec.query(query="SELECT id FROM {ids}", ids=ids).collect() == [(0,)]


def test_a_clause_or_sase_text_without_rows_is_rejected(spark: SparkSession) -> None:
    for text in ("ORDER BY id PATTERN (A)", "PATTERN SEQ(ANY a)"):
        with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
            matchrec.query(text)
        headline = "`spark` or `df` of `query` must be a SparkSession or a DataFrame, but is"
        assert refused.value.message.startswith(f"{headline} '{text}'")


def test_a_sase_text_without_pattern_is_rejected(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.query("SEQ(Shelf a, Exit b)")
    assert refused.value.code == "sase-without-pattern"


def test_the_session_may_follow_the_query_by_name(spark: SparkSession) -> None:
    sql: Any = matchrec.sql
    query: Any = matchrec.query
    assert sql("SELECT 1 AS id", spark=spark).collect() == [(1,)]
    assert sql("SELECT :n AS id", {"n": 2}, spark=spark).collect() == [(2,)]
    assert query("SELECT 3 AS id", spark=spark).collect() == [(3,)]
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        sql("SELECT 1 AS id", spark="x")
    assert (
        refused.value.message == "`spark` of `sql` must be a SparkSession, but is 'x', of type str"
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("PATTERN SEQ(Shelf a)", "pass a SASE+ text to matchrec.match_sase"),
        ("ORDER BY id PATTERN (A)", "pass a clause to matchrec.match_recognize"),
        ("SELECT 1", "pass a query in SQL to matchrec.sql"),
        ("a", 'write matchrec.Pattern.begin("a")...'),
    ],
)
def test_a_text_is_not_a_pattern(spark: SparkSession, text: Any, hint: str) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.match_pattern(spark.range(1), text, order_by="id")
    assert refused.value.message.startswith("`pattern` of `match_pattern` must be a Pattern, but")
    assert refused.value.hint == hint


def test_a_dataframe_without_a_query_is_rejected(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.query(spark.range(1))
    assert str(refused.value) == (
        "missing clause, SASE+ text or Pattern in `query` [missing-query-text]\n"
        '  help: write it after the DataFrame: matchrec.query(df, "ORDER BY ...")'
    )


def test_a_thread_silences_only_its_own_log() -> None:
    logger = find_analysis_logger()
    line = logging.makeLogRecord({"msg": "an analysis has failed"})
    silence = silence_analysis()
    silence_of_thread = silence_analysis()
    with ThreadPoolExecutor(1) as threads:
        with silence:
            assert threads.submit(logger.filter, line).result()
            threads.submit(silence_of_thread.__enter__).result()
            assert not logger.filter(line)
        assert logger.filter(line)
        assert not threads.submit(logger.filter, line).result()
        threads.submit(silence_of_thread.__exit__, None, None, None).result()
        assert threads.submit(logger.filter, line).result()


def test_options_are_passed_by_name() -> None:
    """So a new option can be added between the others."""
    with pytest.raises(
        TypeError,
        match=r"^Options\(\) takes no arguments by position; write algorithm=\"breadth_first",
    ):
        matchrec.Options("breadth_first", "engine")  # type: ignore[call-arg]


def test_a_keyword_is_suggested_for_an_argument_by_position(spark: SparkSession) -> None:
    match_recognize: Any = matchrec.match_recognize
    with pytest.raises(TypeError) as caught:
        match_recognize(spark.range(1), "ORDER BY id PATTERN (A)", None, "oracle")
    assert str(caught.value) == (
        "match_recognize() takes df, clause and args by position, and nothing else; "
        'write dialect="oracle"'
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n", "x", "must be a whole number, but is 'x', of type str"),
        ("truncate", "x", "must be True, False or a whole number, but is 'x', of type str"),
        ("vertical", 1, "must be True or False, but is 1, of type int"),
    ],
)
def test_arguments_of_show(spark: SparkSession, name: str, value: Any, message: str) -> None:
    arguments = {name: value}
    with pytest.raises(matchrec.MatchRecognizePlanError) as raised:
        matchrec.query(spark, "SELECT 1 AS one").show(**arguments)
    assert raised.value.message == f"`{name}` of `Query.show` {message}"
    assert raised.value.hint is not None
    assert raised.value.hint.startswith(f"write {name}=")


def test_operations_that_a_query_lacks_say_what_to_write(spark: SparkSession) -> None:
    query: Any = matchrec.query(spark.range(1), "ORDER BY id MEASURES 1 AS p PATTERN (A)")
    assert query
    for operation, call in (
        (lambda: len(query), "write query.count()"),
        (lambda: list(query), "does not support iteration; write query.collect()"),
        (lambda: query["p"], "write query.to_df()['p']"),
        (lambda: query[0], "write query.collect()[0]"),
        (lambda: query[:2], "write query.collect()"),
    ):
        with pytest.raises(TypeError, match=re.escape(call)):
            operation()
