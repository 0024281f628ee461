"""The notebooks of docs run in a real kernel, and say what they are there to say."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).parent.parent / "docs" / "notebooks"


def executed(path: Path) -> list[NotebookNode]:
    """The code cells of a notebook, run in its folder; only a cell that says so may fail."""
    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=folder).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def html(cell: NotebookNode) -> str:
    """What a cell shows."""
    return "".join(one["data"]["text/html"] for one in cell.outputs if "data" in one)


@pytest.mark.slow
def test_first_look() -> None:
    _, _, falls, plot, explained, mistake, pattern = executed(NOTEBOOKS / "first_look.ipynb")
    assert "2008-10-10" in html(falls)
    assert html(falls).count("<tr>") == 5  # the header and four falls
    assert "data:image/png" in html(plot)
    assert "4 matches in 3 series" in html(plot)
    assert html(explained).count("<svg") == 2
    assert "1 to 50 times" in html(explained)
    (error,) = mistake.outputs
    assert error.ename == "MatchRecognizePlanError"
    assert "unknown pattern variable `DWN` in MEASURES" in error.traceback[0]
    assert len(error.traceback) < 8
    assert "no rise" in html(pattern)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    cells = [one for one in nbformat.read(path, as_version=4).cells if one.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
