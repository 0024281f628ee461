"""Print whether DuckDB accepts a query. Runs in an interpreter that has DuckDB, without matchrec.

It reads `{"query": ...}` from standard input, and prints a JSON object: `version`, and `refused`
with the reason if DuckDB does not accept the query.
"""

from __future__ import annotations

import json
import sys

import duckdb


def main() -> None:
    """Read the query, and print the answer."""
    query = json.load(sys.stdin)["query"]
    figures = {"version": duckdb.__version__}
    try:
        duckdb.connect().sql(query)  # parses and plans the query, and does not run it
    except duckdb.Error as error:
        figures["refused"] = str(error).splitlines()[0]
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
