"""Check that searches on the built site find the right page first.

    python -m tests.pages.search [SITE [QUERY ...]]

`searches.txt` lists the searches. A search for an error code must find the row of the code. With
queries, print the best four results of each query instead.
The searches run in Node.js, with the code that the site runs in a browser.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.pages.search_index import list_codes

FOLDER = Path(__file__).parent
BUILT_SITE = FOLDER.parent.parent / "build" / "site"


def read_searches() -> dict[str, list[str]]:
    """Return the pages that may come first, by the words that a reader types."""
    lines = (FOLDER / "searches.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.rsplit(": ", 1) for line in lines if line and not line.startswith("#"))
    return {query: pages.split() for query, pages in pairs}


def search(site: Path, queries: list[str]) -> dict[str, list[str]]:
    """Return the locations of the sections that each query finds, best first."""
    command = ["node", str(FOLDER / "search.js"), str(site)]
    run = subprocess.run(
        command, input="\n".join(queries), stdout=subprocess.PIPE, text=True, check=True
    )
    answers = map(json.loads, run.stdout.splitlines())
    return dict(zip(queries, answers, strict=True))


def find_misses(site: Path) -> list[str]:
    """Return a line for each search that finds another page first."""
    searches = read_searches()
    misses = []
    for query, locations in search(site, list(searches)).items():
        page = (locations[0].partition("#")[0] or "./") if locations else ""
        if page not in searches[query]:
            misses.append(describe_miss(query, locations))
    rows = {entry["title"]: entry["location"] for entry in list_codes()}
    for code, locations in search(site, list(rows)).items():
        if locations[:1] != [rows[code]]:
            misses.append(describe_miss(code, locations))
    return misses


def describe_miss(query: str, locations: list[str]) -> str:
    """Return a line that says what a query finds."""
    return f"{query}: finds {', '.join(locations[:4]) or 'nothing'}"


def main() -> None:
    """Print the searches that find a wrong page, or the results of the queries of the user."""
    site, *queries = sys.argv[1:] or [str(BUILT_SITE)]
    if queries:
        for query, locations in search(Path(site), queries).items():
            print(f"{query}: {', '.join(locations[:4])}")
    elif shutil.which("node") is None:
        print("node is not installed, so no search was checked")
    elif misses := find_misses(Path(site)):
        sys.exit("\n".join(misses))


if __name__ == "__main__":
    main()
