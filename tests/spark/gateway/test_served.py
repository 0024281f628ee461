"""`matchrec serve` as a program of its own, in front of Sail and of Spark, and foreign clients."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyspark
import pytest

from matchrec.gateway.planner import SessionKey, connect

pytestmark = pytest.mark.night  # starts programs, and one of them Spark

HERE = Path(__file__).parent
JARS = Path(pyspark.__file__).parent / "jars"
FALLS = """SELECT * FROM ticks MATCH_RECOGNIZE (
    ORDER BY day MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price))"""


@pytest.fixture(scope="module", params=["sail", "spark"])
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a gateway whose sessions have the table `stocks`."""
    folder = tmp_path_factory.mktemp("served")
    table = folder / "stocks.csv"
    table.write_text("day,price\n1,90\n2,80\n3,70\n4,95\n", encoding="utf-8")
    command = [sys.executable, "-m", "matchrec", "serve", "--engine", request.param]
    command += ["--port", "0", "--table", f"stocks={table}"]
    environment = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder
    ) as program:
        assert program.stderr is not None
        for line in program.stderr:
            if line.startswith("matchrec: serving "):
                break
        else:
            pytest.fail("the gateway has not started")
        yield line.split()[2].rstrip(",")
        program.send_signal(signal.SIGINT)
        assert program.wait(30) == 0


def run(*command: str) -> str:
    """Return what a program prints."""
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_program_of_pyspark_without_matchrec(address: str) -> None:
    program = f"""
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote({address!r}).getOrCreate()
print([tuple(row) for row in spark.sql({FALLS.replace("ticks", "stocks")!r}).collect()])
print(spark.table("stocks").count(), "matchrec" in sys.modules)
spark.stop()
"""
    assert run(sys.executable, "-c", program) == "[(2, 70)]\n4 False\n"


def test_a_program_in_java(address: str, tmp_path: Path) -> None:
    clients = sorted((JARS / "connect-repl").glob("spark-connect-client-jvm_*.jar"))
    if not clients:
        pytest.skip("PySpark brings Spark's client for Java from 4.0 on")
    path = os.pathsep.join([str(clients[0]), f"{JARS}/*", str(tmp_path)])
    run("javac", "-cp", path, "-d", str(tmp_path), str(HERE / "clients" / "Falls.java"))
    opened = "--add-opens=java.base/java.nio=ALL-UNNAMED"
    rows, *error = run("java", opened, "-cp", path, "Falls", address).splitlines()
    assert rows == "[[2,70]]"
    assert error[0] == (
        "org.apache.spark.sql.AnalysisException: unknown column `prise` in DEFINE [unknown-column]"
    )
    assert error[-1] == "  help: write price"


def test_many_clients_at_once_see_their_own_rows(address: str) -> None:
    def ask(number: int) -> list[Any]:
        """Return the rows of a client whose view has a price of its own."""
        client: Any = connect(address, SessionKey("reader", str(uuid4())))
        try:
            client.sql(
                f"CREATE TEMP VIEW ticks AS SELECT * FROM VALUES (1, {number}), (2, {number - 1}) "
                "AS t(day, price)"
            )
            return [tuple(row) for _ in range(3) for row in client.sql(FALLS).collect()]
        finally:
            client.stop()

    with ThreadPoolExecutor(64) as threads:
        results = list(threads.map(ask, range(64)))
    assert results == [[(2, number - 1)] * 3 for number in range(64)]


def test_a_slow_reader_holds_no_other_client(address: str) -> None:
    slow: Any = connect(address, SessionKey("slow", str(uuid4())))
    rows = slow.range(20_000_000).toLocalIterator()
    next(rows)  # and then no further row
    other: Any = connect(address, SessionKey("reader", str(uuid4())))
    done = threading.Event()

    def ask() -> None:
        """Run a query of the other client."""
        assert other.sql(FALLS.replace("ticks", "stocks")).collect() == [(2, 70)]
        done.set()

    threading.Thread(target=ask, daemon=True).start()
    assert done.wait(60)
    rows.close()
    slow.stop()
    other.stop()


def test_a_client_that_ends_in_mid_stream_leaves_the_others(address: str) -> None:
    program = f"""
import os
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote({address!r}).getOrCreate()
rows = spark.range(20_000_000).toLocalIterator()
next(rows)
os._exit(7)
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=120)
    assert ended.returncode == 7
    client: Any = connect(address, SessionKey("reader", str(uuid4())))
    assert client.sql(FALLS.replace("ticks", "stocks")).collect() == [(2, 70)]
    client.stop()
