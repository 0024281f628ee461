"""`%load_ext matchrec`: the magic shows rows and answers, and errors without a traceback."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from html import unescape
from typing import Any

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from traitlets.config import Config

import matchrec
from matchrec.notebook import variables
from tests.properties.test_queries import settings

pytestmark = pytest.mark.one_of(2)

RISES = """
SELECT * FROM {steps} MATCH_RECOGNIZE (
    ORDER BY t MEASURES FIRST(t) AS a, LAST(t) AS b
    PATTERN (S U+) DEFINE U AS v > PREV(v) + :least)
"""


@pytest.fixture(scope="module")
def steps(spark: SparkSession) -> DataFrame:
    """Return rows whose values rise three times."""
    rows = [(1, 10), (2, 20), (3, 5), (4, 50), (5, 1), (6, 2)]
    return spark.createDataFrame(rows, "t int, v int")


@pytest.fixture
def shell(
    spark: SparkSession, steps: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> Iterator[InteractiveShell]:
    """Return a shell with the extension, also if a virtual environment is active."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    config = Config(
        {"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}}
    )
    shell = InteractiveShell(config=config, user_ns={"spark": spark, "steps": steps, "least": 2})
    shell.run_line_magic("load_ext", "matchrec")
    yield shell
    shell.run_line_magic("unload_ext", "matchrec")


