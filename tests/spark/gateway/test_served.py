"""`matchrec serve` as a program in front of Sail and of Spark, with clients that lack matchrec."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pyspark
import pytest
from pyspark.errors import PySparkException

from tests.spark.gateway.connecting import FALL, FALLS, TICKS, connect

pytestmark = pytest.mark.night  # starts programs, and one of them Spark

HERE = Path(__file__).parent
JARS = Path(pyspark.__file__).parent / "jars"


@pytest.fixture(scope="module", params=["sail", "spark"])
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Return the address of a gateway whose sessions have the table `stocks`."""
    folder = tmp_path_factory.mktemp("served")
    table = folder / "stocks.csv"
    table.write_text("day,price\n1,90\n2,80\n3,70\n4,95\n", encoding="utf-8")
    options = ("--engine", request.param, "--table", f"stocks={table}")
    with run_gateway(folder, *options) as (program, line):
        yield line.split()[2].rstrip(",")
        program.send_signal(signal.SIGINT)
        assert program.wait(30) == 0


@contextmanager
def run_gateway(
    folder: Path, *options: str, **variables: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `matchrec serve`, and yield the program and the line that it prints.

    Args:
        folder: the current folder of the program.
        options: its options.
        variables: variables of its environment.
    """
    command = [sys.executable, "-m", "matchrec", "serve", "--port", "0", *options]
    environment = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**environment, **variables}, cwd=folder
    ) as program:
        assert program.stderr is not None
        try:
            for line in program.stderr:
                if line.startswith("matchrec: serving "):
                    break
            else:
                pytest.fail("the gateway has not started")
            yield program, line
        finally:
            program.kill()


def run(*command: str) -> str:
    """Return the output of a program."""
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_program_without_matchrec_can_use_the_clause(address: str) -> None:
    program = f"""
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote({address!r}).getOrCreate()
print([tuple(row) for row in spark.sql({FALLS.replace("ticks", "stocks")!r}).collect()])
print(spark.table("stocks").count(), "matchrec" in sys.modules)
spark.stop()
"""
    assert run(sys.executable, "-c", program) == "[(2, 70)]\n4 False\n"


def test_a_program_in_java_can_use_the_clause(address: str, tmp_path: Path) -> None:
    clients = sorted((JARS / "connect-repl").glob("spark-connect-client-jvm_*.jar"))
    if not clients:
        pytest.skip("PySpark brings Spark's client for Java from 4.0 on")
    path = os.pathsep.join([str(clients[0]), f"{JARS}/*", str(tmp_path)])
    run("javac", "-cp", path, "-d", str(tmp_path), str(HERE / "clients" / "Falls.java"))
    opened = "--add-opens=java.base/java.nio=ALL-UNNAMED"
    expected = (HERE / "clients" / "Falls.txt").read_text(encoding="utf-8")
    assert run("java", opened, "-cp", path, "Falls", address) == expected


def test_many_clients_at_once_see_their_own_rows(address: str) -> None:
    def run_query(number: int) -> list[Any]:
        """Return the rows of a client whose view has prices that others do not have."""
        client: Any = connect(address)
        try:
            client.sql(
                f"CREATE TEMP VIEW ticks AS SELECT * FROM VALUES (1, {number}), (2, {number - 1}) "
                "AS t(day, price)"
            )
            return [tuple(row) for _ in range(3) for row in client.sql(FALLS).collect()]
        finally:
            client.stop()

    with ThreadPoolExecutor(64) as threads:
        results = list(threads.map(run_query, range(64)))
    assert results == [[(2, number - 1)] * 3 for number in range(64)]


def test_a_slow_reader_holds_no_other_client(address: str) -> None:
    slow: Any = connect(address)
    rows = slow.range(20_000_000).toLocalIterator()
    next(rows)  # it reads no other row
    other: Any = connect(address)
    done = threading.Event()

    def run_query() -> None:
        """Run a query of the other client."""
        assert other.sql(FALLS.replace("ticks", "stocks")).collect() == [(2, 70)]
        done.set()

    threading.Thread(target=run_query, daemon=True).start()
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
    client: Any = connect(address)
    assert client.sql(FALLS.replace("ticks", "stocks")).collect() == [(2, 70)]
    client.stop()


def test_an_engine_may_need_tls_and_a_token_and_may_end(tmp_path: Path) -> None:
    """The engine is another gateway, whose certificate no authority has signed."""
    certificate = str(HERE / "localhost.pem")
    guarded = ("--engine", "sail", "--token", "secret", "--tls-cert", certificate)
    with run_gateway(tmp_path, *guarded, "--tls-key", str(HERE / "localhost.key")) as served:
        engine, line = served
        address = line.split()[2].rstrip(",").replace("127.0.0.1", "localhost")
        with run_gateway(
            tmp_path,
            *("--engine", f"{address}/;use_ssl=true;token=secret"),
            GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=certificate,
        ) as (_, line):
            assert line.endswith(f"in front of {address}\n")  # the token is not printed
            client: Any = connect(line.split()[2].rstrip(","))
            client.sql(f"CREATE TEMP VIEW ticks AS SELECT * FROM {TICKS}")
            assert client.sql(FALLS).collect() == FALL
            engine.kill()
            engine.wait()
            for call in (lambda: client.sql(FALLS), lambda: client.range(3).collect()):
                began = monotonic()
                with pytest.raises(PySparkException, match="the gateway cannot reach the engine"):
                    call()
                assert monotonic() - began < 60
