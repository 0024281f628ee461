"""Calls other than queries through the gateway, and servers that end or check who calls.

Expected rows are worked out by hand.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pyspark
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import matchrec
from matchrec.gateway.listener import Listener
from matchrec.gateway.serve import Gateway, start_gateway
from tests.spark.gateway.connecting import FALL, FALLS, TICKS, connect

HERE = Path(__file__).parent

since_spark_4 = pytest.mark.skipif(pyspark.__version__ < "4", reason="PySpark 3.5 lacks it")

# A relation of one row, which takes minutes to compute.
SLOW = "(SELECT max(id % 7) AS day, 1 AS price FROM range(1000000000000))"


@pytest.fixture
def on_spark(request: pytest.FixtureRequest) -> bool:
    """Return whether the engine is Spark."""
    return bool(request.config.getoption("--on") == "connect")


@pytest.fixture
def table(client: SparkSession) -> Iterator[str]:
    """Return the name of a table that does not exist yet, and drop it at the end."""
    name = f"table_{uuid4().hex}"
    yield name
    client.sql(f"DROP TABLE IF EXISTS {name}")


# Statements.


def test_a_table_is_made_of_a_clause_and_gets_rows(client: SparkSession, table: str) -> None:
    client.sql(f"CREATE TABLE {table} USING parquet AS {FALLS}")
    assert client.table(table).collect() == FALL
    client.sql(f"INSERT INTO {table} SELECT first_day + 10, lowest FROM ({FALLS}) f")
    assert sorted(client.table(table).collect()) == [(2, 70), (12, 70)]
    client.sql(f"INSERT OVERWRITE {table} {FALLS}")
    assert client.table(table).collect() == FALL


def test_a_statement_may_have_several_clauses(client: SparkSession) -> None:
    rises = FALLS.replace("<", ">").replace("DOWN", "UP").replace("lowest", "highest")
    both = f"SELECT f.lowest, r.highest FROM ({FALLS}) f CROSS JOIN ({rises}) r"
    assert client.sql(both).collect() == [(70, 95)]
    ((text,),) = client.sql(f"EXPLAIN {both}").collect()
    assert text.count("row pattern\n") == 2


def test_a_script_with_a_clause_is_rejected(client: SparkSession) -> None:
    with pytest.raises(AnalysisException) as caught:
        client.sql(f"BEGIN\n{FALLS};\nEND")
    assert "MATCH_RECOGNIZE in a script, BEGIN ... END, is not supported" in str(caught.value)
    assert "one by one" in str(caught.value)


@since_spark_4
def test_a_script_without_a_clause_passes(client: SparkSession, on_spark: bool) -> None:
    script = "BEGIN DECLARE word STRING DEFAULT 'PATTERN ('; SELECT word; END"
    if not on_spark:
        with pytest.raises(PySparkException):  # Sail's own error, since it has no scripts
            client.sql(script).collect()
        return
    assert client.sql(script).collect() == [("PATTERN (",)]


def test_statements_of_one_session_may_run_at_once(client: SparkSession) -> None:
    def run_query(number: int) -> list[Any]:
        """Return the rows of a query that differs from those of the other threads."""
        shifted = FALLS.replace("LAST(price)", f"LAST(price) + {number}")
        return [tuple(row) for row in client.sql(shifted).collect()]

    with ThreadPoolExecutor(12) as threads:
        assert list(threads.map(run_query, range(12))) == [
            [(2, 70 + number)] for number in range(12)
        ]


# Sessions, artifacts, interrupts, streams.


def test_a_copy_of_a_session_has_its_views_and_settings(client: Any, on_spark: bool) -> None:
    if not on_spark or not hasattr(client, "cloneSession"):
        pytest.skip("Spark has the call from 4.1 on, and Sail does not")
    client.sql("SET matchrec.algorithm = breadth_first")
    copy = client.cloneSession()
    assert copy.session_id != client.session_id
    assert copy.sql(FALLS).collect() == FALL
    assert copy.conf.get("matchrec.algorithm") == "breadth_first"
    copy.sql(f"CREATE OR REPLACE TEMP VIEW ticks AS SELECT day, -price AS price FROM {TICKS}")
    assert copy.sql(FALLS).collect() == [(4, -95)]
    assert client.sql(FALLS).collect() == FALL


def test_an_artifact_reaches_the_workers(client: Any, on_spark: bool, tmp_path: Path) -> None:
    if not on_spark:
        pytest.skip("Sail takes no artifacts")
    module = tmp_path / "doubling_of_the_test.py"
    module.write_text("def double(price):\n    return 2 * price\n", encoding="utf-8")

    @sf.udf("int")
    def doubled(price):  # type: ignore[no-untyped-def]
        """Return twice the price, by a function of the module."""
        from doubling_of_the_test import double  # type: ignore[import-not-found]

        return double(price)

    client.addArtifact(str(module), pyfile=True)
    client.udf.register("doubled", doubled)
    falls = client.sql(FALLS.replace("DOWN AS", "DOWN AS doubled(price) < 150 AND"))
    assert falls.collect() == [(3, 70)]


@pytest.mark.parametrize("query", ["SELECT * FROM {}", "CREATE TABLE {table} AS SELECT * FROM {}"])
def test_a_query_is_interrupted_by_its_tag(client: Any, table: str, query: str) -> None:
    """A statement that runs while the gateway plans, such as CREATE TABLE AS, has the tag, too."""
    slow = query.format(FALLS.removeprefix("SELECT * FROM ").replace("ticks", SLOW), table=table)
    errors: list[Exception] = []

    def run_query() -> None:
        """Run the query until it is interrupted."""
        client.addTag("slow")
        try:
            client.sql(slow).collect()
        except Exception as error:  # noqa: BLE001 -- whatever the engine raises
            errors.append(error)

    thread = threading.Thread(target=run_query)
    thread.start()
    for _ in range(60):
        assert isinstance(client.interruptTag("another"), list)
        client.interruptTag("slow")
        thread.join(1)
        if not thread.is_alive():
            break
    else:
        client.interruptAll()
        pytest.fail("the query has not been interrupted")
    assert errors
    assert client.sql(FALLS).collect() == FALL


@since_spark_4
def test_a_stream_runs_through_the_gateway(client: Any, on_spark: bool, tmp_path: Path) -> None:
    if not on_spark:
        pytest.skip("Sail has no streams")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.csv").write_text(
        "X,2026-01-01 10:00:00,90\nX,2026-01-01 10:02:00,70\nX,2026-01-01 10:01:00,80\n"
        "X,2026-01-01 10:03:00,95\nY,2026-01-01 12:00:00,5\n"
    )
    stream = client.readStream.schema("sym string, ts timestamp, price int")
    events = stream.csv(str(tmp_path / "in")).withWatermark("ts", "1 minute")
    events.createOrReplaceTempView("events")
    falls = client.sql("""SELECT sym, top - bottom AS fall FROM events MATCH_RECOGNIZE (
        PARTITION BY sym ORDER BY ts MEASURES STRT.price AS top, LAST(DOWN.price) AS bottom
        PATTERN (STRT DOWN+) WITHIN INTERVAL 1 HOUR DEFINE DOWN AS price < PREV(price))""")
    assert falls.isStreaming
    out = str(tmp_path / "out")
    writer = falls.writeStream.format("parquet").queryName("falls")
    checkpoint = ("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.option(*checkpoint).trigger(availableNow=True).start(out)
    assert query.awaitTermination(120)
    assert query.exception() is None
    assert query.lastProgress is not None
    assert client.read.parquet(out).collect() == [("X", 20)]
    query = writer.trigger(processingTime="1 second").start(out)
    assert query.isActive
    assert query.status["message"]
    assert [other.id for other in client.streams.active] == [query.id]
    assert client.streams.get(query.id).name == "falls"
    query.stop()
    assert not query.isActive
    assert query.exception() is None
    assert client.streams.active == []


# Views that the gateway itself makes.


def test_a_view_that_a_client_has_replaced_stays(gateway: Gateway) -> None:
    """The gateway may have forgotten the session, or another gateway may have prepared it."""

    def prepare(spark: SparkSession) -> None:
        """Make the view of each session."""
        spark.sql(f"CREATE OR REPLACE TEMP VIEW ticks AS SELECT * FROM {TICKS}")

    with start_gateway(Listener(port=0), gateway.engine, prepare) as first:
        client = connect(first.address)
        assert client.sql(FALLS).collect() == FALL
        client.sql("CREATE OR REPLACE TEMP VIEW ticks AS SELECT 2 AS day, 1 AS price")
    with start_gateway(Listener(port=0), gateway.engine, prepare) as second:
        client = connect(second.address, client.session_id)
        assert client.table("ticks").collect() == [(2, 1)]
        assert client.sql(FALLS).collect() == []
        client.stop()


# Servers that end, and servers that need a token.


def test_clients_go_on_after_a_restart_of_the_gateway(gateway: Gateway, on_spark: bool) -> None:
    first = matchrec.serve(engine=gateway.engine, port=0)
    client = connect(first.address)
    client.sql(f"CREATE TEMP VIEW ticks AS SELECT * FROM {TICKS}")
    falls = client.sql(FALLS)
    # Sail continues a result too late, or with a second schema, which PySpark does not accept.
    rows = client.range(600_000).toLocalIterator() if on_spark else iter(range(600_000))
    next(rows)
    first.stop()
    with matchrec.serve(engine=gateway.engine, port=int(first.address.rpartition(":")[2])):
        assert 1 + sum(1 for _ in rows) == 600_000
        assert falls.collect() == FALL
        assert client.sql(FALLS).collect() == FALL
        client.stop()


def test_a_session_whose_server_needs_tls_and_a_token_is_served(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is another gateway."""
    certificate = HERE / "localhost.pem"
    key = HERE / "localhost.key"
    # The program trusts the certificate, as with GRPC_DEFAULT_SSL_ROOTS_FILE_PATH.
    trusting = partial(grpc.ssl_channel_credentials, certificate.read_bytes())
    monkeypatch.setattr(grpc, "ssl_channel_credentials", trusting)
    with matchrec.serve(
        engine=gateway.engine, port=0, token="secret", tls_cert=str(certificate), tls_key=str(key)
    ) as guarded:
        address = guarded.address.replace("127.0.0.1", "localhost")
        session = connect(f"{address}/;use_ssl=true;token=secret")
        with matchrec.serve(session, port=0) as open_gateway:
            assert open_gateway.engine == address
            client = connect(open_gateway.address)
            client.sql(f"CREATE TEMP VIEW ticks AS SELECT * FROM {TICKS}")
            assert client.sql(FALLS).collect() == FALL
            client.stop()
        with (
            matchrec.serve(engine=f"{address}/;use_ssl=true;token=guessed", port=0) as wrong,
            pytest.raises(PySparkException, match="missing or wrong token"),
        ):
            connect(wrong.address).sql(FALLS).collect()
        session.stop()
