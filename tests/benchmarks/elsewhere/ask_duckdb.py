"""Print whether DuckDB accepts a query, in an interpreter that has it; knows nothing of matchrec.

Reads `{"query": ...}` from standard input. Prints the version and, if DuckDB does not accept the
query, the reason under `refused`.
"""

from __future__ import annotations

import json
import sys

import duckdb


def main() -> None:
    query = json.load(sys.stdin)["query"]
    figures = {"version": duckdb.__version__}
    try:
        duckdb.connect().sql(query)  # parses and plans the query, and does not run it
    except duckdb.Error as error:
        figures["refused"] = str(error).splitlines()[0]
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
