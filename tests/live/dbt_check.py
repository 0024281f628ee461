"""A dbt model with MATCH_RECOGNIZE, made a table by dbt-spark in session mode.

    python -m tests.live.dbt_check

Needs Java 17, `dbt-core` and `dbt-spark[session]` beside matchrec. Writes a project of three models
into a folder of its own, runs it with a few lines that users may copy, and reads the tables. The
exit code is that of a failure when dbt fails or a row is not as expected.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

FALLS = """SELECT * FROM {{ ref('ticks') }} MATCH_RECOGNIZE (PARTITION BY sym ORDER BY day
  MEASURES LAST(price) AS low PATTERN (A D+) DEFINE D AS price < PREV(price))
"""
FILES = {
    "dbt_project.yml": "name: falls\nversion: 1.0.0\nprofile: falls\n",
    "profiles.yml": """falls:
  target: here
  outputs:
    here: {type: spark, method: session, schema: falls, host: none}
""",
    "models/ticks.sql": """{{ config(materialized='table') }}
SELECT * FROM VALUES ('X', 1, 90), ('X', 2, 80), ('Y', 1, 10), ('Y', 2, 4) AS t (sym, day, price)
""",
    "models/lows.sql": "{{ config(materialized='table') }}\n" + FALLS,
    "models/all_lows.sql": "{{ config(materialized='incremental') }}\n" + FALLS,
    "run_dbt.py": """import sys

import matchrec
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

spark = SparkSession.builder.enableHiveSupport().getOrCreate()
matchrec.enable(spark)
sys.exit(not dbtRunner().invoke(sys.argv[1:]).success)
""",
    "read.py": """from pyspark.sql import SparkSession

spark = SparkSession.builder.enableHiveSupport().getOrCreate()
for table in ("lows", "all_lows"):
    print(table, sorted(map(tuple, spark.table(f"falls.{table}").collect())))
""",
}
LOWS = [("X", 80), ("Y", 4)]
EXPECTED = [f"lows {LOWS}", f"all_lows {sorted(LOWS * 2)}"]  # a second run adds the rows again


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        for name, text in FILES.items():
            path = project / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for _ in range(2):
            command = [sys.executable, "run_dbt.py", "run", "--profiles-dir", "."]
            if subprocess.run(command, cwd=project, check=False).returncode:
                print("FAILED: dbt")
                return 1
        read = [sys.executable, "read.py"]
        found = subprocess.run(read, cwd=project, check=True, capture_output=True, text=True)
    lines = found.stdout.splitlines()
    right = lines == EXPECTED
    print("\n".join(lines), "right" if right else f"WRONG, expected {EXPECTED}", sep="\n")
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
