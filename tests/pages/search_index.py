"""Complete the index of the site's search, so that a search finds what a reader looks for.

1. `find_search_boost` puts pages for users before pages for developers.
2. `SEARCH_WORDS` finds sections by words that they do not contain.
3. Each error code has an entry, so a search for it shows its meaning and leads to its row.
4. Names such as `Query.plot`, `plot()`, `Options.sort`, `--partition-by`, `matchrec run` and
   `bound-too-large` find the one section that describes them. The search splits words at spaces,
   dots and hyphens, so an entry has its names in a field of their own, with underscores instead.
   `search_query.js` writes what a reader types in the same way.

`tests/pages/search.py` checks searches.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
PAGE_OF_CODES = "reference/error_codes/"
SHARED_OPTIONS = "reference/command_line/#options-of-several-commands"
# Folders and pages for developers of matchrec, and pages that answer most questions of users.
PAGES_OF_DEVELOPERS = ("contributing/", "tests/", "CHANGELOG.md", "CONTRIBUTING.md")
PAGES_WITH_ANSWERS = (
    "tutorial/",
    "how-to/faq.md",
    "how-to/install.md",
    "explanation/how_matching_works.md",
    "reference/event_selection.md",
    "reference/expressions.md",
    "reference/longest_and_first.md",
    "reference/not.md",
)
PAGE_OF_KEYWORDS = "reference/clause.md"
# Words for which a reader searches, by the section that answers them. The search finds every word
# that begins with a word of the query, so `cli` finds "client". It adds up the scores of all words
# of the query. So ALL ROWS PER MATCH leads to the section that has all four of them here, although
# each is in many titles.
SEARCH_WORDS = {
    "CONTRIBUTING/": ["contribute", "pull request"],
    "contributing/how_it_works/": ["architecture", "internals"],
    "explanation/compare/": ["alternatives"],
    "explanation/compare/#applyinpandas": ["udf"],
    "explanation/how_fast/": ["complexity", "performance", "benchmark", "benchmarks", "speed"],
    "explanation/how_matching_works/": ["regex", "regular expression", "backtracking"],
    "explanation/how_matching_works/#after-a-match": ["overlapping matches"],
    "explanation/how_matching_works/#running-and-final": ["RUNNING FINAL"],
    "explanation/how_matching_works/#which-match-is-preferred": ["greedy reluctant lazy"],
    "explanation/scaling/": ["scalability", "scale", "large data"],
    "explanation/memory/": ["out of memory", "OOM", "spill disk"],
    "explanation/streams/": ["state"],
    "how-to/backtest/": ["backtest"],
    "how-to/capacity/": ["cluster size"],
    "how-to/command_line/": ["cli", "terminal", "shell", "command line", "csv", "json", "parquet"],
    "how-to/cookbook/": ["recipes"],
    "how-to/cookbook/sensor_faults/": ["anomaly", "anomalies"],
    "how-to/cookbook/sessions/": ["sessionize", "sessionization"],
    "how-to/cookbook/streaks/": ["consecutive rows", "n times in a row"],
    "how-to/cookbook/v_and_w_shapes/": ["double bottom", "V-shape", "W-shape"],
    "how-to/count_matches/": ["count matches", "counts"],
    "how-to/dbt/": ["dbt"],
    "how-to/dialects/": ["dialect"],
    "how-to/faq/#how-do-i": ["filter matches", "WHERE"],
    "how-to/faq/#is-it-safe-to-pass-user-input": ["SQL injection"],
    "how-to/faq/#there-are-no-rows": ["no matches", "none", "empty result", "match not found"],
    "how-to/few_keys/": ["skew", "few partitions", "large partition", "large partitions"],
    "how-to/install/": ["install", "requirements", "operating system Windows"],
    "how-to/jobs/": ["spark-submit"],
    "how-to/jobs/#test-the-job": ["tests"],
    "how-to/migration/databricks/": ["on Databricks"],
    "how-to/migration/flink/": ["vs Flink"],
    "how-to/migration/window_functions/": ["lag", "lead", "rolling windows", "window functions"],
    "how-to/notebooks/": ["jupyter"],
    "how-to/notebooks/#interrupt-a-cell": ["cancel"],
    "how-to/plots/": ["chart", "visualize", "visualization", "picture", "plot"],
    "how-to/rule_sets/": ["rules", "rule set", "alerts"],
    "how-to/streaming/": ["out of order events", "kafka", "structured streaming"],
    "how-to/streaming/#set-a-watermark": ["late events", "late data"],
    "how-to/sweep/": ["grid search", "thresholds"],
    "how-to/tables/": ["delta", "iceberg"],
    "how-to/tuning/": ["slow query", "optimize", "optimization"],
    "how-to/upgrading/": ["breaking changes", "changelog"],
    "how-to/warnings/": ["warnings"],
    "how-to/why/": ["why no match", "match", "why", "debug", "debugging"],
    "how-to/windows/#add-values-of-the-match-that-contains-the-row": ["unmatched rows"],
    "reference/aggregate_functions/": [
        "median",
        "array_agg",
        "sum avg count min max",
        "sums",
        "percentile",
        "cumulative sum",
    ],
    "reference/api/": ["API", "type hints"],
    "reference/clause/": ["CTE"],
    "reference/clause/#after-match-skip": [
        "AFTER MATCH SKIP",
        "SKIP PAST LAST ROW",
        "SKIP TO NEXT ROW",
        "SKIP TO",
    ],
    "reference/clause/#names": ["reserved words", "case sensitive"],
    "reference/clause/#partition-by-and-order-by": [
        "PARTITION BY",
        "ORDER BY",
        "partition_by",
        "order_by",
        "NULLS FIRST NULLS LAST",
        "ASC DESC",
    ],
    "reference/clause/#pattern": ["patterns", "PERMUTE", "exclusion", "quantifiers", "alternation"],
    "reference/clause/#rows-per-match": [
        "ONE ROW PER MATCH",
        "ALL ROWS PER MATCH",
        "SHOW EMPTY MATCHES",
        "WITH UNMATCHED ROWS",
    ],
    "reference/command_line/#messages-and-progress": ["logging", "log messages"],
    "reference/compiled_functions/": ["numba", "cache"],
    "reference/errors/": ["exceptions"],
    "reference/event_selection/": [
        "SKIP TILL NEXT MATCH",
        "SKIP TILL ANY MATCH",
        "ALL MATCHES",
        "all matches",
    ],
    "reference/explain/": ["explain", "automaton"],
    "reference/expressions/": [
        "PREV NEXT FIRST LAST",
        "CLASSIFIER",
        "MATCH_NUMBER",
        "OVER in DEFINE",
    ],
    "reference/functions/#numbers-and-times": ["timezone", "time zone"],
    "reference/limits/": ["unsupported"],
    "reference/longest_and_first/": ["first match only", "only one match", "top n"],
    "reference/matched_rows/": ["MATCHED_ROWS"],
    "reference/not/": [
        "missing event",
        "NOT in PATTERN",
        "not followed by",
        "absence of event",
        "absent event",
        "forbidden",
    ],
    "reference/partial_matches/": ["timeout", "SHOW TIMEOUT MATCHES", "SHOW UNFINISHED MATCHES"],
    "reference/query/#matchrec.Query.toPandas": ["toPandas"],
    "reference/spark_and_sail/": ["Sail", "Spark or Sail", "Sail vs Spark"],
    "reference/sql/#parameters": [
        "parametrize",
        "bind variables",
        "parameters in a query",
        "parameters",
        "args",
    ],
    "reference/support/#get-help": ["license", "licence", "bug"],
    "reference/support/#versions": [
        "version of Python",
        "version of Spark",
        "Spark 3.5",
        "PySpark 3.5",
    ],
    "reference/support/#what-may-change": ["roadmap", "plans"],
    "reference/within/": ["WITHIN INTERVAL", "time limit", "time between events"],
    "how-to/faq/#python_version_mismatch-or-a-spark-worker-lacks-the-python-package-matchrec": [
        "ModuleNotFoundError",
        "No module named matchrec",
    ],
    "reference/options/": ["config", "configuration", "settings"],
    "how-to/faq/#the-first-query-is-slow": ["first query is slow"],
    "how-to/tables/#write-the-matches": ["save result", "write result"],
    "how-to/other_clients/": ["Java API"],
    "tutorial/getting_started/": ["tutorial", "quickstart", "first query", "example"],
}
# First words of error codes that few titles contain.
WORDS_OF_CODES = ("unknown", "missing", "malformed", "misspelt", "unclosed", "unexpected")
SEARCH_WORD_BOOST = 2000.0  # the theme gives titles a boost of 1000
NAME_BOOST = 1e9
CODE_BOOST = 0.001  # a code is found by its whole name; its words are titles of other sections
CODE_ROW = re.compile(r'^\| <a id="([a-z0-9-]+)"></a>`\1` \| (.*) \|$', re.M)
EXAMPLE_LINK = re.compile(r" \(\[example\]\(.*?\)\)")
ATTRIBUTE = re.compile(r"<li><code>(\w+)</code> \(")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")

Entry = dict[str, Any]  # an entry of the index: location, title, text, and perhaps tags and boost


def find_search_boost(uri: str) -> float:
    """Return by what a search multiplies the score of a page: more than 1 puts the page first.

    >>> find_search_boost("how-to/faq.md"), find_search_boost("contributing/design.md")
    (2.0, 0.0005)
    """
    if uri.startswith(PAGES_OF_DEVELOPERS):
        return 0.0005
    if uri == PAGE_OF_KEYWORDS:
        return 5.0
    if uri == "reference/error_codes.md":
        return 1.6
    return 2.0 if uri.startswith(PAGES_WITH_ANSWERS) else 1.0


def complete_index(site: Path) -> None:
    """Add words, error codes and names to the index of a built site.

    Also let the index contain words such as *not* and *all*, which are keywords here, and let the
    worker of the search rewrite what a reader types.
    """
    path = site / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    config = index["config"]
    config["pipeline"] = []  # without the filter of stop words
    config["fields"]["tags"]["boost"] = SEARCH_WORD_BOOST
    config["fields"]["names"] = {"boost": NAME_BOOST}
    entries = index["docs"]
    add_search_words(entries)
    add_names(entries)
    entries.extend(list_codes())
    path.write_text(json.dumps(index), encoding="utf-8")
    (worker,) = (site / "assets" / "javascripts" / "workers").glob("search.*.js")
    rewriting = (Path(__file__).parent / "search_query.js").read_text(encoding="utf-8")
    worker.write_text(rewriting + worker.read_text(encoding="utf-8"), encoding="utf-8")


def add_search_words(entries: list[Entry]) -> None:
    """Add `SEARCH_WORDS` and `WORDS_OF_CODES` to entries, as tags. They count more than titles.

    Raises:
        ValueError: a section of `SEARCH_WORDS` does not exist.
    """
    entries_by_location = {entry["location"]: entry for entry in entries}
    for location, words in SEARCH_WORDS.items():
        if location not in entries_by_location:
            raise ValueError(f"SEARCH_WORDS names {location}, which does not exist")
        entries_by_location[location].setdefault("tags", []).extend(words)
    for location, entry in entries_by_location.items():
        if location.startswith(f"{PAGE_OF_CODES}#"):
            words = [word for word in WORDS_OF_CODES if f"<code>{word}-" in entry["text"]]
            entry.setdefault("tags", []).extend(words)


def add_names(entries: list[Entry]) -> None:
    """Add the names to entries that describe a public object or options of the command line."""
    (shared,) = (entry for entry in entries if entry["location"] == SHARED_OPTIONS)
    shared_options = set(OPTION.findall(shared["text"]))
    for entry in entries:
        page, _, anchor = entry["location"].partition("#")
        if anchor.startswith("matchrec."):
            names = list_names(anchor, entry["text"])
        elif entry is shared:
            names = sorted(shared_options)
        elif page == "reference/command_line/":
            options = set(OPTION.findall(entry["text"])) - shared_options
            names = sorted(options | {anchor} if anchor.startswith("matchrec-") else options)
        else:
            continue
        entry["names"] = [join_name(name) for name in names]


def list_names(path: str, text: str) -> list[str]:
    """Return the names of a public object and, if it is a class, of its attributes.

    >>> list_names("matchrec.Query.plot", "")
    ['plot()', 'matchrec.Query.plot', 'Query.plot']
    >>> list_names("matchrec.Options", "<li><code>sort</code> (<code>Sort</code>): the sorter")
    ['Options()', 'matchrec.Options', 'matchrec.Options.sort', 'Options.sort']
    """
    own_name = path.rpartition(".")[2]
    paths = [path]
    if own_name[0].isupper():
        paths += [f"{path}.{attribute}" for attribute in ATTRIBUTE.findall(text)]
    shorter_paths = [path.removeprefix("matchrec.") for path in paths]
    return [f"{own_name}()", *paths, *(path for path in shorter_paths if "." in path)]


def join_name(name: str) -> str:
    """Return a name as one word of the index, which begins like no word that a reader types.

    >>> join_name("Query.plot"), join_name("--partition-by")
    ('_query_plot', '___partition_by')
    """
    return "_" + re.sub(r"\W", "_", name).lower()


def list_codes() -> list[Entry]:
    """Return an entry for each error code."""
    page = (ROOT / "docs" / "reference" / "error_codes.md").read_text(encoding="utf-8")
    return [
        {
            "location": f"{PAGE_OF_CODES}#{code}",
            "title": code,
            "text": f"<p>{EXAMPLE_LINK.sub('', meaning)}</p>",
            "names": [join_name(code)],
            "boost": CODE_BOOST,
        }
        for code, meaning in CODE_ROW.findall(page)
    ]
