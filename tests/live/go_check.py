"""Run the Go program of docs/how-to/other_clients.md against a gateway, on Sail and on Spark.

    python -m tests.live.go_check [--engine sail] [--engine spark]

This needs Go, and for the first run a network or a proxy for its modules.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The folder of the Go program, with the output that is expected.
PROGRAM = Path(__file__).parent / "go_client"


def main() -> None:
    """Build the program, and assert that it prints the expected output on each engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", action="append", choices=("sail", "spark"))
    engines = parser.parse_args().engine or ["sail", "spark"]
    with tempfile.TemporaryDirectory() as folder:
        program = build_program(Path(folder))
        for engine in engines:
            with run_gateway(engine) as address:
                output = run(str(program), address)
            expected = (PROGRAM / "output.txt").read_text(encoding="utf-8")
            assert output == expected, output
            print(f"{engine}: as expected")


def build_program(folder: Path) -> Path:
    """Compile the program in a folder, and return its file."""
    source = folder / "source"
    shutil.copytree(PROGRAM, source)
    run("go", "mod", "tidy", cwd=source)
    run("go", "build", "-o", str(folder / "falls"), cwd=source)
    return folder / "falls"


@contextmanager
def run_gateway(engine: str) -> Iterator[str]:
    """Run a gateway in a new process, and yield its address. It is stopped at the end."""
    command = [sys.executable, "-m", "matchrec", "serve", "--engine", engine, "--port", "0"]
    environment = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as program:
        assert program.stderr is not None
        line = next(line for line in program.stderr if line.startswith("matchrec: serving "))
        yield line.split()[2].rstrip(",")
        program.send_signal(signal.SIGINT)


def run(*command: str, cwd: Path | None = None) -> str:
    """Run a program, and return what it prints.

    Raises:
        AssertionError: the program fails.
    """
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


if __name__ == "__main__":
    main()
