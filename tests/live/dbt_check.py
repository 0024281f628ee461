"""Run the dbt project of docs/how-to/dbt.md with dbt-spark in session mode.

    python -m tests.live.dbt_check

This needs Java 17 and the packages that the page installs. The program writes the files of the page
to a temporary folder, runs dbt as often as the page does, and reads the tables. Its exit code is 1
if dbt fails, or if the tables are not those that the page prints.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.pages.blocks import BLOCK, read_files

PAGE = Path(__file__).parent.parent.parent / "docs" / "how-to" / "dbt.md"


def read_expected_output() -> str:
    """Return the tables that the page prints, in its only text block."""
    blocks = BLOCK.finditer(PAGE.read_text(encoding="utf-8"))
    (output,) = [block["code"] for block in blocks if block["language"] == "text"]
    return output


def read_runs() -> list[list[str]]:
    """Return the arguments of each run of dbt on the page, beginning with the program."""
    blocks = BLOCK.finditer(PAGE.read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block["code"].splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("python run_dbt.py ")]


def main() -> int:
    """Run the project, and return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        for name, text in read_files(PAGE).items():
            path = project / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for arguments in read_runs():
            command = [sys.executable, *arguments]
            if subprocess.run(command, cwd=project, check=False).returncode:
                print("FAILED: dbt")
                return 1
        read_tables = [sys.executable, "read.py"]
        process = subprocess.run(
            read_tables, cwd=project, check=True, capture_output=True, text=True
        )
    expected = read_expected_output()
    is_right = process.stdout.strip() == expected.strip()
    print(process.stdout, "right" if is_right else f"WRONG, the page has\n{expected}", sep="\n")
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())