def run_failing_cell(shell: InteractiveShell, cell: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the output of a cell that fails."""
    result = shell.run_cell(cell)
    assert not result.success
    captured = capsys.readouterr()
    return captured.out + captured.err


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ("PATTERN (A B{{3,}}) DEFINE B AS a > 1", "help: write {3,}\n"),
        ("PATTERN (A B(3,)) DEFINE B AS a > 1", "help: write B{3,}\n"),
        ("PATTERN (A B3) DEFINE B AS a > 1", "write B{3} for 3 rows"),
    ],
)
def test_the_text_of_a_cell_is_no_f_string(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], query: str, advice: str
) -> None:
    cell = f"SELECT * FROM VALUES (1) AS t(a) MATCH_RECOGNIZE (ORDER BY a MEASURES 1 AS n {query})"
    output = run_failing_cell(shell, f"%%matchrec\n{cell}", capsys)
    assert advice in output
    assert "f-string" not in output


def test_a_cell_shows_its_first_rows(shell: InteractiveShell) -> None:
    result = shell.run_cell_magic("matchrec", "--limit 1", RISES + "ORDER BY a")
    assert (result.names, result.rows, result.has_more_rows) == (("a", "b"), (("1", "2"),), True)
    without_rows = shell.run_cell_magic("matchrec", "", RISES.replace("+ :least", "+ 99"))
    assert (
        without_rows.note
        == "0 rows; --coverage shows how far rows get, --why shows what stops them"
    )
    assert shell.run_cell_magic("matchrec", "", "SELECT 1 WHERE 1 > 2").note == "0 rows"
    assert repr(result) == "<Result: a, b; showing 1 row; --limit N shows more>"
    html = result._repr_html_()
    assert ">1</td>" in html
    assert "--limit N shows more" in unescape(html)


def test_a_cell_leaves_its_dataframe_in_a_variable(shell: InteractiveShell) -> None:
    result = shell.run_cell_magic("matchrec", "-o found", RISES)
    assert [tuple(row) for row in shell.user_ns["found"].orderBy("a").collect()] == [(1, 2), (3, 4)]
    assert result.note == "2 rows"


@pytest.mark.parametrize("question", ["--explain", "--why --row 5", "--coverage"])
def test_a_question_leaves_the_dataframe_too(shell: InteractiveShell, question: str) -> None:
    shell.run_cell_magic("matchrec", f"{question} -o asked", RISES)
    assert shell.user_ns.pop("asked").columns == ["a", "b"]


def test_a_line_is_a_query(shell: InteractiveShell) -> None:
    query = " ".join(RISES.split())
    result = shell.run_line_magic("matchrec", f"--limit 5 {query} ORDER BY a")
    assert result.rows == (("1", "2"), ("3", "4"))


def test_a_cell_can_read_events(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    clause = RISES[RISES.index("(") + 1 : RISES.rindex(")")]
    result = shell.run_cell_magic("matchrec", "--events steps", clause)
    assert sorted(result.rows) == [("1", "2"), ("3", "4")]
    sase = "PATTERN SEQ(ANY a, ANY b) WHERE strict_contiguity { b.v > a.v + 2 } RETURN a.t AS t"
    over = "--events steps --order-by t"
    assert sorted(shell.run_cell_magic("matchrec", over, sase).rows) == [("1",), ("3",)]
    typed = over + """ --type-column "if(v > 9, 'high', 'low')\""""
    sase = "PATTERN SEQ(low a, high b) WHERE strict_contiguity { b.v > 0 } RETURN a.t AS t"
    assert shell.run_cell_magic("matchrec", typed, sase).rows == (("3",),)
    rises = matchrec.Pattern.begin("a").next("b").where("v > last(a.v) + :more")
    shell.user_ns["rises"] = rises
    shell.user_ns["more"] = 2
    matches = shell.run_line_magic("matchrec", f"{over} rises")
    assert sorted(row[1:3] for row in matches.rows) == [("1", "2"), ("3", "4")]
    assert "missing `--order-by` for SASE" in run_failing_cell(
        shell, "%matchrec --events steps rises", capsys
    )
    no_events = run_failing_cell(shell, "%matchrec PATTERN SEQ(a x) RETURN x.t", capsys)
    assert "write %%matchrec --events NAME --order-by COLUMN" in no_events
    clause = " ".join(clause.split())
    not_for_patterns = [
        f"{over} {option} rises" for option in ("--dialect trino", "--type-column v")
    ]
    for arguments in (
        *not_for_patterns,
        f"{over} {clause}",
        f"--events steps --type-column v {clause}",
    ):
        assert "of %%matchrec is not allowed for" in run_failing_cell(
            shell, f"%matchrec {arguments}", capsys
        )
    assert "is not the variable of" in run_failing_cell(
        shell, "%matchrec --events none rises", capsys
    )
    output = run_failing_cell(shell, "%matchrec --events stesp --order-by t rises", capsys)
    assert "  help: write %%matchrec --events steps\n" in output


def test_a_frame_of_pandas_is_sent(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["pdf"] = pd.DataFrame({"t": [1, 2, 3], "v": [1, 9, 1]})
    clause = "ORDER BY t MEASURES LAST(t) AS b PATTERN (S U+) DEFINE U AS v > PREV(v)"
    assert shell.run_cell_magic("matchrec", "--events pdf", clause).rows == (("2",),)
    assert capsys.readouterr().err == "sent `pdf` to the engine: 3 rows\n"


def test_quotes_are_around_an_argument(spark: SparkSession, shell: InteractiveShell) -> None:
    days = [("2024-01-01", 1), ("2024-01-02", 3)]
    shell.user_ns["days"] = spark.createDataFrame(days, "day string, v int")
    query = RISES.replace("{steps}", "{days}").replace("ORDER BY t", "ORDER BY day")
    query = query.replace("(t)", "(day)").replace("+ :least", "")
    for row in ("2024-01-01", "'2024-01-01'", '"2024-01-01"'):
        why = shell.run_cell_magic("matchrec", f"--why --row {row}", query)
        assert "day = 2024-01-01" in why.text
    sase = "PATTERN SEQ(ANY a, ANY b) WHERE strict_contiguity { b.v > a.v } RETURN a.day AS day"
    for order in ("day", "\"concat(day, 'x')\""):
        over = f"--events 'days' --order-by {order} -o 'found'"
        assert shell.run_cell_magic("matchrec", over, sase).rows == (("2024-01-01",),)
        assert shell.user_ns["found"].columns == ["day"]


def test_a_new_session_has_a_name(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(variables, "find_running_session", lambda _: None)
    monkeypatch.setattr(variables, "start_session", lambda: spark)
    with_other_spark: dict[str, Any] = {"spark": 3}
    assert variables.find_or_start_session(with_other_spark) is spark
    assert with_other_spark == {"spark": 3}
    assert capsys.readouterr().err.rstrip().endswith("in this program: matchrec.session()")
    empty: dict[str, Any] = {}
    assert variables.find_or_start_session(empty) is empty["spark"]
    assert capsys.readouterr().err.rstrip().endswith("in this program: `spark`")


def test_a_cell_explains_itself(shell: InteractiveShell) -> None:
    explained = shell.run_cell_magic("matchrec", "--explain", RISES)
    assert isinstance(explained, matchrec.Explanation)


def test_a_picture_needs_the_ends_of_matches(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    low = RISES.replace("AS a", "AS low").replace("AS b", "AS high")
    output = run_failing_cell(shell, f"%%matchrec --plot t v\n{low}", capsys)
    # The result has exactly two columns of the type of `t`.
    assert (
        "write --between low high if matches begin at low and end at high; or add FIRST" in output
    )
    plot = shell.run_cell_magic("matchrec", "--plot t v --between low high", low)
    assert repr(plot) == "<Plot: 2 matches in 1 series, page 1 of 1>"


def test_a_cell_says_why_and_how_far(shell: InteractiveShell) -> None:
    by_two = RISES.replace("BY t", "BY t, v")
    both = shell.run_cell_magic("matchrec", "--why --row 5 --row 1", by_two)
    assert "t = 5, v = 1" in both.text
    why = shell.run_cell_magic("matchrec", "--why --row 5", RISES)
    assert isinstance(why, matchrec.Why)
    assert "t = 5" in why.text
    coverage = shell.run_cell_magic("matchrec", "--coverage", RISES)
    assert coverage.clauses[1].figures.matches == 2


def test_coverage_of_a_cell_says_what_to_write_in_a_cell(shell: InteractiveShell) -> None:
    """The advice is a magic, not a call of Python."""
    never = RISES.replace(":least", "100")
    text = shell.run_cell_magic("matchrec", "--coverage -n 3", never).text
    assert "%%matchrec -n 3 --why" in text
    assert "query.why" not in text


def test_a_cell_without_a_query_is_rejected(shell: InteractiveShell) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="missing query"):
        shell.run_cell_magic("matchrec", "", " \n")
    with pytest.raises(matchrec.MatchRecognizePlanError, match="missing query"):
        shell.run_line_magic("matchrec", "")


def test_a_partition_without_a_name_is_rejected(shell: InteractiveShell) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="write --partition NAME=5"):
        shell.run_cell_magic("matchrec", "--why --partition 5", RISES)


def test_sessions_understand_the_clause_until_the_extension_is_unloaded(
    shell: InteractiveShell, spark: SparkSession, steps: DataFrame
) -> None:
    assert spark.sql(RISES, args={"least": 2}, steps=steps).count() == 2
    matchrec.enable(spark)
    matchrec.disable(spark)
    assert spark.sql(RISES, args={"least": 2}, steps=steps).count() == 2
    shell.run_line_magic("unload_ext", "matchrec")
    with pytest.raises(PySparkException):
        spark.sql(RISES, args={"least": 2}, steps=steps).count()


def test_unloading_restores_the_handler_of_another_extension(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_line_magic("unload_ext", "matchrec")
    shell.set_custom_exc((ZeroDivisionError,), lambda *_, **__: print("by another extension"))
    shell.run_line_magic("load_ext", "matchrec")
    shell.run_line_magic("unload_ext", "matchrec")
    assert "by another extension" in run_failing_cell(shell, "1 / 0", capsys)
    shell.run_line_magic("load_ext", "matchrec")  # the fixture unloads it


def test_an_error_is_its_message_with_the_caret(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    text = run_failing_cell(shell, f"%%matchrec\n{RISES.replace('LAST(t)', 'LAST(w)')}", capsys)
    assert "unknown column `w` in MEASURES" in text
    assert "^" in text
    assert "Traceback" not in text
    assert len(text.splitlines()) < 8
    shell.run_line_magic("tb", "")
    assert "Traceback (most recent call last)" in capsys.readouterr().out


def test_an_error_of_the_query_around_is_sparks_sentence(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    text = run_failing_cell(
        shell, f"%%matchrec\n{RISES.replace('SELECT *', 'SELECT nowhere')}", capsys
    )
    assert "nowhere" in text
    assert "Traceback" not in text
    assert len(text.splitlines()) < 8


@pytest.mark.filterwarnings("ignore::matchrec.warnings.SkipTargetWarning")
def test_an_error_of_the_rows_is_ours_too(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    clause = """SELECT * FROM {steps} MATCH_RECOGNIZE (ORDER BY t MEASURES LAST(t) AS b
        AFTER MATCH SKIP TO FIRST Z PATTERN (S Z?) DEFINE Z AS v > 1000)"""
    text = run_failing_cell(shell, f"%%matchrec\n{clause}", capsys)
    assert "AFTER MATCH SKIP" in text
    assert "Traceback" not in text


def test_other_errors_are_shown_as_before(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Traceback" in run_failing_cell(shell, "spark.sql('SELECT nothing')", capsys)
    assert "Traceback" in run_failing_cell(shell, "1 / 0", capsys)


def test_a_wrong_argument_is_refused(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    output = run_failing_cell(shell, "%%matchrec --limits 3\nSELECT 1", capsys)
    assert "unknown option `--limits` of `%%matchrec`" in output.splitlines()[0]
    assert "help: write --limit\n" in output
    output = run_failing_cell(shell, "%%matchrec --quick\nSELECT 1", capsys)
    assert "help: run %%matchrec? to list the arguments" in output
    output = run_failing_cell(shell, "%%matchrec --plot t v --by sym\nSELECT 1", capsys)
    assert "help: write --plot X Y, or --plot X Y BY, with names of columns" in output
    output = run_failing_cell(shell, "%%matchrec --limit\nSELECT 1", capsys)
    assert "wrong arguments of %%matchrec: " in output.splitlines()[0]


def test_a_misspelt_variable_is_found(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], steps: DataFrame
) -> None:
    shell.user_ns.update(steps=steps, least=3)
    query = "SELECT * FROM {steps} " + CLAUSE.format("DEFINE A AS v > :lest")
    output = run_failing_cell(shell, f"%%matchrec\n{query}", capsys)
    assert "help: write :least, or give the Python variable lest a value" in output


@pytest.mark.parametrize("name", ["query", "args", "dialect", "options"])
def test_an_argument_is_no_name_in_braces(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], steps: DataFrame, name: str
) -> None:
    shell.user_ns[name] = steps
    output = run_failing_cell(shell, f"%%matchrec\nSELECT * FROM {{{name}}}", capsys)
    headline, note, hint = output.splitlines()[:3]
    assert f"`{{{name}}}` is not allowed in %%matchrec [argument-name-in-braces]" in headline
    assert note == f"  note: `{name}` is the name of an argument of matchrec.sql"
    assert hint.startswith(f"  help: write {{my_{name}}} in the query, and my_{name} = {name} ")


@pytest.mark.parametrize("name", ["self", "sqlQuery"])
def test_an_argument_of_pyspark_is_no_name_in_braces(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], steps: DataFrame, name: str
) -> None:
    shell.user_ns[name] = steps
    output = run_failing_cell(shell, f"%%matchrec\nSELECT * FROM {{{name}}}", capsys)
    assert f"`{{{name}}}` is not allowed in %%matchrec [argument-name-in-braces]" in output
    assert f"  note: `{name}` is the name of an argument of SparkSession.sql\n" in output


@pytest.mark.parametrize("name", ["df", "order_by", "frames", "text"])
def test_a_name_that_sql_does_not_take_is_allowed_in_braces(
    shell: InteractiveShell, steps: DataFrame, name: str
) -> None:
    shell.user_ns[name] = steps
    result = shell.run_cell_magic("matchrec", "", f"SELECT max(v) AS most FROM {{{name}}}")
    assert result.rows == (("50",),)


def test_a_warning_has_no_line_of_python(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        shell.run_cell_magic("matchrec", "", RISES[: RISES.index("DEFINE")] + ")")
    output = capsys.readouterr().err
    assert output.startswith(
        "matchrec: warning: MATCH_RECOGNIZE has no DEFINE [NoConditionsWarning]\n"
        "  line 4, column 14\n"
    )
    assert "result = fn" not in output


@pytest.mark.parametrize(
    ("line", "other"),
    [("--between a b", "--plot"), ("--partition a=1", "--why"), ("--row 3", "--why")],
)
def test_an_argument_that_needs_another_is_rejected(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], line: str, other: str
) -> None:
    output = run_failing_cell(shell, f"%%matchrec {line}\nSELECT 1", capsys)
    assert f"`{line.split(maxsplit=1)[0]}` of %%matchrec is not allowed without `{other}`" in output


def test_a_wrong_limit_is_refused(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        "`--limit` of %%matchrec must be a whole number from 1 to 2147483647, but is 0"
        in run_failing_cell(shell, "%%matchrec --limit 0\nSELECT 1", capsys)
    )


CLAUSE = "MATCH_RECOGNIZE (PARTITION BY v ORDER BY t MEASURES COUNT(*) AS n PATTERN (A) {0})"
ADVICE = {
    "SELECT * FROM {steps} " + CLAUSE.format("DEFINE A AS v > :most"): (
        "give the Python variable most a value"
    ),
    "SELECT * FROM {no_rows} " + CLAUSE.format(""): "give the Python variable no_rows a DataFrame",
    "SELECT * FROM no_rows " + CLAUSE.format(""): "write {no_rows} for the DataFrame of a",
    "SELECT * FROM {stesp} " + CLAUSE.format(""): "write {steps}",
}


@pytest.mark.parametrize("query", ADVICE)
def test_advice_is_in_the_words_of_a_notebook(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], query: str
) -> None:
    assert ADVICE[query] in run_failing_cell(shell, f"%%matchrec\n{query}", capsys)


def test_advice_on_a_partition_is_in_options(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "SELECT * FROM {steps} " + CLAUSE.format("")
    assert "write --partition v=" in run_failing_cell(shell, f"%%matchrec --why\n{query}", capsys)


def test_a_failing_expression_is_shown_as_written(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "SELECT * FROM {steps} " + CLAUSE.format("\nDEFINE A AS 10 / (v - 5) > 2")
    with settings(shell.user_ns["spark"], ansi__enabled="true"):
        text = run_failing_cell(shell, f"%%matchrec\n{query}", capsys)
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()
    sentence = "the condition of `A` cannot be computed: division by zero"
    index = lines.index(f"{sentence} [expression-not-computed]")
    assert lines[index + 1 : index + 4] == [
        "  line 2, column 13",
        "      DEFINE A AS 10 / (v - 5) > 2)",
        "                  ^^^^^^^^^^^^",
    ]
    assert "Traceback" not in text
    assert "UsageError" not in text
