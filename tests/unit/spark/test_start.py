"""The engine of a session, its limits and its time zone, if they are not given."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pyspark
import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.errors import MatchRecognizeError
from matchrec.spark.sail import server
from matchrec.spark.start import engine_choice
from matchrec.spark.start.engine_choice import ENGINE, choose_engine, is_spark_installed
from matchrec.spark.start.environment_zone import find_environment_zone
from matchrec.spark.start.limits import describe_limits, read_memory_size
from matchrec.spark.start.running_session import describe_engine, runs_on
from matchrec.spark.start.sessions import change_settings, start_session

ADDRESS = "sc://there:15002"


@pytest.fixture(params=["sail", "spark"])
def default_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the engine that runs by default, with Sail installed and without."""
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setattr(server, "is_installed", lambda: request.param == "sail")
    return str(request.param)


def test_settings_do_not_change_the_default_engine(default_engine: str) -> None:
    assert choose_engine(None, {}) == default_engine
    assert choose_engine(None, {"spark.sql.shuffle.partitions": "3"}) == default_engine


@pytest.mark.parametrize("engine", ["sail", "spark", ADDRESS])
def test_the_requested_engine_wins(
    default_engine: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")
    assert choose_engine(engine, {"spark.master": "local"}) == engine


def test_an_address_wins(default_engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_engine(None, {"spark.remote": ADDRESS}) == ADDRESS
    monkeypatch.setenv("SPARK_REMOTE", ADDRESS)
    assert choose_engine(None, {}) == ADDRESS


def test_a_master_chooses_spark(default_engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_engine(None, {"spark.master": "local[2]"}) == "spark"
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "4040")  # a program of spark-submit
    assert choose_engine(None, {}) == "spark"


@pytest.mark.parametrize("arguments", ["--master local[2]", "--name a --conf spark.master=local"])
def test_a_master_of_spark_submit_chooses_spark(
    default_engine: str, arguments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--name a pyspark-shell")
    assert choose_engine(None, {}) == default_engine
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{arguments} pyspark-shell")
    assert choose_engine(None, {}) == "spark"


def test_a_client_takes_no_compressed_answers() -> None:
    channel = server.make_channel_builder("sc://localhost:15002")
    assert server.UNCOMPRESSED_OPTION in channel._channel_options


def test_a_running_session_is_returned_if_it_has_the_requested_engine(spark: SparkSession) -> None:
    engine, other = ("sail", "spark") if runs_on(spark, "sail") else ("spark", "sail")
    assert matchrec.session() is spark
    assert matchrec.session(engine) is spark
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.session(other, memory="123g")
    assert str(refused.value) == (
        "`engine, memory` do not fit the running session [session-already-runs]\n"
        f"  note: the running session is on {describe_engine(spark)}\n"
        f"  note: {describe_limits(spark, ['memory'])}\n"
        "  help: leave out engine, memory, or call stop() on the running session first"
    )
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"^`engine` does not fit"):
        matchrec.session(ADDRESS)


def test_a_misspelt_engine_is_corrected(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.session("sprak")
    assert refused.value.hint == 'write engine="spark"'
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        matchrec.session("duckdb")
    assert refused.value.hint == (
        'write engine="sail", engine="spark", or engine="sc://localhost:15002"'
    )


AGAIN = """
import sys, matchrec
engine = sys.argv[1]
spark = matchrec.session(engine, cores=2, memory="1g")
print(matchrec.session(engine, cores=2, memory="1024m") is spark)
print(matchrec.session(cores=2) is spark)
for limits in ({"cores": 3}, {"memory": "2g"}):
    try:
        matchrec.session(engine, **limits)
    except matchrec.MatchRecognizePlanError as error:
        print(error.message, error.notes[1], sep="; ")
"""


def test_a_call_with_the_same_limits_can_be_repeated(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    """A notebook may run a cell again. A new process is needed to start a session."""
    engine = request.config.getoption("--on")
    if engine not in ("sail", "spark"):
        return
    command = [sys.executable, "-c", AGAIN, engine]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.stdout.splitlines() == [
        "True",
        "True",
        "`cores` does not fit the running session; it has 2 cores",
        "`memory` does not fit the running session; it has a memory of 1,024 MiB",
    ], ran.stderr


ENABLED = """
import sys, matchrec
spark = matchrec.session(sys.argv[1])
rows = "SELECT * FROM VALUES (1), (2) AS t(x) MATCH_RECOGNIZE (ORDER BY x MEASURES A.x AS found {})"
print(spark.sql(rows.format("PATTERN (A) DEFINE A AS x > 1")).collect())
print(matchrec.session() is spark, matchrec.sql("SELECT 1 AS one").collect())
"""


def test_a_new_session_understands_the_clause(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    engine = request.config.getoption("--on")
    if engine not in ("sail", "spark"):
        return
    command = [sys.executable, "-c", ENABLED, engine]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.stdout == "[Row(found=2)]\nTrue [Row(one=1)]\n", ran.stderr


AFTER_SAIL = """
import matchrec
from matchrec.errors import MatchRecognizeError
matchrec.session("sail").stop()
print(matchrec.session("spark").range(3).count())
"""


@pytest.mark.night
def test_spark_starts_where_a_session_on_sail_has_ended(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    """PySpark leaves a mark on a process that had a session of Connect, so this needs a new one."""
    if request.config.getoption("--on") != "sail" or not is_spark_installed():
        return  # the installed PySpark does not run on both engines
    command = [sys.executable, "-c", AFTER_SAIL]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.stdout == "3\n", ran.stderr


@pytest.mark.parametrize(
    ("size", "number"),
    [
        ("4g", 4 << 30),
        ("4GB", 4 << 30),
        ("512m", 512 << 20),
        ("1t", 1 << 40),
        ("1p", 1 << 50),
        ("1048576k", 1 << 30),
        ("100b", 100),
        ("4096", 4 << 30),  # MiB, as Spark reads `spark.driver.memory`
        ("much", 0),
        ("1.5g", 0),
    ],
)
def test_sizes_of_memory_are_read_as_spark_reads_them(size: str, number: int) -> None:
    assert read_memory_size(size) == number


def test_spark_is_not_started_in_addition_to_a_server(
    default_engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PySpark rejects all of these with messages about its own builder."""
    with pytest.raises(matchrec.MatchRecognizeError) as refused:
        start_session("spark", {"spark.remote": ADDRESS})
    assert refused.value.message == (
        "Spark cannot start in this program, because spark.remote is set"
    )
    monkeypatch.setenv("SPARK_REMOTE", ADDRESS)
    with pytest.raises(matchrec.MatchRecognizeError) as refused:
        start_session("spark", announces=False)
    assert str(refused.value) == (
        "Spark cannot start in this program, because SPARK_REMOTE is set "
        "[server-instead-of-spark]\n"
        "  note: it is sc://there:15002, and PySpark connects only to that server\n"
        "  help: unset SPARK_REMOTE, or connect to the server: "
        'matchrec.session(engine="sc://there:15002")'
    )
    with pytest.raises(matchrec.MatchRecognizeError) as refused:
        start_session(settings={"spark.master": "local[2]"})
    assert str(refused.value) == (
        "`spark.master` is not allowed in a session on a server [master-of-server]\n"
        "  note: the session is on sc://there:15002, which has a master of its own\n"
        "  help: remove spark.master, or the address of the server"
    )


@pytest.mark.parametrize(
    ("engine", "settings", "submit_args", "alternative"),
    [
        ("spark", {}, None, "leave out engine"),
        (None, {"spark.master": "local[2]"}, None, "leave out spark.master"),
        (None, {"spark.remote": "local[2]"}, None, "leave out spark.remote"),
        (None, {}, "--master local[2] pyspark-shell", "unset PYSPARK_SUBMIT_ARGS"),
    ],
)
def test_spark_without_its_package_is_rejected(
    engine: str | None,
    settings: dict[str, str],
    submit_args: str | None,
    alternative: str,
    default_engine: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The extras `sail` and `demo` install pyspark-client, which has no SparkContext."""
    monkeypatch.delattr(pyspark, "SparkContext")
    if submit_args is not None:
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", submit_args)
    if default_engine == "spark":
        alternative = "run pip install '.[sail]' in this one"
    with pytest.raises(matchrec.MatchRecognizeError) as refused:
        start_session(engine, settings)
    assert str(refused.value) == (
        "Spark is not installed [engine-not-installed]\n"
        "  note: this environment has pyspark-client, which only connects to a server\n"
        f"  help: run pip install '.[spark]' in another environment, or {alternative}"
    )


@pytest.mark.parametrize(("has_spark", "place"), [(True, " in another environment"), (False, "")])
def test_sail_without_its_package_is_rejected(
    has_spark: bool, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an environment with Spark, the extra `sail` would overwrite files of PySpark."""
    monkeypatch.setattr(engine_choice, "is_spark_installed", lambda: has_spark)
    monkeypatch.setattr(server, "is_module_installed", lambda module: module == "pyspark")
    with pytest.raises(matchrec.MatchRecognizeError) as refused:
        start_session("sail")
    assert str(refused.value) == (
        "Sail is not installed [engine-not-installed]\n"
        "  note: missing modules: pysail, grpc, grpc_status, google.protobuf\n"
        f"  help: run pip install '.[sail]'{place}, or leave out engine"
    )


def test_limits_that_a_server_sets_are_not_ignored(
    default_engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        start_session(ADDRESS, cores=2)
    assert str(refused.value) == (
        "`cores` is not allowed in a session on a server [limits-of-server]\n"
        "  note: the session is on sc://there:15002, which has limits of its own\n"
        "  help: remove it, and limit the server where it is started"
    )
    monkeypatch.setenv("SPARK_REMOTE", ADDRESS)
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        start_session(cores=2, memory="4g")
    assert refused.value.message == "`cores, memory` are not allowed in a session on a server"


def test_limits_that_spark_submit_sets_are_not_ignored(
    default_engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master local[2] pyspark-shell")
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        start_session(cores=3)
    assert str(refused.value) == (
        "`cores` is not allowed in a program that spark-submit has set up [limits-of-master]\n"
        "  note: spark-submit or PYSPARK_SUBMIT_ARGS has already set the limits\n"
        "  help: remove it, and write --master 'local[4]' there"
    )
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "4040")  # a program of spark-submit
    with pytest.raises(matchrec.MatchRecognizePlanError) as refused:
        start_session(cores=3, memory="4g")
    assert str(refused.value).endswith(
        "help: remove them, and write --master 'local[4]' --driver-memory 4g there"
    )


@pytest.mark.parametrize(
    ("engine", "memory"), [("duckdb", None), (None, "much"), (None, "0g"), (None, "4096")]
)
def test_unknown_engines_and_sizes_are_rejected(engine: str | None, memory: str | None) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError):
        matchrec.session(engine, memory=memory)


def test_a_server_has_threads_left_where_searches_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOKIO_WORKER_THREADS", raising=False)
    assert server.build_environment(3, None, tmp_path)["TOKIO_WORKER_THREADS"] == "12"
    monkeypatch.setenv("TOKIO_WORKER_THREADS", "5")
    assert server.build_environment(3, None, tmp_path)["TOKIO_WORKER_THREADS"] == "5"


def test_a_session_that_is_idle_for_hours_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sail forgets a session after 15 idle minutes, and a notebook would lose its views."""
    name = "SAIL_SPARK__SESSION_TIMEOUT_SECS"
    monkeypatch.delenv(name, raising=False)
    assert int(server.build_environment(3, None, tmp_path)[name]) > 365 * 24 * 3600
    monkeypatch.setenv(name, "60")
    assert server.build_environment(3, None, tmp_path)[name] == "60"


def skip_if_sail_refuses(error_text: str) -> None:
    """Skip a test of Sail with a PySpark that is newer than Sail knows."""
    if "Sail does not run with PySpark" in error_text:
        pytest.skip("Sail does not know this PySpark yet")


IDLE = """
import time, matchrec
spark = matchrec.session("sail")
spark.range(3).createOrReplaceTempView("t")
time.sleep(6)
print(spark.sql("SELECT count(*) FROM t").collect()[0][0])
"""


@pytest.mark.night
@pytest.mark.parametrize(("seconds", "lives"), [(None, True), ("2", False)])
def test_an_idle_session_lives_as_long_as_the_setting_says(
    seconds: str | None, lives: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sail reads the setting: with 2 seconds the session is gone after 6."""
    name = "SAIL_SPARK__SESSION_TIMEOUT_SECS"
    monkeypatch.delenv(name, raising=False)
    if seconds is not None:
        monkeypatch.setenv(name, seconds)
    command = [sys.executable, "-c", IDLE]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    skip_if_sail_refuses(result.stderr)
    assert (result.stdout.strip() == "3") is lives, result.stderr
    assert ("is not running" in result.stderr) is not lives


INTERRUPTED = """
import signal, time, matchrec
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
spark = matchrec.session("sail")
for _ in range(2):
    try:
        signal.raise_signal(signal.SIGINT)
        time.sleep(1)  # time in which a server that gets the signal would end
    except KeyboardInterrupt:
        print(spark.range(3).count())
"""


@pytest.mark.slow
@pytest.mark.skipif(not server.is_installed(), reason="needs Sail")
def test_the_server_stays_when_the_program_is_interrupted() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    skip_if_sail_refuses(done.stderr)
    assert done.stdout.split() == ["3", "3"], done.stderr


# Values of TZ, each with the time zone of a new session; None is the zone of the system.
TIME_ZONES = {
    "": None,
    "America/New_York": "America/New_York",
    ":Europe/Berlin": "Europe/Berlin",
    "/usr/share/zoneinfo/Asia/Tokyo": "Asia/Tokyo",
    "posix/Asia/Tokyo": "Asia/Tokyo",
    "EST5EDT": "EST5EDT",
    "UTC-3": "+03:00",
    "NST3:30": "-03:30",
    "Nowhere/Place": "+00:00",
}


@pytest.mark.parametrize(("value", "zone"), TIME_ZONES.items())
def test_the_time_zone_of_the_environment_is_found(
    value: str, zone: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", value)
        time.tzset()
        assert find_environment_zone() == zone
    time.tzset()


def test_an_environment_without_a_time_zone_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TZ", raising=False)
    assert find_environment_zone() is None


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("sc://localhost:15002", True),
        ("sc://[::1]:15002/;token=x", True),
        ("sc://there;use_ssl=true", True),
        ("sc://localhost:PORT", False),
        ("sc://", False),
    ],
)
def test_the_address_of_a_server_has_a_host_and_maybe_a_port(address: str, is_one: bool) -> None:
    assert ENGINE.accepts(address) is is_one


class Settings:
    """The settings of a session on Sail, which accepts any value."""

    def __init__(self) -> None:
        """Begin with Sail's own values."""
        self.values = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}

    def isModifiable(self, name: str) -> bool:  # noqa: N802 -- the name of PySpark
        """Return whether Sail has the setting."""
        return name in self.values

    def get(self, name: str) -> str:
        """Return the value of a setting."""
        return self.values[name]

    def set(self, name: str, value: str) -> None:
        """Change a setting."""
        self.values[name] = value


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("spark.sql.ansi.enable", "false", "write spark.sql.ansi.enabled"),
        ("spark.sql.ansi.enabled", "flase", "set spark.sql.ansi.enabled to false"),
        ("spark.sql.ansi.enabled", "maybe", "set spark.sql.ansi.enabled to true or false"),
        (
            "spark.sql.session.timeZone",
            "Europe/Pariss",
            "set spark.sql.session.timeZone to Europe/Paris",
        ),
    ],
)
def test_wrong_settings_are_rejected(name: str, value: str, hint: str) -> None:
    """Sail itself would fail later, at the first query, and not name the setting."""
    session = cast("SparkSession", SimpleNamespace(conf=Settings()))
    with pytest.raises(MatchRecognizeError) as raised:
        change_settings(session, {name: value})
    assert raised.value.hint == hint


def test_right_settings_are_set() -> None:
    conf = Settings()
    settings = {"spark.sql.ansi.enabled": "FALSE", "spark.sql.session.timeZone": "+03:00"}
    change_settings(cast("SparkSession", SimpleNamespace(conf=conf)), settings)
    assert conf.values == settings
