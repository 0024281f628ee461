"""Hooks of mkdocs: add pages to the site that are not in `docs`, adapt all pages, check the result.

Files outside of `docs` have the same path in the site as in the project. Files in `docs` are one
folder higher, so links into `docs` or out of it are changed. The first page of each tab, such as
*Guides*, is the section of that name on the home page.

`tests/pages/lexers.py` colours queries, also in Python strings.

A search finds pages for users before pages for developers, see `find_search_boost`, and sections
by words that they do not contain, see `SEARCH_WORDS`. `tests/pages/search.py` checks searches.

The build fails if the menu and the home page have different orders, if a file is missing, or if a
long signature is on one line: mkdocstrings does not break lines without a formatter.
"""

from __future__ import annotations

import html
import json
import os
import posixpath
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent.parent
OUTSIDE_FILES = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "sql_examples/**/README.md",
    "sql_examples/*.sql",
    "tests/README.md",
    "tests/cases/**/README.md",
)
# The first pages of tabs, each with the section of the home page that it shows.
SECTIONS_OF_HOME = {
    "tutorial/README.md": "Get started",
    "how-to/README.md": "Guides",
    "reference/README.md": "Reference",
    "explanation/README.md": "Understand",
}
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
    "contributing/how_it_works/": ["architecture", "internals"],
    "explanation/compare/": ["alternatives"],
    "explanation/compare/#applyinpandas": ["udf"],
    "explanation/how_fast/": ["performance", "benchmark", "benchmarks", "speed"],
    "explanation/how_matching_works/": ["regex", "regular expression", "backtracking"],
    "explanation/how_matching_works/#after-a-match": ["overlapping matches"],
    "explanation/how_matching_works/#running-and-final": ["RUNNING FINAL"],
    "explanation/how_matching_works/#which-match-is-preferred": ["greedy reluctant lazy"],
    "explanation/memory/": ["out of memory", "OOM"],
    "explanation/streams/": ["state"],
    "how-to/backtest/": ["backtest"],
    "how-to/capacity/": ["cluster size"],
    "how-to/command_line/": ["cli", "terminal", "shell", "command line", "csv", "json", "parquet"],
    "how-to/cookbook/": ["recipes"],
    "how-to/cookbook/sensor_faults/": ["anomaly", "anomalies"],
    "how-to/cookbook/sessions/": ["sessionize", "sessionization"],
    "how-to/cookbook/streaks/": ["consecutive rows", "n times in a row"],
    "how-to/count_matches/": ["count matches", "counts"],
    "how-to/dbt/": ["dbt"],
    "how-to/dialects/": ["dialect"],
    "how-to/faq/#how-do-i": ["filter matches", "WHERE"],
    "how-to/faq/#is-it-safe-to-pass-user-input": ["SQL injection"],
    "how-to/faq/#there-are-no-rows": ["no matches", "none", "empty result"],
    "how-to/few_keys/": ["skew", "few partitions", "large partition"],
    "how-to/install/": ["requirements"],
    "how-to/jobs/": ["spark-submit"],
    "how-to/jobs/#test-the-job": ["tests"],
    "how-to/migration/window_functions/": ["lag", "lead", "rolling windows", "window functions"],
    "how-to/notebooks/": ["jupyter"],
    "how-to/notebooks/#interrupt-a-cell": ["cancel"],
    "how-to/plots/": ["chart", "visualize", "visualization", "picture", "plot"],
    "how-to/rule_sets/": ["rules", "rule set", "alerts"],
    "how-to/streaming/": ["kafka", "structured streaming"],
    "how-to/streaming/#set-a-watermark": ["late events", "late data"],
    "how-to/sweep/": ["grid search", "thresholds"],
    "how-to/tables/": ["delta", "iceberg"],
    "how-to/tuning/": ["optimize", "optimization"],
    "how-to/upgrading/": ["breaking changes", "changelog"],
    "how-to/warnings/": ["warnings"],
    "how-to/why/": ["why", "debug", "debugging"],
    "how-to/windows/#add-values-of-the-match-that-contains-the-row": ["unmatched rows"],
    "reference/aggregate_functions/": ["sum avg count min max", "sums", "percentile"],
    "reference/api/": ["API", "type hints"],
    "reference/clause/": ["CTE"],
    "reference/clause/#after-match-skip": [
        "AFTER MATCH SKIP",
        "SKIP PAST LAST ROW",
        "SKIP TO NEXT ROW",
        "SKIP TO",
    ],
    "reference/clause/#names": ["reserved words"],
    "reference/clause/#partition-by-and-order-by": [
        "PARTITION BY",
        "ORDER BY",
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
    "reference/compiled_functions/": ["numba", "cache"],
    "reference/errors/": ["exceptions"],
    "reference/event_selection/": ["SKIP TILL NEXT MATCH", "SKIP TILL ANY MATCH", "ALL MATCHES"],
    "reference/explain/": ["explain", "automaton"],
    "reference/expressions/": ["PREV NEXT FIRST LAST", "CLASSIFIER", "MATCH_NUMBER"],
    "reference/functions/#numbers-and-times": ["timezone", "time zone"],
    "reference/limits/": ["unsupported"],
    "reference/longest_and_first/": ["first match only", "only one match"],
    "reference/matched_rows/": ["MATCHED_ROWS"],
    "reference/not/": ["NOT in PATTERN", "not followed by"],
    "reference/partial_matches/": ["timeout", "SHOW TIMEOUT MATCHES", "SHOW UNFINISHED MATCHES"],
    "reference/spark_and_sail/": ["Sail", "Spark or Sail", "Sail vs Spark"],
    "reference/sql/#parameters": ["parameters", "args"],
    "reference/support/#get-help": ["license", "bug"],
    "reference/support/#versions": ["version of Python", "version of Spark"],
    "reference/within/": ["WITHIN INTERVAL", "time limit"],
    "tutorial/getting_started/": ["tutorial", "quickstart", "first query", "example"],
}
# First words of error codes that few titles contain.
WORDS_OF_CODES = ("unknown", "missing", "malformed", "misspelt", "unclosed", "unexpected")
SEARCH_WORD_BOOST = 2000.0  # the theme gives titles a boost of 1000
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
BUILT_LINK = re.compile(r'\s(?:href|src)="(?!\w+:|/|#)([^"#?]+)')
CODE = re.compile(r"(`+).+?\1")  # in a line
SIGNATURE = re.compile(r'<div class="[^"]*doc-signature[^"]*">(.*?)</div>', re.S)
TAG = re.compile(r"<[^>]+>")
PICTURE = re.compile(r'<img [^>]*src="([^"]+)"[^>]*>')
WIDTH = 100


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Return the configuration with the version, and in GitHub Actions the repository.

    Also let Pygments use lexers that know the clause.
    """
    sys.path.insert(0, str(ROOT))
    from tests.pages.lexers import use_lexers

    sys.path.remove(str(ROOT))
    use_lexers()
    config.copyright = f"matchrec {version('matchrec')}"
    repository = os.environ.get("GITHUB_REPOSITORY")
    if repository is not None:
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        config.repo_url = f"{server}/{repository}"
        config.repo_name = repository
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of `docs`, files outside of it, and the first pages of tabs."""
    for path in (path for pattern in OUTSIDE_FILES for path in sorted(ROOT.glob(pattern))):
        uri = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    for uri, title in SECTIONS_OF_HOME.items():
        files.append(
            File.generated(config, uri, content=read_section(title, posixpath.dirname(uri)))
        )
    return files


