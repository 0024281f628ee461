"""Files in FROM, texts of several statements, `matchrec check` and `--plot`."""

from __future__ import annotations

from pathlib import Path

import pytest

from matchrec.cli import running
from tests.quick.embedded import invoke
from tests.unit.cli.conftest import PRICES, STREAKS

CSV = ("--format", "csv")
CLAUSE = STREAKS.partition("FROM t")[2]
SEVERAL = f"""
-- the first; it gives no rows
CREATE OR REPLACE TEMPORARY VIEW streaks AS SELECT * FROM 'prices.csv' {CLAUSE};
SELECT sym, ';' AS s FROM streaks WHERE n >= :least ORDER BY sym;
SELECT count(*) AS n FROM streaks;
-- nothing comes after this
"""


def print_rows(*arguments: str, stdin: str | None = None) -> str:
    """Return the output of a run that succeeds."""
    result = invoke(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def catch_message(*arguments: str, stdin: str | None = None, code: int = 1) -> str:
    """Return the message of a run that fails."""
    result = invoke(*arguments, stdin=stdin)
    assert result.exit_code == code, result.stdout
    return result.stderr


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM 'prices.csv' {CLAUSE} ORDER BY sym",
        f'SELECT * FROM "prices.csv" AS p {CLAUSE} ORDER BY sym',
        f"WITH prices AS (SELECT * FROM 'prices.csv') SELECT * FROM prices {CLAUSE} ORDER BY sym",
        f"SELECT * FROM (SELECT prices.* FROM 'prices.csv') {CLAUSE} ORDER BY sym",
    ],
)
def test_a_clause_reads_a_file(query: str, embedded: Path) -> None:
    assert print_rows("run", "-", *CSV, stdin=query) == "sym,low,high,n\nX,10,12,3\nY,4,9,2\n"


@pytest.mark.parametrize(
    "name", ["x.json", "x.jsonl", "x.parquet", "a b/2024 ü.csv", "parts/*.csv"]
)
def test_from_can_name_files(name: str, embedded: Path) -> None:
    path = embedded / name.replace("*", "1")
    path.parent.mkdir(exist_ok=True)
    if name.endswith(".parquet"):
        print_rows("run", "-c", "SELECT 1 AS a", "--output", name)
    else:
        path.write_text("a\n1\n" if name.endswith(".csv") else '{"a": 1}\n')
    assert print_rows("run", "-c", f"SELECT a FROM '{name}'", *CSV) == "a\n1\n"


def test_files_in_a_join_and_in_a_list(embedded: Path) -> None:
    (embedded / "n.csv").write_text("sym,name\nX,ex.csv\n")
    joined = "FROM 'prices.csv' p JOIN 'n.csv' n ON p.sym = n.sym AND n.name IN ('ex.csv', 'y.csv')"
    assert print_rows("run", "-c", f"SELECT count(*) AS c {joined}", *CSV) == "c\n3\n"
    listed = "FROM 'prices.csv' p, 'n.csv' n WHERE p.sym = n.sym"
    assert print_rows("run", "-c", f"SELECT count(*) AS c {listed}", *CSV) == "c\n3\n"


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("SELECT trim(LEADING 'x' FROM 'xy.csv') AS s", "y.csv"),
        ("SELECT concat('a.csv', 'b.csv') AS s FROM range(1)", "a.csvb.csv"),
        ("SELECT 'a.csv' AS s, 'b.csv' AS t FROM 'prices.csv' LIMIT 1", "a.csv"),
        ("SELECT 'n' AS s FROM 'prices.csv' WHERE sym IS DISTINCT FROM 'a.csv' LIMIT 1", "n"),
        ("SELECT 'n' AS s FROM range(1) r JOIN range(1) q ON 'a' IS DISTINCT FROM 'a.csv'", "n"),
    ],
)
def test_a_text_that_is_not_a_file(query: str, value: str, embedded: Path) -> None:
    assert value in print_rows("run", "-c", query, *CSV)


def test_a_file_in_from_that_does_not_exist(embedded: Path) -> None:
    message = catch_message("run", "-c", "SELECT * FROM 'price.csv'", code=2)
    assert "`price.csv` of table `price` does not exist" in message
    assert "write prices.csv" in message


def test_a_file_of_an_unknown_format_is_rejected(embedded: Path) -> None:
    message = catch_message("run", "-c", f"SELECT * FROM 'prices.txt' {CLAUSE}")
    assert "pass --table NAME=FILE for a file" in message
    assert "DataFrame" not in message


