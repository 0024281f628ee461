"""The notebooks of docs run in a real kernel, and show the expected results and errors."""

from __future__ import annotations

from pathlib import Path
from threading import Timer
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import KernelManager, start_new_kernel
from jupyter_core.utils import ensure_event_loop
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).parent.parent / "docs" / "notebooks"


def execute(path: Path) -> list[NotebookNode]:
    """Run a notebook in its folder, and return its code cells. Only a marked cell may fail."""
    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=folder).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def read_html(cell: NotebookNode) -> str:
    """Return the HTML that a cell shows."""
    return "".join(output["data"]["text/html"] for output in cell.outputs if "data" in output)


@pytest.mark.slow
def test_first_look() -> None:
    _, _, falls, plot, explained, mistake, pattern = execute(NOTEBOOKS / "first_look.ipynb")
    assert "2008-10-10" in read_html(falls)
    assert read_html(falls).count("<tr") == 5  # the header and four falls
    assert "data:image/png" in read_html(plot)
    assert "4 matches in 3 series" in read_html(plot)
    assert read_html(explained).count("<svg") == 1
    assert "1 to 50 times" in read_html(explained)
    (error,) = mistake.outputs
    assert error.ename == "MatchRecognizePlanError"
    assert "unknown pattern variable `FAL` in MEASURES" in error.traceback[0]
    assert len(error.traceback) < 8
    assert "no rise" in read_html(pattern)


START = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
%load_ext matchrec
"""
LONG = """%%matchrec
SELECT * FROM (
  SELECT a.id FROM range(100000000) AS a JOIN range(100000000) AS b ON hash(a.id, b.id) = 5)
MATCH_RECOGNIZE (ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS id >= 0)
"""
RUNNING = "print(list(spark.sparkContext.statusTracker().getActiveJobsIds()))"
QUERY = """%%matchrec
SELECT * FROM (SELECT id FROM range(3))
MATCH_RECOGNIZE (ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS id >= 0)
"""


def interrupt(manager: KernelManager) -> None:
    """Interrupt a kernel as Ctrl-C does, and leave no event loop open in this thread."""
    try:
        manager.interrupt_kernel()
    finally:
        ensure_event_loop().close()


@pytest.mark.slow
def test_an_interrupted_cell_is_one_line_and_leaves_no_job() -> None:
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        client.execute_interactive(START, timeout=120, output_hook=lambda _: None)
        messages: list[dict[str, Any]] = []

        def run(cell: str) -> dict[str, Any]:
            """Run a cell, and return the reply of the kernel."""
            return client.execute_interactive(cell, timeout=120, output_hook=messages.append)

        Timer(15, interrupt, [manager]).start()
        ended = run(LONG)["content"]
        assert (ended["status"], ended["ename"]) == ("error", "Interrupted")
        (error,) = (message["content"] for message in messages if message["msg_type"] == "error")
        assert len(error["traceback"]) == 1
        assert "interrupted; the jobs of the query are cancelled" in error["traceback"][0]
        texts = [message["content"].get("text", "") for message in messages]
        assert not any("Traceback" in text for text in texts)
        messages.clear()
        run(RUNNING)
        streams = [message for message in messages if message["msg_type"] == "stream"]
        assert [stream["content"]["text"] for stream in streams] == ["[]\n"]
        assert run(QUERY)["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)


NEWCOMER = (
    "%load_ext matchrec\nimport pandas as pd\npdf = pd.DataFrame({'t': [1, 2], 'v': [1, 9]})",
    "%%matchrec --events pdf\nORDER BY t MEASURES LAST(t) AS b PATTERN (S U) DEFINE U AS v > 1",
    """import time, matchrec
with matchrec.progress(spark):
    found = spark.sql("SELECT count(*) AS n FROM range(3)").collect()
    time.sleep(1.5)
found""",
)


@pytest.mark.slow
def test_a_notebook_without_a_session_and_without_widgets() -> None:
    cells = [nbformat.v4.new_code_cell(text) for text in NEWCOMER]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    _, over_pandas, counted = notebook.cells
    assert "2</td>" in read_html(over_pandas)
    notices = "".join(
        output["text"] for output in over_pandas.outputs if output.output_type == "stream"
    )
    assert "in this program: `spark`" in notices
    assert "sent `pdf` to the engine: 2 rows" in notices
    streams = [output for output in counted.outputs if output.output_type == "stream"]
    assert {stream["name"] for stream in streams} == {"stdout"}  # neither a warning nor stage lines
    assert "1 s" in "".join(stream["text"] for stream in streams)


LATER = (
    '''%load_ext matchrec
import matchrec
query = """SELECT * FROM range(3)
MATCH_RECOGNIZE (ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS id >= 0)"""
''',
    "%%matchrec\nSELECT 1",
    "print(spark.sql(query).collect())",
    "spark.stop()\nspark = matchrec.session()\nprint(spark.sql(query).collect())",
    "%unload_ext matchrec\nspark.sql(query).collect()",
)


@pytest.mark.slow
def test_a_session_that_comes_after_the_extension_understands_the_clause() -> None:
    cells = [nbformat.v4.new_code_cell(cell) for cell in LATER]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True).execute()
    *_, first_session, later_session, after_unloading = notebook.cells
    for cell in (first_session, later_session):
        printed = [output["text"] for output in cell.outputs if output.get("name") == "stdout"]
        assert printed == ["[Row(n=3)]\n"]
    # the clause stays in the session, because `matchrec.session` has enabled it there
    (result,) = after_unloading.outputs
    assert result.output_type == "execute_result"
