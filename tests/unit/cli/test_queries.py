"""Queries that are not SQL: SASE+ text, and Patterns in a Python file."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from matchrec.cli import queries
from matchrec.cli.values import read_argument_value
from matchrec.syntax import locate
from tests.quick.embedded import invoke, invoke_failing

pytestmark = pytest.mark.one_of(4)

CLICKS = "who,ts,event_type\nann,1,a\nann,2,c\nann,3,b\nbob,1,a\nbob,2,b\n"
SASE = "PATTERN SEQ(a x, b y) RETURN x.ts AS since, y.ts AS until"
PATTERN = """
from matchrec import AfterMatch, Pattern

pattern = Pattern.begin("x").where("event_type = 'a'").next("y").where("event_type = 'b'")
relaxed = Pattern.begin("x").where("event_type = 'a'").followed_by("y").where("event_type = :kind")
relaxed = relaxed.after_match(AfterMatch.SKIP_PAST_LAST_EVENT)
late = Pattern.begin("x").where("event_type = 'a'").followed_by("y").where("event_type = 'b'")
late = late.within(1)
number = 1
"""
EVENTS = ("--table", "clicks=clicks.csv", "--order-by", "ts", "--partition-by", "who")
CSV = ("--format", "csv")


@pytest.fixture
def clicks(embedded: Path) -> Path:
    """Return the folder with events, a query in SASE+ and Patterns."""
    (embedded / "clicks.csv").write_text(CLICKS)
    (embedded / "pairs.sase").write_text(SASE)
    (embedded / "pairs.py").write_text(PATTERN)
    return embedded


def read_rows(*arguments: str) -> list[str]:
    """Return the rows of a query without their names, sorted."""
    result = invoke("run", *arguments, *CSV)
    assert result.exit_code == 0, result.stderr
    return sorted(result.stdout.splitlines()[1:])


def test_sase_queries_run_from_files_and_standard_input(clicks: Path) -> None:
    assert read_rows("pairs.sase", *EVENTS) == ["ann,1,3", "bob,1,2"]
    result = invoke("run", "-", "--language", "sase", *EVENTS, "--limit", "1", stdin=SASE)
    assert len(result.stdout.splitlines()) == 2


def test_a_file_can_define_patterns(clicks: Path) -> None:
    event = '1,2,"[{""who"":""bob"",""ts"":1,""event_type"":""a""}]"'
    (line,) = read_rows("pairs.py", *EVENTS)
    assert line.startswith(f"bob,1,{event}")
    both = read_rows("pairs.py:relaxed", *EVENTS, "--arg", "kind=b")
    assert [line[:9] for line in both] == ["ann,1,1,3", "bob,1,1,2"]


def test_the_result_of_a_pattern_has_options(clicks: Path) -> None:
    events = read_rows("pairs.py", *EVENTS, "--result", "events")
    assert len(events) == 2  # bob's a and b
    assert all("bob" in line for line in events)
    assert read_rows("pairs.py:late", *EVENTS) == []  # a window of 1 ends before the next event
    timed_out = read_rows("pairs.py:late", *EVENTS, "--timeouts")
    assert [line.split(",")[0] for line in timed_out] == ["ann", "bob"]
    refusal = invoke_failing("run", "pairs.py", *EVENTS, "--result", "graph")
    assert "unknown value `graph` for `--result`" in refusal
    assert "it must be one of matches, events" in refusal


def test_a_module_can_define_a_pattern(clicks: Path) -> None:
    shown = invoke(
        "explain", "pairs:relaxed", "--language", "pattern", *EVENTS, "--analyze", "--arg", "kind=b"
    )
    assert shown.exit_code == 0, shown.stderr
    assert "matches                            2" in shown.stdout


def test_a_pattern_is_translated_to_sql(clicks: Path) -> None:
    arguments = ("--write", "spark", "--order-by", "ts", "--events", "clicks")
    assert "FROM clicks MATCH_RECOGNIZE" in invoke("transpile", "pairs.py", *arguments).stdout


def test_no_empty_line_after_a_text_that_ends_with_a_newline(files: Path) -> None:
    clause = "MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS price > 1)"
    (files / "one.sql").write_text(f"SELECT *\nFROM t {clause}\n")
    shown = invoke("transpile", "one.sql", "--write", "spark").stdout
    assert shown == f"SELECT *\nFROM t {clause}\n"


def test_a_translation_without_a_product_says_which_one_it_is_for(files: Path) -> None:
    del files
    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) DEFINE B AS x > PREV(x))"
    shown = invoke("transpile", "-c", query)
    assert shown.stdout == f"{query}\n"
    assert shown.stderr == (
        "matchrec: this is Spark SQL; --write NAME writes the SQL of another product\n"
    )
    assert invoke("transpile", "-c", query, "--write", "spark").stderr == ""


NOTES_FOR_SNOWFLAKE = """SELECT * FROM t MATCH_RECOGNIZE (
    ORDER BY ts MEASURES AVG(B.x) AS mean, NEXT(B.x) AS later PATTERN (A B)
    DEFINE A AS FIRST(x) > 1, B AS x > A.x)"""


def test_a_translation_with_notes_warns(files: Path) -> None:
    del files
    arguments = ("transpile", "-c", NOTES_FOR_SNOWFLAKE, "--write", "snowflake")
    shown = invoke(*arguments)
    assert shown.exit_code == 0
    assert "-- Snowflake rejects columns of another variable in DEFINE\n" in shown.stdout
    advice = "see the comments after the SQL"
    assert shown.stderr == (
        f"matchrec: warning: 2 parts of the query can be an error in Snowflake; {advice}\n"
        f"matchrec: warning: 1 part of the query can have another result in Snowflake; {advice}\n"
    )
    strict = invoke(*arguments, "--strict")
    assert (strict.exit_code, strict.stdout) == (1, shown.stdout)
    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS x > 1)"
    assert invoke("transpile", "-c", query, "--write", "spark", "--strict").exit_code == 0


def test_aggregates_over_the_matches_of_a_clause(clicks: Path) -> None:
    arguments = "run", "streaks.sql", "--table", "t=prices.csv", "--format", "csv", "--clause", "1"
    shown = invoke(*arguments, "--per", "end", "--aggregate", "rows=CAST(sum(n) AS DECIMAL(38, 0))")
    names, *lines = shown.stdout.splitlines()
    assert (names, sorted(lines)) == ("sym,ts,rows", ["X,3,3", "Y,3,2"])


def test_aggregates_ignore_the_query_around_the_clause(clicks: Path) -> None:
    query = (clicks / "streaks.sql").read_text()
    arguments = "run", "--table", "t=prices.csv", "--per", "partition"
    notice = "The aggregates are over all matches of the clause, without WHERE after it.\n"
    assert notice in invoke(*arguments, "-c", f"{query.rstrip().rstrip(';')} WHERE n > 1").stderr
    assert notice not in invoke(*arguments, "streaks.sql").stderr


def test_aggregates_instead_of_matches(clicks: Path) -> None:
    (clicks / "any.sase").write_text(
        f"{SASE} ".replace("RETURN", "WHERE skip_till_any_match RETURN")
    )
    assert read_rows("any.sase", *EVENTS, "--per", "end") == ["ann,3,1", "bob,2,1"]
    arguments = ("--aggregate", "least=min(since)", "--aggregate", "n=count(*)")
    assert read_rows("any.sase", *EVENTS, *arguments) == ["ann,1,1", "bob,1,1"]
    shown = invoke("explain", "any.sase", *EVENTS, "--per", "end")
    assert "by the search, which builds no matches" in shown.stdout
    assert "is not an aggregate over matches" in invoke_failing(
        "run", "any.sase", *EVENTS, "--aggregate", "n=median(since)"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("pairs.sase",), "missing `--order-by` for SASE+"),
        (("pairs.sase", "--order-by", "ts"), "missing `--table` for SASE+"),
        (("pairs.sase", *EVENTS, "--dialect", "trino"), "`--dialect` is not allowed for SASE+"),
        (("pairs.sase", *EVENTS, "--timeouts"), "`--timeouts` is not allowed for SASE+"),
        (("pairs.py", *EVENTS, "--dialect", "trino"), "`--dialect` is not allowed for a Pattern"),
        (("streaks.sql", "--order-by", "ts"), "`--order-by` is not allowed for SQL"),
        (("-c", "PATTERN SEQ(* a)", "--order-by", "ts"), "help: add --language sase"),
        (("streaks.sql", "--result", "matches"), "`--result` is not allowed for SQL"),
        (
            ("streaks.sql", "--clause", "1"),
            "`--clause` is not allowed without `--aggregate` or `--per`",
        ),
        (("no.py:pattern", *EVENTS), "the query file `no.py` does not exist"),
        (("pairs", "--language", "pattern", *EVENTS), "write pairs.py:NAME"),
        # the query is missing, so its options do not matter yet
        (("no.py",), "the query file `no.py` does not exist"),
        (("no.sase",), "the query file `no.sase` does not exist"),
        (("no_such:pattern", "--language", "pattern"), "`no_such` cannot be imported"),
        (("no_such.inner:pattern", "--language", "pattern"), "`no_such.inner` cannot be imported"),
    ],
)
def test_arguments_that_do_not_fit_the_language(
    arguments: tuple[str, ...], sentence: str, clicks: Path
) -> None:
    assert sentence in invoke_failing("run", *arguments)


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        (
            "pairs.py:number",
            "`number` is not a Pattern in `pairs.py` [no-such-pattern]\n  note: Patterns",
        ),
        ("json.no_such:x", "`json.no_such` cannot be imported"),
    ],
)
def test_a_pattern_that_is_not_there(where: str, sentence: str, clicks: Path) -> None:
    assert sentence in invoke_failing("run", where, "--language", "pattern", *EVENTS, code=1)


def test_an_exception_in_a_python_file_has_a_short_traceback(clicks: Path) -> None:
    (clicks / "divides.py").write_text("def share(n):\n    return 1 / n\n\nshare(0)\n")
    shown = invoke_failing("run", "divides.py", *EVENTS, code=1)
    assert shown.startswith(
        "matchrec: error: `divides.py` raised ZeroDivisionError: division by zero"
        " [python-file-failed]\n  note: its traceback, the last call at the end:\n"
    )
    files = [line.strip() for line in shown.splitlines() if "  File " in line]
    assert len(files) == 2
    assert files[0].endswith('divides.py", line 4, in <module>')
    assert files[1].endswith('divides.py", line 2, in share')
    (clicks / "unreadable.py").write_text("pattern = (\n")
    assert "raised SyntaxError: " in invoke_failing("run", "unreadable.py", *EVENTS, code=1)


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a command that starts an engine fail."""
    monkeypatch.setattr(queries, "open_local_session", None)