def test_several_statements_print_their_rows_in_order(embedded: Path) -> None:
    shown = print_rows("run", "-", *CSV, "--arg", "least=3", stdin=SEVERAL)
    assert shown == "sym,s\nX,;\n\nn\n2\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SEVERAL.replace("PATTERN (A", "PATTERN ((A"), "matchrec: error: statement 1 of 3: `(`"),
        (SEVERAL.replace("SELECT sym", "SELECT smy"), "matchrec: error: statement 2 of 3: "),
        (SEVERAL.replace("count(*)", "1 / 0").replace("streaks;", "range(1);"), "statement 3 of 3"),
    ],
)
def test_an_error_names_the_statement(text: str, message: str, embedded: Path) -> None:
    result = invoke("run", "-", *CSV, "--arg", "least=3", stdin=text)
    assert result.exit_code in (1, 3)
    assert message in result.stderr


def test_an_error_has_the_line_of_the_whole_text(embedded: Path) -> None:
    text = f"SELECT 1;\nSELECT 2; SELECT * FROM 'prices.csv' {CLAUSE.replace('UP+', 'UP++-')}"
    assert "line 5, column" in catch_message("run", "-", stdin=text)


def test_a_parameter_that_no_statement_names(embedded: Path) -> None:
    arguments = ("run", "-", "--arg", "least=3", "--arg", "most=3")
    assert "the query has no `:most`" in catch_message(*arguments, stdin=SEVERAL, code=2)


def test_rows_of_one_of_several_statements_go_to_a_file(embedded: Path) -> None:
    arguments = ("run", "-", "--arg", "least=3", "--output", "x.csv")
    message = catch_message(*arguments, stdin=SEVERAL, code=2)
    assert "--output writes the rows of one query, but the text has 2" in message
    single_query = SEVERAL.replace("SELECT count(*) AS n FROM streaks;", "")
    assert print_rows(*arguments, stdin=single_query) == ""
    assert (embedded / "x.csv").read_text() == "sym,s\nX,;\n"


def test_other_commands_are_about_the_last_statement(embedded: Path) -> None:
    view = "CREATE OR REPLACE TEMP VIEW p AS SELECT * FROM 'prices.csv'"
    last = f"SELECT 1; {view}; SELECT * FROM p {CLAUSE}"
    assert "A UP+" in print_rows("coverage", "-", stdin=last)


SCHEMA = ("--schema", "t: sym STRING, ts TIMESTAMP, price DOUBLE")


def test_check_needs_no_rows(embedded: Path) -> None:
    shown = print_rows("check", "streaks.sql", *SCHEMA, "--strict")
    assert shown == "ok; columns of the result: sym STRING, low DOUBLE, high DOUBLE, n BIGINT\n"
    shown = print_rows("check", "-", "--arg", "least=3", stdin=SEVERAL)
    assert shown.splitlines()[1:] == [
        "statement 2 of 3: ok; columns of the result: sym STRING, s STRING",
        "statement 3 of 3: ok; columns of the result: n BIGINT",
    ]


def test_check_writes_columns_as_create_table_has_them(embedded: Path) -> None:
    query = "SELECT 1, struct(2 AS Day, array('x') AS `at Night`) AS s"
    expected = (
        "ok; columns of the result: `1` INT, s STRUCT<`Day`: INT, `at Night`: ARRAY<STRING>>\n"
    )
    assert print_rows("check", "-c", query) == expected
    schema = expected.removeprefix("ok; columns of the result: ").strip()
    arguments = ("-c", "SELECT * FROM t", "--schema", f"t: {schema}")
    assert print_rows("check", *arguments) == expected


def test_check_changes_nothing(embedded: Path) -> None:
    result = invoke("check", "-", stdin="DROP VIEW IF EXISTS no_such_view; SELECT 1 AS one")
    assert result.stdout == "statement 2 of 2: ok; columns of the result: one INT\n"
    assert "statement 1 of 2: not a query; only its syntax was checked" in result.stderr


def test_check_takes_a_misspelt_statement_for_no_other_statement(embedded: Path) -> None:
    message = catch_message("check", "-", stdin="SELECT 1 AS one;\nINSRT INTO t SELECT 1")
    headline, *lines = message.removeprefix("matchrec: error: ").strip().split("\n")
    assert headline == "statement 2 of 2: unknown keyword `INSRT` in the query [misspelt-keyword]"
    assert lines == [
        "  line 2, column 1",
        "      INSRT INTO t SELECT 1",
        "      ^^^^^",
        "  help: write INSERT",
    ]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (STREAKS.replace("SELECT", "SELEC"), "help: write SELECT\n"),
        (STREAKS.replace("UP+)", "UP+"), "^"),
        (STREAKS.replace("price > PREV", "prize > PREV"), "prize"),
        ("SELECT prize FROM t", "prize"),
    ],
)
def test_check_finds_mistakes(query: str, message: str, embedded: Path) -> None:
    assert message in catch_message("check", "-", *SCHEMA, stdin=query)


