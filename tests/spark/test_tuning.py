"""`tune` sets two settings unless they are set, and a session without them gets one warning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.spark import tuning
from matchrec.spark.tuning import MAX_BYTES, PARTITIONS, UNLIMITED
from matchrec.warnings import UntunedSessionWarning

pytestmark = pytest.mark.skipif(pyspark.__version__ < "4", reason="Spark 3 adds up no bytes")

CLAUSE = "ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS id >= PREV(id)"


@pytest.fixture
def plain(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    """Return the session with Spark's own settings, as if it had not had the warning."""
    monkeypatch.setattr(tuning, "_checked_applications", set())
    values = {name: spark.conf.get(name) for name in (MAX_BYTES, PARTITIONS)}
    for name in values:
        spark.conf.unset(name)
    yield spark
    for name, value in values.items():
        spark.conf.set(name, str(value))


def collect_warnings(*frames: DataFrame, clause: str = CLAUSE) -> list[str]:
    """Return the warnings about settings for queries over DataFrames."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for frame in frames:
            matchrec.match_recognize(frame, clause)
    return [str(warning.message) for warning in warned if warning.category is UntunedSessionWarning]


def test_both_settings_are_set_and_reported(plain: SparkSession) -> None:
    report = matchrec.tune(plain)
    assert [plain.conf.get(name) for name in (MAX_BYTES, PARTITIONS)] == [UNLIMITED, "16"]
    assert repr(report) == str(report) == report.text
    assert report.text == (
        f"{MAX_BYTES} = 2147483647, was 67108864b\n"
        "  without a limit, Spark does not measure each row of a batch\n"
        f"{PARTITIONS} = 16, was 200\n"
        "  8 for each core, because each task writes a file for each of them"
    )
    assert f"{PARTITIONS} = 16, was 200" in report._repr_html_()


@pytest.mark.parametrize("values", [{MAX_BYTES: "128m"}, {PARTITIONS: "7"}, {PARTITIONS: "200"}])
def test_a_setting_of_the_user_is_kept(plain: SparkSession, values: dict[str, str]) -> None:
    ((name, value),) = values.items()
    plain.conf.set(name, value)
    before = plain.conf.get(name)
    settings = {setting.name: setting for setting in matchrec.tune(plain).settings}
    assert (settings[name].is_new, settings[name].reason) == (
        False,
        "unchanged, because you set it",
    )
    assert plain.conf.get(name) == before
    assert all(setting.is_new for setting in settings.values() if setting.name != name)


def test_a_second_call_changes_nothing(plain: SparkSession) -> None:
    matchrec.tune(plain)
    assert not any(setting.is_new for setting in matchrec.tune(plain).settings)


@pytest.mark.parametrize(
    ("master", "cores"),
    [
        ("local", 1),
        ("local[3]", 3),
        ("local[3, 2]", 3),
        ("local-cluster[2,1,1024]", None),
        ("yarn", None),
        (None, None),
    ],
)
def test_cores_are_known_only_on_one_machine(master: str | None, cores: int | None) -> None:
    assert tuning.count_local_cores(Session({"spark.master": master})) == cores  # type: ignore[arg-type]


def test_partitions_are_kept_on_clusters_and_many_cores() -> None:
    for master, reason in (
        ("yarn", "executors of a cluster can start later, so set it yourself, to 2 to 8 times"),
        ("local[64]", "enough for 512"),
    ):
        session = Session({"spark.master": master}, {MAX_BYTES: "64m", PARTITIONS: "200"})
        limit, partitions = tuning.choose_settings(session)  # type: ignore[arg-type]
        assert limit.is_new
        assert partitions.reason.startswith(reason)
        assert not partitions.is_new


def test_a_session_with_fixed_settings_is_unchanged() -> None:
    session = Session({"spark.master": "local[2]"}, {PARTITIONS: "200"}, fixed=True)
    limit, partitions = tuning.choose_settings(session)  # type: ignore[arg-type]
    assert (limit.is_new, partitions.is_new) == (False, False)
    assert str(limit) == (
        f"{MAX_BYTES} is not set\n  this session cannot change the setting, or does not have it"
    )
    assert tuning.find_untuned_warning(session) is None  # type: ignore[arg-type]


class Session:
    """A stand-in for a session.

    Args:
        values: the settings that are set.
        defaults: values of settings that are not set.
        fixed: no setting can be changed.
    """

    def __init__(
        self,
        values: dict[str, str | None],
        defaults: dict[str, str] | None = None,
        fixed: bool = False,
    ) -> None:
        self.values = values
        self.defaults = defaults or {}
        self.fixed = fixed
        self.conf = self
        self.sql = None  # not a wrapper of another session

    def get(self, name: str, *default: str | None) -> str | None:
        """Return the value of a setting."""
        settings = self.values if default else {**self.defaults, **self.values}
        return settings.get(name, *default)

    def isModifiable(self, name: str) -> bool:  # noqa: N802 -- Spark's name of it
        """Return whether a setting can be changed."""
        return name in self.defaults and not self.fixed


def test_a_session_gets_one_warning(plain: SparkSession) -> None:
    frame = plain.range(3)
    (message,) = collect_warnings(frame, frame)
    assert message == (
        "the queries of this session could be faster\n"
        f"  note: matchrec.tune sets {MAX_BYTES} and {PARTITIONS}\n"
        "  help: call matchrec.tune(spark)"
    )
    assert not collect_warnings(frame)


def test_no_warning_after_tune_or_if_it_is_ignored(plain: SparkSession) -> None:
    matchrec.tune(plain)
    assert not collect_warnings(plain.range(3))
    tuning._checked_applications.clear()
    plain.conf.unset(MAX_BYTES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UntunedSessionWarning)
        matchrec.match_recognize(plain.range(3), CLAUSE)


def test_long_values_raise_no_warning(plain: SparkSession) -> None:
    rows = plain.range(3).selectExpr("id", "'a note' AS note", "array(id) AS several")
    for value in ("note", "several"):
        assert not collect_warnings(rows, clause=CLAUSE.replace("COUNT(*)", f"LAST({value})"))
    assert not collect_warnings(
        rows, clause="ORDER BY id ALL ROWS PER MATCH PATTERN (A) DEFINE A AS id > 0"
    )
    keyed = rows.selectExpr("'k' || id AS k", "note || id AS ordered", "named_struct('x', id) AS s")
    by_text = (
        "PARTITION BY k ORDER BY ordered MEASURES LAST(s) AS s PATTERN (A) DEFINE A AS s.x > 0"
    )
    assert collect_warnings(keyed, clause=by_text)


def test_rules_are_queries_too(plain: SparkSession) -> None:
    rules = {"two": "PATTERN (A A) DEFINE A AS id > 0"}
    rows = plain.range(3).selectExpr("id", "'a note' AS note")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matchrec.match_rules(rows, rules, order_by="id")
    with pytest.warns(UntunedSessionWarning) as warned:
        matchrec.match_rules(rows, rules, order_by="id", event_columns="id")
    assert [warning.filename for warning in warned] == [__file__]


def test_a_stream_gives_no_warning(plain: SparkSession) -> None:
    stream = plain.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    assert not collect_warnings(
        stream, clause="ORDER BY timestamp MEASURES 1 AS m PATTERN (A B) DEFINE A AS value > 9"
    )
    assert collect_warnings(plain.range(3))


@pytest.mark.slow
def test_batches_without_a_limit_of_bytes_give_the_same_rows(plain: SparkSession) -> None:
    rows = plain.range(200_000).selectExpr("id % 7 AS k", "id", "repeat('x', id % 500) AS note")
    clause = """PARTITION BY k ORDER BY id MEASURES COUNT(*) AS n, LAST(note) AS note
        PATTERN (A B+) DEFINE A AS id % 3 = 0, B AS id % 3 > 0 AND length(note) > PREV(id) % 400"""
    matches = matchrec.match_recognize(rows, clause)
    plain.conf.set(MAX_BYTES, "100k")
    limited = sorted(matches.collect())
    plain.conf.unset(MAX_BYTES)
    matchrec.tune(plain)
    assert len(limited) > 1_000
    assert sorted(matchrec.match_recognize(rows, clause).collect()) == limited
