"""Every code block of README.md and docs does what the page says.

The language of a block says how it is tested:

python  The blocks of a page run one after another in one namespace. It is empty at first, as for a
        reader who pastes the page. The current folder is temporary, with the files of a clone that
        blocks read.
sql     It runs over the tables of sql_examples/data. If the output is the message of an error, the
        query must fail with this message.
sh      It is a line of README that .ci/run reads, a benchmark that its own test runs, or a
        `matchrec` command, which runs. `matchrec warm`, which compiles all kernels, does not run.
        If the output has a line `matchrec: error`, the command must fail with exit code 1.
console It is for machines that the tests do not have. Its syntax is checked.
java    It is a program that the tests compile and run at night. A go program is run by hand.
text    Directly after another block, it is exactly the output of that block. After several sql
        blocks in a row, it is the output of each of them.

A block with a title, such as ```python title="job.py", is a file or a cell that needs what the
tests do not have, such as a cluster or dbt. It does not run; the syntax of Python is checked.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import warnings
from codeop import compile_command
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.cli.rows import format_first_rows
from tests.pages import matching
from tests.pages.blocks import BLOCK, Block, enter_temporary_clone, read_blocks, read_files
from tests.pages.reference import remove_commands, remove_entries
from tests.pages.tables import register_tables
from tests.quick.embedded import commands_in, invoke

ROOT = Path(__file__).parent.parent
OUTSIDE_DOCS = ("README.md", "CONTRIBUTING.md", "tests/README.md")
PAGES = [*(ROOT / name for name in OUTSIDE_DOCS), *sorted((ROOT / "docs").glob("**/*.md"))]
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
NOT_PLAIN = re.compile(
    r"\b(?:of which|of whom|which see|the former|the latter|aforementioned|said|told"
    r"|which then is|which then are|that it is of|that they are of|of one of them each"
    r"|reads as it says|as they are written where they stand|is in scope|of equal \w+ the same"
    r"|what both cost)\b",
    re.IGNORECASE,
)
FIGURE = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w.,]*\d)")
ERROR = re.compile(r".* \[[a-z-]+\]\n")  # the first line of a message, with its code
SET_UP = re.compile(
    r"python3 -m venv (?P<venv>\.venv(?:-demo)?)"
    r" && (?P=venv)/bin/pip install -q (-e )?'\.\[(demo|test)\]'"
    r" && (?P=venv)/bin/(matchrec demo|pytest -q -n 2 && (?P=venv)/bin/pytest -q -n 2 --on spark)"
)


# The programs in other languages that a page shows, each with its output. test_served.py compares
# the output of the program in Java at night, and tests/live/go_check.py that of the one in Go.
PROGRAMS = {
    "java": ("tests/spark/gateway/clients/Falls.java", "tests/spark/gateway/clients/Falls.txt"),
    "go": ("tests/live/go_client/main.go", "tests/live/go_client/output.txt"),
}


@pytest.fixture
def tables(spark: SparkSession) -> SparkSession:
    """Return a session with the tables of the examples.

    They are created for each page, because other tests and pages have views with the same names.
    """
    register_tables(spark)
    return spark


def run_block(block: Block, spark: SparkSession, names: dict[str, Any]) -> str:
    """Return the output of a block."""
    if block.language == "python":
        out = StringIO()
        with redirect_stdout(out):
            exec(compile(block.code, "<block>", "exec"), names)
        return out.getvalue()
    if block.language == "sql":
        return run_query(block, spark)
    if block.language == "console":
        subprocess.run(["bash", "-n"], input=block.code, text=True, check=True)
        return ""
    if block.language in PROGRAMS:
        source, output = PROGRAMS[block.language]
        assert block.code == (ROOT / source).read_text(encoding="utf-8")
        return (ROOT / output).read_text(encoding="utf-8")
    assert block.language == "sh", f"what should be done with a block of {block.language!r}?"
    fails = "matchrec: error" in (block.printed or "")
    with commands_in(spark):
        return "".join(run_command(line, fails=fails) for line in block.code.splitlines())


def run_query(block: Block, spark: SparkSession) -> str:
    """Return the rows of a query, or the message of its error if the page shows one.

    If the rows of an example cause the error, the example may also warn about it.
    """
    shows_error = ERROR.match(block.printed or "") is not None
    try:
        with warnings.catch_warnings():
            if shows_error:
                warnings.simplefilter("ignore", matchrec.warnings.SkipTargetWarning)
            return format_first_rows(matchrec.sql(spark, block.code), limit=100)
    except matchrec.MatchRecognizeError as error:
        if not shows_error:
            raise
        return f"{error}\n"


def run_command(line: str, *, fails: bool) -> str:
    """Return the output of a `matchrec` command. `.ci/run` runs the lines that set up.

    Args:
        line: the command.
        fails: whether it ends with exit code 1. Its output then includes its messages.
    """
    if SET_UP.fullmatch(line):
        return ""
    program, *arguments = shlex.split(line.removeprefix(".venv/bin/"))
    if (program, *arguments[:1]) == ("python", "-m"):
        benchmark = ROOT.joinpath(*arguments[1].split("."))
        assert benchmark.parent.name == "benchmarks", f"who runs `{line}`?"
        assert benchmark.is_dir() or benchmark.with_suffix(".py").is_file(), f"no {benchmark}"
        return ""
    assert program == "matchrec", f"who runs `{line}`?"
    if arguments == ["warm"]:
        return ""
    result = invoke(*arguments)
    assert result.exit_code == int(fails), result.stderr
    return result.output if fails else result.stdout


# The pages whose blocks cannot run in a session of Spark, and the reason.
NOT_ON_SPARK = {
    "docs/how-to/other_clients.md": "`serve` needs a Connect server, and the session has none"
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_do_what_they_say(
    page: Path, tables: SparkSession, pytestconfig: pytest.Config
) -> None:
    reason = NOT_ON_SPARK.get(str(page.relative_to(ROOT)))
    if reason is not None and pytestconfig.getoption("--on") == "spark":
        pytest.skip(reason)
    names: dict[str, Any] = {"__name__": "__main__"}
    with enter_temporary_clone():
        for block in read_blocks(page):
            printed = run_block(block, tables, names)
            if block.printed is None:
                continue
            if pytestconfig.getoption("--update"):
                rewrite(page, block, printed)
            else:
                assert strip_lines(printed) == strip_lines(block.printed), block.code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_can_be_pasted_at_the_prompt_of_python(page: Path) -> None:
    """At the prompt, an empty line ends a statement such as `with`, and nothing else does."""
    for block in read_blocks(page):
        if block.language == "python":
            entered: list[str] = []
            for line in [*block.code.splitlines(), ""]:
                entered.append(line)
                if compile_command("\n".join(entered), symbol="single") is not None:
                    entered.clear()
            assert not entered, block.code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_files_that_do_not_run_compile(page: Path) -> None:
    for name, code in read_files(page).items():
        if name.endswith(".py"):
            compile(code, name, "exec")


# The pages with text blocks that are not the output of a block, and how many they have.
SHOWN_ONLY = {
    "docs/how-to/dbt.md": 1,  # the output of dbt: see tests/live/dbt_check.py
    "docs/how-to/tables.md": 1,  # the output of a stream from Delta, which the tests do not have
    "docs/how-to/tuning.md": 2,  # a session with Spark's own settings; `matchrec warm`
    "docs/how-to/warnings.md": 1,  # a warning of Sail: see tests/spark/test_time_zones.py
}


def test_every_text_block_is_what_another_block_prints() -> None:
    counts = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        printed = [block.printed for block in read_blocks(page) if block.printed is not None]
        blocks = BLOCK.finditer(remove_commands(remove_entries(text)))
        shown = [
            block["code"]
            for block in blocks
            if block["language"] == "text" and block["title"] is None
        ]
        only_shown = [block_text for block_text in shown if block_text not in printed]
        if only_shown:
            counts[str(page.relative_to(ROOT))] = len(only_shown)
    assert counts == SHOWN_ONLY


def rewrite(page: Path, block: Block, printed: str) -> None:
    """Write the output of a block into the text block after it."""
    text = page.read_text(encoding="utf-8")
    begin = text.index(
        "```text\n", text.index(f"```{block.language}\n{block.code}") + len(block.code)
    )
    old = f"```text\n{block.printed}```"
    if text[begin:].startswith(old):  # otherwise a block with the same code has rewritten it
        lines = "".join(f"{line}\n" for line in strip_lines(printed))
        new = f"{text[:begin]}```text\n{lines}```{text[begin + len(old) :]}"
        page.write_text(new, encoding="utf-8")


def strip_lines(text: str) -> list[str]:
    """Return lines without trailing blanks."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