def test_check_treats_warnings_as_mistakes_on_request(embedded: Path) -> None:
    every_row = STREAKS.partition("DEFINE")[0] + ")"
    shown = invoke("check", "-", *SCHEMA, stdin=every_row)
    assert (shown.exit_code, "has no DEFINE" in shown.stderr) == (0, True)
    message = catch_message("check", "-", *SCHEMA, "--strict", stdin=every_row)
    assert "1 warning; --strict exits with code 1" in message


@pytest.mark.parametrize(
    ("schema", "message", "code"),
    [
        ("t", "`t` is not NAME: COLUMNS", 2),
        ("t: sym STRNG", "unknown type `STRNG` of column `sym` in `--schema`", 2),
        ("t: sym STRNG", "help: write sym STRING\n", 2),
        ("t: sym STRING, `a, b` VARCHAR", "unknown type `VARCHAR` of column `a, b` in `--sch", 2),
        ("t: sym STRING, `a, b` VARCHAR", "help: write `a, b` STRING\n", 2),
        ("t: sym STRING, price DECIMAL(50, 2)", "help: write price DECIMAL(38, 2)\n", 2),
        ("t: sym STRING, xs ARRAY<INTT>", "unknown type `ARRAY<INTT>` of column `xs`", 2),
        ("t: sym STRING, xs ARRAY<INTT>", "help: write xs ARRAY<INT>\n", 2),
        ("t: sym STRING ts INT", "help: write sym STRING, ts INT\n", 2),
        ("t: sym STRING,, ts INT", "missing column before or after a comma in `--schema`", 2),
        ("t: sym STRING, ts (", "the columns of `--schema` for `t` are not SQL", 2),
        ("t: sym, ts INT", "missing type of column `sym` in `--schema`", 2),
        ("t: sym STRING, SYM INT", "`--schema` has two columns named `sym` for table `t`", 2),
        ("t: sym STRING, ts INT", "help: write one of these, or add price to --schema", 1),
    ],
)
def test_a_schema_with_a_mistake_is_rejected(
    schema: str, message: str, code: int, embedded: Path
) -> None:
    assert message in catch_message("check", "streaks.sql", "--schema", schema, code=code)


def test_check_suggests_to_declare_an_unknown_table(embedded: Path) -> None:
    message = catch_message("check", "-", stdin="SELECT * FROM nowhere")
    assert "pass --schema 'nowhere: COLUMN TYPE, ...', or --table nowhere=FILE" in message


def test_a_table_cannot_have_a_file_and_a_schema(embedded: Path) -> None:
    arguments = ("check", "streaks.sql", *SCHEMA, "--table", "t=prices.csv")
    assert "two tables are named `t`" in catch_message(*arguments, code=2)


def test_a_query_is_drawn(embedded: Path) -> None:
    (embedded / "drawn.sql").write_text(
        STREAKS.replace("FROM t", "FROM 'prices.csv'").replace(
            "COUNT(*) AS n", "FIRST(ts) AS first_ts, LAST(ts) AS last_ts"
        )
    )
    axes = ("--x", "ts", "--y", "price", "--by", "sym")
    result = invoke("run", "drawn.sql", "--plot", "a.svg", *axes, *CSV)
    assert result.exit_code == 0, result.stderr
    assert "<svg" in (embedded / "a.svg").read_text()
    assert len(result.stdout.splitlines()) == 3
    assert "missing `--y`" in catch_message(
        "run", "drawn.sql", "--plot", "a.svg", "--x", "ts", code=2
    )
    assert "`--x` is not allowed without `--plot`" in catch_message(
        "run", "drawn.sql", "--x", "ts", code=2
    )
    message = catch_message(
        "run", "streaks.sql", "--table", "t=prices.csv", "--plot", "b.svg", *axes
    )
    assert "write --between FIRST LAST" in message
    assert (embedded / "prices.csv").read_text() == PRICES