REPEATED = "ORDER BY ts PATTERN (A B{:n}) DEFINE B AS x > 1"
QUERY = f"SELECT * FROM t MATCH_RECOGNIZE ({REPEATED})"


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize(
    ("command", "query", "sentence"),
    [
        ("run", QUERY.replace("PATTERN (", "PATTERN (("), "`(` is not closed in MATCH_RECOGNIZE"),
        (
            "explain --arg n=2",
            QUERY.replace("DEFINE B", "DEFINE C"),
            "DEFINE has `C`, which is not in PATTERN",
        ),
        ("coverage --dialect trino --arg n=2", QUERY.replace("ts PAT", "ts) PAT"), "`)`"),
        (
            "run --language sase --order-by ts --events t",
            "PATTERN SEQ(A a",
            "`(` is not closed in the query",
        ),
        ("sweep --events t --grid n=1,2", REPEATED.replace("DEFINE B", "DEFINE"), "DEFINE"),
    ],
)
def test_a_mistake_in_a_text_is_reported_before_an_engine_starts(
    command: str, query: str, sentence: str
) -> None:
    result = invoke(*command.split(), "-", stdin=query)
    assert (result.exit_code, result.stdout) == (1, "")
    assert sentence in result.stderr
    assert "^" in result.stderr