@pytest.mark.parametrize("name", matching.PICTURES)
def test_picture_of_matching_is_as_it_is_drawn(name: str) -> None:
    picture = (matching.IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    assert picture == matching.draw(matching.PICTURES[name])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_in_plain_english(page: Path) -> None:
    prose = " ".join(CODE.sub("", page.read_text(encoding="utf-8")).split())
    excerpts = [
        prose[max(match.start() - 60, 0) : match.end()] for match in NOT_PLAIN.finditer(prose)
    ]
    assert excerpts == [], "say who does what: subject, verb, object"


def test_no_page_installs_from_an_index_without_a_release() -> None:
    by_name = re.compile(r"pip install[^\n`]*[\s'\"]matchrec(?![\w./*-])")
    sources = (ROOT / "matchrec").glob("**/*.py")
    for page in (*PAGES, *sources):
        assert by_name.search(page.read_text(encoding="utf-8")) is None, page
    readme = [block for block in read_blocks(ROOT / "README.md") if block.language == "sh"]
    for line in "".join(block.code for block in readme).splitlines():
        assert SET_UP.fullmatch(line) or line.startswith(".venv/bin/"), line


def test_readme_has_the_two_lines_and_ci_runs_one_of_them() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    lines = [line for line in readme if SET_UP.fullmatch(line)]
    assert [line.split("/")[-1] for line in lines] == ["matchrec demo", "pytest -q -n 2 --on spark"]
    # The demo installs pyspark-client and the tests pyspark, which overwrite each other's files.
    environments = [line.split()[3] for line in lines]
    assert environments == [".venv-demo", ".venv"]
    pattern = r"grep -E '(.+)' README\.md"
    command = re.search(pattern, (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert command is not None
    assert [line for line in readme if re.search(command[1], line)] == [lines[1]]


def test_readme_is_short_and_says_which_version_it_is_of() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.+)"$', project, re.M)
    assert version is not None
    assert f"Version {version[1]}," in readme
    words = [word for word in CODE.sub("", readme).split() if re.search(r"\w", word)]
    assert len(words) <= 600


def list_sections(page: Path) -> list[str]:
    """Return the text of each section of a page, without its code blocks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.split(r"^## ", text, flags=re.M)


def find_missing_figures(page: Path, section: str) -> list[str]:
    """Return the figures of a section that are on none of the pages that the section links to."""
    linked = [page.parent / link for link in LINK.findall(section)]
    texts = [path.read_text(encoding="utf-8") for path in linked if path.suffix in (".md", "")]
    known_figures = {figure for text in texts for figure in FIGURE.findall(text)}
    prose = re.sub(r"\]\([^)]*\)|\d{4}-\d\d-\d\d", "", section)
    return [figure for figure in FIGURE.findall(prose) if figure not in known_figures]


def test_every_figure_of_the_readme_is_on_a_page_that_its_section_links_to() -> None:
    readme = ROOT / "README.md"
    missing = {
        section.splitlines()[0]: find_missing_figures(readme, section)
        for section in list_sections(readme)
    }
    assert not any(missing.values()), missing


@pytest.mark.parametrize("name", ["how_fast", "scaling"])
def test_every_figure_about_speed_is_in_the_lab_report(name: str) -> None:
    page = ROOT / "docs" / "explanation" / f"{name}.md"
    link = "[Benchmarks](../contributing/benchmarks.md)"
    missing = [find_missing_figures(page, f"{section} {link}") for section in list_sections(page)]
    assert not any(missing), missing


def read_measurements(table: str, columns: list[int]) -> set[tuple[str, ...]]:
    """Return the query and the chosen columns of each line with figures in a Markdown table."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if re.match(r"\|.*\d", line)
    ]
    return {tuple(line[column] for column in columns) for line in lines}


def test_the_short_table_of_capacity_has_lines_of_the_long_one() -> None:
    docs = ROOT / "docs"
    page = (docs / "how-to" / "capacity.md").read_text(encoding="utf-8")
    short = page[page.index("| query") : page.index("| column")]
    report = (docs / "contributing" / "benchmarks.md").read_text(encoding="utf-8")
    long = report[report.index("<!-- capacity -->") : report.index("<!-- end capacity -->")]
    chosen = read_measurements(short, [0, 1, 2, 3, 4])
    assert len(chosen) == 3
    largest = "".join(line for line in long.splitlines(keepends=True) if "| 16,000,000 |" in line)
    assert chosen <= read_measurements(largest, [0, 2, 3, 4, 6])


def test_ci_runs_in_full_what_has_a_larger_form() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert 'MATCHREC_FULL=1 .venv/bin/pytest -q -n 2 -m "larger and not bench"' in text