def test_a_page_and_the_match_number_of_a_picture(embedded: Path) -> None:
    text = STREAKS.replace("FROM t", "FROM 'prices.csv'").replace(
        "COUNT(*) AS n", "MATCH_NUMBER() AS number ALL ROWS PER MATCH"
    )
    arguments = ("run", "-", "--plot", "a.svg", "--x", "ts", "--y", "price", "--by", "sym", *CSV)
    message = catch_message(*arguments, stdin=text)
    assert "write --between FIRST LAST, or --match COLUMN for ALL ROWS PER MATCH" in message
    arguments = (*arguments, "--match", "number", "--panels", "1")
    result = invoke(*arguments, "--page", "2", stdin=text)
    assert result.exit_code == 0, result.stderr
    assert "picture written to a.svg: 1 match in 1 series, page 2 of 2" in result.stderr
    message = catch_message(*arguments, "--page", "3", stdin=text, code=2)
    assert "unknown page 3 of `--plot`: there are 2 pages" in message
    assert "help: write --page 2" in message
    assert "`--page` is not allowed without `--plot`" in catch_message(
        "run", "-", "--page", "2", stdin=text, code=2
    )


STEPS = CLAUSE.replace("COUNT(*) AS n", "FIRST(ts) AS first_ts, LAST(ts) AS last_ts")
VIEW = "CREATE OR REPLACE TEMP VIEW drawn AS SELECT * FROM 'prices.csv'"
PLOT = ("--plot", "a.svg", "--x", "ts", "--y", "price", "--by", "sym")


@pytest.mark.parametrize("option", ["--x", "--y", "--by"])
@pytest.mark.parametrize("earlier", ["", f"{VIEW}; "])
def test_a_wrong_column_of_a_picture_prints_no_rows(
    option: str, earlier: str, embedded: Path
) -> None:
    (embedded / "drawn.sql").write_text(earlier + STREAKS)
    options = (*PLOT, option, "prise", "--table", "t=prices.csv")
    result = invoke("run", "drawn.sql", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    message = f"unknown column `prise` in `{option}` [unknown-plot-column]"
    assert message in result.stderr
    assert not (embedded / "a.svg").exists()


@pytest.mark.parametrize("last", ["DROP VIEW drawn", "SHOW TABLES LIKE 'no such'"])
def test_a_picture_shows_the_last_query(last: str, embedded: Path) -> None:
    text = f"{VIEW}; SELECT * FROM drawn {STEPS} ORDER BY sym; {last}"
    shown = print_rows("run", "-", *PLOT, *CSV, stdin=text)
    # X rises from ts 1 to 3, and Y from 2 to 3.
    assert shown.startswith("sym,low,high,first_ts,last_ts\nX,10,12,1,3\nY,4,9,2,3\n")
    assert "<svg" in (embedded / "a.svg").read_text()


def test_statements_without_a_query_cannot_be_drawn(embedded: Path) -> None:
    message = catch_message("run", "-", *PLOT, stdin=f"{VIEW}; DROP VIEW drawn")
    assert "statement 2 of 2: missing MATCH_RECOGNIZE clause" in message
    assert not (embedded / "a.svg").exists()


@pytest.mark.parametrize(
    ("text", "has_hint"),
    [
        (f"{VIEW}; SELECT * FROM drawn {CLAUSE}", True),
        (f"SELECT 1 AS one; SELECT * FROM 'prices.csv' {CLAUSE}", True),
        # `matchrec coverage` is about the last statement, which has no clause here.
        (f"{VIEW}; SELECT * FROM drawn {CLAUSE}; DROP VIEW drawn", False),
        (f"SELECT * FROM 'prices.csv' {CLAUSE}; SELECT 1 AS one WHERE false", False),
    ],
)
def test_the_last_statement_without_rows_is_explained(
    text: str, has_hint: bool, embedded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "is_terminal", lambda: True)
    # No price rises by more than 100.
    result = invoke("run", "-c", text.replace("price > PREV", "price > 100 + PREV"), *CSV)
    assert result.exit_code == 0, result.stderr
    assert ("0 rows; to see how far rows get" in result.stderr) == has_hint
    assert ("matchrec coverage -c" in result.stderr) == has_hint
    rising = invoke("run", "-c", text, *CSV)
    assert "0 rows; to see" not in rising.stderr


def test_an_error_shows_the_file_in_from_as_it_is_written(embedded: Path) -> None:
    """The text that runs has the name of a table and blanks there."""
    clause = "(PARTITION BY sym ORDER BY ts PATTERN (A) DEFINE A AS prise > 1)"
    mistake = f"SELECT 1 AS one;\nSELECT * FROM 'prices.csv' MATCH_RECOGNIZE {clause}"
    (embedded / "mistake.sql").write_text(mistake)
    for path, location in (("mistake.sql", "mistake.sql:2:98"), ("-", "line 2, column 98")):
        assert catch_message("run", path, stdin=mistake).splitlines()[1:4] == [
            f"  {location}",
            f"      {mistake.splitlines()[1]}",
            " " * 103 + "^^^^^",
        ]
