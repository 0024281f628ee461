"""Clients of Spark Connect that do not have matchrec use the clause through the gateway.

Expected rows are worked out by hand. The clients are PySpark's, with their own channels; their
sessions are not the session of the gateway.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import matchrec
from matchrec.api.evaluate import ParsedQuery
from matchrec.api.sql_texts import SqlText
from matchrec.gateway import status
from matchrec.gateway.forward import HEALTH_CHECK, SERVICE, SERVING
from matchrec.gateway.serve import Gateway
from matchrec.spark.backends import find_backend
from tests.spark.gateway.connecting import FALL, FALLS, TICKS, NewClient, connect

HERE = Path(__file__).parent
# PySpark 3.5 cannot send Columns and DataFrames with a query, has other internal classes, does not
# ask for details of errors, and is not in ANSI mode by default.
since_spark_4 = pytest.mark.skipif(pyspark.__version__ < "4", reason="PySpark 3.5 lacks it")


def test_a_classic_session_is_refused(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--on") != "spark":
        return
    with pytest.raises(
        matchrec.MatchRecognizePlanError, match="the session has no Spark Connect server"
    ):
        matchrec.serve(spark, port=0)


def test_a_client_gets_the_rows_of_a_clause(client: SparkSession) -> None:
    assert client.sql(FALLS).collect() == FALL


def test_a_program_without_matchrec_gets_the_rows(gateway: Gateway) -> None:
    address = gateway.address.replace("127.0.0.1", "localhost")
    program = f"""
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote({address!r}).getOrCreate()
spark.sql({f"CREATE TEMP VIEW ticks AS SELECT * FROM {TICKS}"!r})
print([tuple(row) for row in spark.sql({FALLS!r}).collect()], "matchrec" in sys.modules)
spark.stop()
"""
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert printed == "[(2, 70)] False\n"


def test_the_result_is_a_dataframe_like_any_other(client: SparkSession) -> None:
    falls = client.sql(FALLS)
    assert falls.columns == ["first_day", "lowest"]
    days = falls.where(falls.lowest > 60).select((falls["first_day"] + 1).alias("next"))
    assert days.collect() == [(3,)]
    # The client refers to columns by ids of its plans, which differ from those of the gateway.
    ticks = client.table("ticks")
    joined = ticks.join(falls, ticks.day == falls.first_day).select(ticks.price, falls.lowest)
    assert joined.collect() == [(80, 70)]


def test_values_of_parameters_are_passed(client: SparkSession) -> None:
    longer = FALLS.replace("DOWN+", "DOWN{:least,}")
    assert client.sql(longer, {"least": 2}).collect() == FALL
    assert client.sql(longer, {"least": 3}).collect() == []
    cheaper = FALLS.replace("DOWN AS", "DOWN AS price < ? AND")
    assert client.sql(cheaper, [75]).collect() == [(3, 70)]


@since_spark_4
def test_a_parameter_may_not_be_computed(client: SparkSession) -> None:
    longer = FALLS.replace("DOWN AS", "DOWN AS price < :bound AND")
    with pytest.raises(
        AnalysisException, match="parameter `bound` is not supported: it is an expr"
    ):
        client.sql(longer, {"bound": sf.lit(70) + 5}).collect()


@since_spark_4
def test_dataframes_in_braces_are_passed(client: SparkSession) -> None:
    rising = client.range(4).select(
        (sf.col("id") + 1).alias("day"), (60 - sf.col("id")).alias("price")
    )
    assert client.sql(FALLS.replace("ticks", "{rows}"), rows=rising).collect() == [(2, 57)]


@since_spark_4
def test_a_clause_inside_a_larger_plan_is_replaced(client: Any) -> None:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.plan import SQL

    falls = DataFrame(SQL(FALLS), client)  # not a command: the query is inside the plan
    assert falls.where("lowest > 60").collect() == FALL
    assert falls.unionAll(falls).count() == 2
    assert falls.columns == ["first_day", "lowest"]
    lowest = FALLS.replace("ticks", "{falls}").replace("BY day", "BY first_day")
    lowest = lowest.replace("price", "lowest").replace("FIRST(day)", "FIRST(first_day)")
    lowest = lowest.replace("lowest < PREV(lowest)", "lowest < 71")
    assert client.sql(lowest, falls=falls).collect() == FALL
    # The word in quotes is no clause, so the engine runs the outer text.
    word = "SELECT * FROM {falls} WHERE 'match_recognize (' > ''"
    assert client.sql(word, falls=falls).collect() == FALL


def test_statements_around_a_clause_run(client: SparkSession) -> None:
    client.sql(f"CREATE TEMP VIEW falls AS {FALLS}")
    assert client.table("falls").collect() == FALL
    assert client.sql(f"WITH f AS ({FALLS}) SELECT count(*) AS n FROM f").collect() == [(1,)]


def test_explain_shows_how_the_clause_runs(client: SparkSession) -> None:
    ((text,),) = client.sql(f"EXPLAIN {FALLS}").collect()
    assert text == str(matchrec.query(client, FALLS).explain())
    assert text.startswith("row pattern\n  DOWN+\n")
    ((text,),) = client.sql(f"-- how\nexplain extended {FALLS}").collect()
    assert text.startswith("row pattern\n  DOWN+\n")
    ((text,),) = client.sql("EXPLAIN SELECT 'MATCH_RECOGNIZE' FROM ticks").collect()
    assert "row pattern" not in text  # it is the plan of the engine


def test_explain_parses_the_statement_once(
    client: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    parse = SqlText.parse

    def record_parse(front_end: SqlText, dialect: str, options: matchrec.Options) -> ParsedQuery:
        """Record the text, and parse it."""
        texts.append(front_end.text)
        return parse(front_end, dialect, options)

    monkeypatch.setattr(SqlText, "parse", record_parse)
    client.sql(f"EXPLAIN {FALLS}").collect()
    assert texts == [FALLS]


def test_options_are_settings_of_the_session(new_client: NewClient) -> None:
    client = new_client()
    other = new_client()
    foreign = FALLS.replace("FIRST(day) AS first_day", "'a' || 'b' AS first_day, FIRST(day) AS d")
    assert client.sql("SET matchrec.dialect = snowflake").collect() == [
        ("matchrec.dialect", "snowflake")
    ]
    client.sql("set matchrec.algorithm = 'breadth_first'")
    ((text,),) = client.sql(f"EXPLAIN {foreign}").collect()
    assert "breadth-first" in text or "breadth_first" in text
    # Snowflake puts NULL last, and Spark first.
    rows = "SELECT * FROM VALUES (1), (NULL), (2) AS t(n)"
    for client_or_other in (client, other):
        client_or_other.sql(f"CREATE TEMP VIEW numbers AS {rows}")
    first = """SELECT * FROM numbers MATCH_RECOGNIZE (
        ORDER BY n MEASURES FIRST(n) AS first_number PATTERN (ALL_ROWS+) DEFINE ALL_ROWS AS TRUE)"""
    assert client.sql(first).collect() == [(1,)]
    assert other.sql(first).collect() == [(None,)]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SET matchrec.dialekt = trino", "unknown setting `matchrec.dialekt`"),
        ("SET matchrec.dialect = klingon", "unknown value `klingon` of the setting"),
        ("SET matchrec.max_steps = many", "9,223,372,036,854,775,807, but is `many`"),
        ("SET matchrec.max_steps = 0", "9,223,372,036,854,775,807, but is `0`"),
        ("SET matchrec.max_steps=-1", "9,223,372,036,854,775,807, but is `-1`"),
        ("SET matchrec.max_steps = 9223372036854775808", "must be a whole number from 1 to 9,223,"),
        (f"SET matchrec.max_steps = {'9' * 5000}", "must be a whole number from 1 to 9,223,"),
        ("RESET matchrec.dialekt", "unknown setting `matchrec.dialekt`"),
        ("RESET matchrec.dialect = trino", "a value is not allowed in RESET matchrec.dialect"),
    ],
)
def test_a_setting_that_is_not_known_is_refused(
    client: SparkSession, statement: str, message: str
) -> None:
    with pytest.raises(AnalysisException, match=re.escape(message)):
        client.sql(statement)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "ORDER BY ts PATTERN (A) DEFINE A AS x > 1",
            "write SELECT * FROM t MATCH_RECOGNIZE (...)",
        ),
        ("PATTERN (A) DEFINE A AS x > 1", "a clause of MATCH_RECOGNIZE is not a SQL query"),
        ("PATTERN SEQ(Up a, Down b)", "help: translate it to SQL: matchrec transpile"),
        ("SEQ(Up a, Down b)", "missing PATTERN before SEQ"),
    ],
)
def test_a_text_that_is_no_statement_is_refused(
    client: SparkSession, statement: str, message: str
) -> None:
    with pytest.raises(AnalysisException, match=re.escape(message)):
        client.sql(statement)


def test_a_setting_is_shown_and_reset(client: SparkSession) -> None:
    assert client.sql("SET matchrec.max_steps").collect() == [("matchrec.max_steps", "no limit")]
    client.sql("SET matchrec.max_steps = 7")
    assert client.sql("set matchrec.max_steps;").collect() == [("matchrec.max_steps", "7")]
    reset = client.sql("RESET matchrec.max_steps").collect()
    assert reset == [("matchrec.max_steps", "no limit")]
    assert client.sql("SET matchrec.sort").collect() == [("matchrec.sort", "auto")]


def test_reset_restores_the_settings_of_matchrec(client: SparkSession) -> None:
    client.sql("SET matchrec.max_steps = 7")
    if find_backend(client).can_reset_settings:
        client.sql("RESET")
        assert client.sql("SET matchrec.max_steps").collect()[0][1] == "no limit"
    else:
        with pytest.raises(AnalysisException, match="RESET of all settings is not supported by"):
            client.sql("RESET")


def test_a_setting_made_by_another_call_is_checked_too(client: SparkSession) -> None:
    client.conf.set("matchrec.sort", "sideways")
    with pytest.raises(AnalysisException, match="unknown value `sideways`"):
        client.sql(FALLS)


def test_errors_are_those_that_the_client_knows(client: SparkSession) -> None:
    with pytest.raises(ParseException) as unclosed:
        client.sql(FALLS.replace("(DOWN+)", "(DOWN+"))
    assert str(unclosed.value).startswith("`(` is not closed in MATCH_RECOGNIZE")
    with pytest.raises(AnalysisException) as unknown:
        client.sql(FALLS.replace("AS price <", "AS prise <"))
    assert str(unknown.value).split("\n") == [
        "unknown column `prise` in DEFINE [unknown-column]",
        "  line 5, column 20",
        "      DEFINE DOWN AS prise < PREV(price)",
        "                     ^^^^^",
        "  note: the input has: day, price",
        "  help: write price",
    ]
    with pytest.raises(AnalysisException, match="`nowhere`"):
        client.sql(FALLS.replace("ticks", "nowhere")).collect()
    with pytest.raises(AnalysisException, match=r"or pass SET matchrec\.dialect = snowflake"):
        client.sql(FALLS.replace("AS price <", "AS classifier = 'A' AND price <"))


@since_spark_4
def test_a_long_message_arrives_whole(client: SparkSession) -> None:
    names = ", ".join(f"{number} AS a_column_with_a_long_name_{number}" for number in range(100))
    client.sql(f"CREATE TEMP VIEW wide AS SELECT {names}")
    with pytest.raises(AnalysisException) as unknown:
        client.sql(
            "SELECT * FROM wide MATCH_RECOGNIZE (ORDER BY a_column_with_a_long_name_1 "
            "MEASURES 1 AS n PATTERN (A) DEFINE A AS nothing_like_it > 1)"
        )
    message = str(unknown.value)
    assert len(message) > status.MAX_MESSAGE_CHARACTERS
    assert message.startswith("unknown column `nothing_like_it` in DEFINE")


@since_spark_4
def test_a_failure_in_a_worker_names_partition_and_row(client: SparkSession) -> None:
    client.sql(
        "CREATE TEMP VIEW parts AS "
        "SELECT * FROM VALUES ('a', 1, 1), ('b', 1, 0), ('b', 2, 0) AS t(k, day, n)"
    )
    failing = client.sql(
        "SELECT * FROM parts MATCH_RECOGNIZE (PARTITION BY k ORDER BY day MEASURES 1 AS one "
        "PATTERN (A B) DEFINE B AS 1 / (n - A.n) > 0)"
    )
    with pytest.raises(PySparkException, match="in the partition with `k` = 'b', row 2"):
        failing.collect()


def test_sessions_see_only_their_own_views(new_client: NewClient) -> None:
    first = new_client()
    second = new_client()
    second.sql(
        "CREATE OR REPLACE TEMP VIEW ticks AS SELECT * FROM VALUES (1, 9), (2, 8) AS t(day, price)"
    )
    assert first.sql(FALLS).collect() == FALL
    assert second.sql(FALLS).collect() == [(2, 8)]


def test_two_clients_may_share_a_session(gateway: Gateway, client: Any) -> None:
    other = connect(gateway.address, client.session_id)
    assert other.sql(FALLS).collect() == FALL


def test_other_calls_pass_unchanged(client: SparkSession, tmp_path: Path) -> None:
    client.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    assert client.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    large = client.createDataFrame(pa.table({"n": range(300_000)}).to_pandas())
    assert large.groupBy().sum("n").collect() == [(299_999 * 150_000,)]
    assert client.sql("SELECT 'PATTERN' AS word").collect() == [("PATTERN",)]
    path = str(tmp_path / "rows")
    client.sql(FALLS).write.parquet(path)
    assert client.read.parquet(path).collect() == FALL
    assert isinstance(client.interruptAll(), list)
    with pytest.raises(PySparkException, match="nowhere"):
        client.table("nowhere").collect()


def test_a_compressed_plan_is_read(client: Any) -> None:
    proto = pytest.importorskip("pyspark.sql.connect.proto")
    if "compressed_operation" not in proto.Plan.DESCRIPTOR.fields_by_name:
        pytest.skip("PySpark compresses plans from 4.1 on")
    from matchrec.gateway.statements import expand_plan, find_command_statement, may_need_parsing

    command = proto.Command()
    command.sql_command.input.sql.query = FALLS
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(command.SerializeToString())
    plan = proto.Plan()
    plan.compressed_operation.data = sink.getvalue().to_pybytes()
    plan.compressed_operation.op_type = proto.Plan.CompressedOperation.OP_TYPE_COMMAND
    assert may_need_parsing(plan.SerializeToString())
    expand_plan(plan)
    statement = find_command_statement(plan)
    assert statement is not None
    assert statement.text == FALLS


def test_an_answer_is_repeated_until_it_is_released(gateway: Gateway, client: Any) -> None:
    proto = pytest.importorskip("pyspark.sql.connect.proto")
    operation = str(uuid4())
    head = {"session_id": client.session_id, "operation_id": operation}
    user = proto.UserContext(user_id="reader")
    request = proto.ExecutePlanRequest(**head, user_context=user)
    request.plan.command.sql_command.sql = FALLS
    with grpc.insecure_channel(gateway.address.removeprefix("sc://")) as channel:

        def call(name: str, message: Any) -> list[bytes]:
            """Return the responses to a call."""
            return list(channel.unary_stream(SERVICE + name)(message.SerializeToString()))

        responses = call("ExecutePlan", request)
        assert len(responses) == 2
        last = proto.ExecutePlanResponse.FromString(responses[0]).response_id
        reattach = proto.ReattachExecuteRequest(**head, user_context=user)
        assert call("ReattachExecute", reattach) == responses
        reattach.last_response_id = last
        assert call("ReattachExecute", reattach) == responses[1:]
        release = proto.ReleaseExecuteRequest(**head, user_context=user)
        release.release_all.SetInParent()
        call("ReleaseExecute", release)
        with pytest.raises(grpc.RpcError):
            call("ReattachExecute", reattach)


def test_the_gateway_tells_its_health(gateway: Gateway) -> None:
    with grpc.insecure_channel(gateway.address.removeprefix("sc://")) as channel:
        assert channel.unary_unary(HEALTH_CHECK)(b"") == SERVING
        with pytest.raises(grpc.RpcError) as unknown:
            channel.unary_unary("/some.other.Service/Call")(b"")
    assert unknown.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_a_token_is_required_over_tls(spark: SparkSession, gateway: Gateway) -> None:
    certificate = str(HERE / "localhost.pem")
    key = str(HERE / "localhost.key")
    with matchrec.serve(
        engine=gateway.engine, port=0, token="secret", tls_cert=certificate, tls_key=key
    ) as guarded:
        credentials = grpc.ssl_channel_credentials(Path(certificate).read_bytes())
        target = guarded.address.removeprefix("sc://").replace("127.0.0.1", "localhost")
        with grpc.secure_channel(target, credentials) as channel:
            config = channel.unary_unary(f"{SERVICE}Config")
            proto = pytest.importorskip("pyspark.sql.connect.proto")
            request = proto.ConfigRequest(
                session_id=str(uuid4()), user_context=proto.UserContext(user_id="reader")
            )
            request.operation.get.keys.append("spark.sql.session.timeZone")
            message = request.SerializeToString()
            with pytest.raises(grpc.RpcError) as refused:
                config(message)
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
            with pytest.raises(grpc.RpcError):
                config(message, metadata=[("authorization", "Bearer guessed")])
            answer = config(message, metadata=[("authorization", "Bearer secret")])
        assert proto.ConfigResponse.FromString(answer).pairs[0].value


def test_other_machines_need_a_token(gateway: Gateway) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"0\.0\.0\.0 without a token"):
        matchrec.serve(engine=gateway.engine, host="0.0.0.0", port=0)
    matchrec.serve(engine=gateway.engine, host="0.0.0.0", port=0, allow_anyone=True).stop()
    with pytest.raises(matchrec.MatchRecognizePlanError, match="missing TLS key"):
        matchrec.serve(engine=gateway.engine, port=0, tls_cert="cert.pem")


def test_a_port_in_use_is_an_error(gateway: Gateway) -> None:
    port = int(gateway.address.rpartition(":")[2])
    with pytest.raises(
        matchrec.MatchRecognizePlanError, match=f"cannot listen at 127.0.0.1:{port}"
    ):
        matchrec.serve(engine=gateway.engine, port=port)


def test_nothing_is_left_of_a_stopped_gateway(gateway: Gateway) -> None:
    before = threading.active_count()
    with matchrec.serve(engine=gateway.engine, port=0) as second:
        client: Any = connect(second.address)
        assert client.sql("SELECT 1 AS n").collect() == [(1,)]
        client.stop()
    assert not second.is_running
    assert threading.active_count() <= before + 1
    with (
        grpc.insecure_channel(second.address.removeprefix("sc://")) as channel,
        pytest.raises(grpc.RpcError),
    ):
        channel.unary_unary(HEALTH_CHECK)(b"", timeout=2)