@pytest.mark.usefixtures("no_engine")
def test_a_wrong_value_is_reported_before_an_engine_starts() -> None:
    message = invoke_failing("why", "--arg", "n=x", "-", stdin=QUERY)
    assert "must be a whole number from 0 to 2,147,483,647, but is 'x' [" in message


def test_a_query_is_read_once(embedded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the engine starts; what runs is what was read then."""
    read = Mock(wraps=locate.find_clauses)
    monkeypatch.setattr(locate, "find_clauses", read)
    clause = CLAUSE.format("DEFINE A AS price > 4.25")  # which no other test has read
    result = invoke("run", "-", "--table", "t=prices.csv", stdin=f"SELECT * FROM t {clause}")
    assert result.exit_code == 0
    assert read.call_count == 1


def test_a_session_says_whose_sql_a_query_is(embedded: Path) -> None:
    query = QUERY.replace(":n", "@n").replace("x > 1", "price > 1")
    arguments = ("run", "-", "--table", "t=prices.csv", "--arg", "n=2")
    assert "pass --dialect bigquery" in invoke_failing(*arguments, stdin=query, code=1)


def test_a_parameter_that_the_query_does_not_name(embedded: Path) -> None:
    arguments = ("run", "-", "--table", "t=prices.csv", "--arg", "n=2")
    message = invoke_failing(
        *arguments, "--arg", "N=3", stdin=QUERY.replace("x > 1", "price > 1"), code=2
    )
    assert "the query has no `:N`" in message
    assert "pass --arg n=VALUE" in message
    colons = "-- in prices: the close falls\nSELECT 'a:b' AS x, :low AS y"
    message = invoke_failing("check", "-c", colons, "--arg", "n=2", "--arg", "low=1", code=2)
    assert "note: its parameters are: low\n" in message


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("run", "--master", "local[1]"), "write --engine spark --conf spark.master=local[4]"),
        (("transpile", "--to", "trino"), "write --write"),
        (("transpile", "--language", "sase"), "write --read"),
        (("explain", "-c", "SELECT 1", "--by", "sym"), "write --per for totals"),
        (("why", "-c", "SELECT 1", "--svg", "a.svg"), "write --picture FILE"),
        (("run", "-c", "SELECT 1", "--picture", "a.svg"), "write --plot FILE"),
        (("why", "--key", "sym=a"), "write --partition"),
        (("run", "-o", "x.csv"), "write --output FILE"),
        (("run", "-", "t=prices.csv"), "write --table t=prices.csv"),
        (("run", "-", "data/prices.csv"), "write --table prices=data/prices.csv"),
    ],
)
def test_options_of_other_programs_are_corrected(arguments: tuple[str, ...], hint: str) -> None:
    assert hint in invoke_failing(*arguments, "-", stdin="", code=2)


@pytest.mark.parametrize(
    ("arguments", "headline"),
    [
        (("transpile", "--master", "local[1]"), "unknown option `--master`"),
        (("transpile", "-p", "n=3"), "unknown option `-p`"),
        (
            ("transpile", "q.sql", "prices.csv"),
            "unexpected argument `prices.csv` of `matchrec transpile`",
        ),
    ],
)
def test_no_option_is_suggested_that_the_command_lacks(
    arguments: tuple[str, ...], headline: str
) -> None:
    message = invoke_failing(*arguments, code=2)
    assert headline in message
    assert "help: write" not in message


def test_a_file_that_is_nearly_there(clicks: Path) -> None:
    assert "write pairs.sase" in invoke_failing("run", "pair.sase", *EVENTS, code=2)
    arguments = ("run", "pairs.sase", "--table", "t=no/where.csv", "--order-by", "at")
    assert "write" not in invoke_failing(*arguments, code=2)


def test_a_table_of_events_that_is_not_there(clicks: Path) -> None:
    assert "`nowhere`" in invoke_failing("run", "pairs.sase", *EVENTS, "--events", "nowhere")
    near = invoke_failing("run", "pairs.sase", *EVENTS, "--events", "clikcs")
    assert "`clikcs`" in near
    assert "write clicks, or pass --table clikcs=FILE" in near


def test_a_value_that_is_not_a_literal_is_a_text() -> None:
    texts = ("'12'", "'it''s'", "x", "", "-", "1.", "0x10", "NaN", "interval training", "O'Brien'")
    assert [read_argument_value(text) for text in texts] == [
        "12",
        "it's",
        "x",
        "",
        "-",
        "1.",
        "0x10",
        "NaN",
        "interval training",
        "O'Brien'",
    ]


CLAUSE = "MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A) {0})"
ADVICE = {
    "SELECT * FROM t " + CLAUSE.format("DEFINE A AS price > :least"): "pass --arg least=VALUE",
    "SELECT * FROM t " + CLAUSE.format("DEFINE A AS price > ?"): "and pass --arg name=VALUE",
    "SELECT * FROM {u} " + CLAUSE.format(""): "write u without braces, and pass --table u=FILE",
    "SELECT * FROM shares " + CLAUSE.format(""): "pass --table shares=FILE",
    "SELECT * FROM shares": "pass --table shares=FILE",
    "SELECT x FROM dual": "leave FROM dual out",
}


@pytest.mark.parametrize("query", ADVICE)
def test_advice_is_in_options(embedded: Path, query: str) -> None:
    result = invoke("run", "-", "--table", "t=prices.csv", stdin=query)
    assert result.exit_code == 1
    assert ADVICE[query] in result.stderr


def test_advice_on_a_partition_is_in_options(embedded: Path) -> None:
    message = invoke_failing("why", "streaks.sql", "--table", "t=prices.csv", code=2)
    assert "write --partition sym=X" in message or "write --partition sym=Y" in message


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (("-c", " "), ["help: write SELECT * FROM t MATCH_RECOGNIZE (...)"]),
        (
            ("-c", "-- later\n;"),
            [
                "note: the text has only comments",
                "help: write SELECT * FROM t MATCH_RECOGNIZE (...)",
            ],
        ),
        (
            ("-",),
            [
                "note: it was read from standard input",
                "help: write SELECT * FROM t MATCH_RECOGNIZE (...)",
            ],
        ),
        (
            ("none.sql",),
            [
                "note: the text has only comments",
                "note: it was read from `none.sql`",
                "help: write SELECT * FROM t MATCH_RECOGNIZE (...)",
            ],
        ),
        (
            ("none.sase", "--order-by", "ts"),
            ["note: it was read from `none.sase`", "help: write PATTERN SEQ(Shelf a, Exit b)"],
        ),
    ],
)
def test_an_empty_query_is_rejected(
    arguments: tuple[str, ...], lines: list[str], files: Path
) -> None:
    (files / "none.sql").write_text("/* nothing\nyet */ -- here\n")
    (files / "none.sase").write_text("\n")
    message = invoke_failing("run", *arguments, "--table", "t=prices.csv", stdin="\n")
    headline, *other_lines = message.splitlines()
    assert headline == "matchrec: error: the query is empty [empty-query]"
    assert [line.strip() for line in other_lines] == lines


def test_a_number_of_a_clause_with_more_digits_than_python_reads_is_a_name() -> None:
    digits = "9" * 5000
    assert queries.read_clause_name(digits) == digits
    assert queries.read_clause_name("²") == "²"
    assert queries.read_clause_name("02") == 2