def read_section(title: str, folder: str) -> str:
    """Return a section of the home page as a page of a folder: its headings are one level higher.

    Args:
        title: the title of the section.
        folder: the folder of the page in the site.
    """
    home = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    section = home.partition(f"\n## {title}\n")[2].partition("\n## ")[0]

    def move_link(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", link[1])).removeprefix("docs/")
        return posixpath.relpath(target, folder)

    text = LINK.sub(move_link, section.replace("\n### ", "\n## "))
    return f"# {title}\n{text}"


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> None:
    """Raise if the home page links to pages in another order than the menu."""
    menu = [page.file.src_uri for page in nav.pages]
    lists = (ROOT / "docs" / "README.md").read_text(encoding="utf-8").partition("\n## ")[2]
    paths = (posixpath.normpath(f"docs/{link}") for link in LINK.findall(lists))
    linked = list(dict.fromkeys(path.removeprefix("docs/") for path in paths))
    for link, page in zip(linked, (uri for uri in menu if uri in linked), strict=True):
        if link != page:
            raise PluginError(f"docs/README.md links to {link} where the menu has {page}")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with links to the files in the site, and entries from docstrings."""
    sys.path.insert(0, str(ROOT))
    from tests.pages.reference import uncover_entries

    sys.path.remove(str(ROOT))
    uri = page.file.src_uri
    if uri in SECTIONS_OF_HOME:
        page.meta["search"] = {"exclude": True}  # the home page has the same text
    else:
        page.meta["search"] = {"boost": find_search_boost(uri)}
    if uri == "README.md":
        page.meta["hide"] = ["navigation"]  # the home page is alone in its tab
    if uri in SECTIONS_OF_HOME:
        page.meta["description"] = f"{SECTIONS_OF_HOME[uri]}: a list of the pages of matchrec."
    else:
        page.meta["description"] = find_description(markdown) or config.site_description
    generated = page.file.generated_by is not None
    folder = posixpath.dirname(uri if generated else f"docs/{uri}")

    def move_link(link: re.Match[str]) -> str:
        """Return the target of a link, seen from the page in the site."""
        target = posixpath.normpath(posixpath.join(folder, link[1])).removeprefix("docs/")
        if files.get_file_from_path(target) is None:
            return link[1]
        return posixpath.relpath(target, posixpath.dirname(uri) or ".")

    return unescape_pipes(LINK.sub(move_link, uncover_entries(markdown)))


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with a link around each picture, which opens its file."""
    return PICTURE.sub(r'<a class="picture" href="\1">\g<0></a>', content)


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


def find_description(markdown: str) -> str:
    """Return the first sentence of a page as plain text, or "" if it begins with something else.

    >>> find_description("# A page\\n\\nIt has [a *link*](b.md) and `code`. More.\\n")
    'It has a link and code.'
    >>> find_description("# A page\\n\\n| a table |\\n")
    ''
    """
    first, _, after = markdown.lstrip().partition("\n\n")
    paragraph = " ".join((after if first.startswith("#") else first).partition("\n\n")[0].split())
    if not paragraph[:1].isalpha() and paragraph[:1] not in ("*", "`", "["):
        return ""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", paragraph)
    return re.split(r"(?<=[.?])\s", re.sub(r"[*`]", "", text), maxsplit=1)[0]


def unescape_pipes(markdown: str) -> str:
    """Return a page whose tables have `|` in code without the backslash that GitHub needs.

    The site would show the backslash.
    """
    lines = markdown.split("\n")
    is_code = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif line.startswith("|") and not is_code:
            lines[number] = CODE.sub(lambda code: code[0].replace(r"\|", "|"), line)
    return "\n".join(lines)


def on_post_build(config: MkDocsConfig) -> None:
    """Add `SEARCH_WORDS`; raise if a page asks for a missing file or has a long signature."""
    add_search_words(Path(config.site_dir, "search", "search_index.json"))
    for page in Path(config.site_dir).glob("**/index.html"):
        text = page.read_text(encoding="utf-8")
        for link in set(BUILT_LINK.findall(text)):
            if not (page.parent / link).exists():
                raise PluginError(f"{page} asks for {link}, which is not there")
        for signature in SIGNATURE.findall(text):
            if measure_longest_line(signature) > WIDTH:
                raise PluginError(f"{page} has a signature in one line: install ruff or black")


def add_search_words(path: Path) -> None:
    """Add `SEARCH_WORDS` to the index of the search, as tags. They count more than titles.

    Also let the index contain words such as *not* and *all*, which are keywords here.
    """
    index = json.loads(path.read_text(encoding="utf-8"))
    index["config"]["fields"]["tags"]["boost"] = SEARCH_WORD_BOOST
    index["config"]["pipeline"] = []  # without the filter of stop words
    entries = {entry["location"]: entry for entry in index["docs"]}
    for location, words in (SEARCH_WORDS | find_words_of_codes(index)).items():
        if location not in entries:
            raise PluginError(f"SEARCH_WORDS names {location}, which is not there")
        entries[location].setdefault("tags", []).extend(words)
    path.write_text(json.dumps(index), encoding="utf-8")


def find_words_of_codes(index: dict[str, Any]) -> dict[str, list[str]]:
    """Return the `WORDS_OF_CODES` that each section of *Error codes* has, by its location."""
    return {
        entry["location"]: [word for word in WORDS_OF_CODES if f"<code>{word}-" in entry["text"]]
        for entry in index["docs"]
        if entry["location"].startswith("reference/error_codes/#")
    }


def measure_longest_line(signature: str) -> int:
    """Return the number of characters that a reader sees in the longest line of some HTML."""
    return max(map(len, html.unescape(TAG.sub("", signature)).splitlines()), default=0)
