"""What the site of the documentation has beside `docs`, for mkdocs.

A page lies in the site where it lies in the project, and what is in `docs` a folder higher. Links
are written for the project, so those that lead into `docs` or out of it are written anew. A long
signature has one parameter a line, if mkdocstrings finds a formatter.
"""

from __future__ import annotations

import html
import posixpath
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent.parent
BESIDE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "sql_examples/**/README.md",
    "sql_examples/*.sql",
    "tests/README.md",
    "tests/cases/**/README.md",
)
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
BUILT_LINK = re.compile(r'\s(?:href|src)="(?!\w+:|/|#)([^"#?]+)')
CODE = re.compile(r"(`+).+?\1")  # in a line
SIGNATURE = re.compile(r'<div class="[^"]*doc-signature[^"]*">(.*?)</div>', re.S)
TAG = re.compile(r"<[^>]+>")
WIDTH = 100


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of `docs`, and those beside it that pages lead to."""
    for path in (path for pattern in BESIDE for path in sorted(ROOT.glob(pattern))):
        place = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with links to the files in the site, and without text for a clone."""
    sys.path.insert(0, str(ROOT))
    from tests.pages.reference import without_text

    sys.path.remove(str(ROOT))
    place = page.file.src_uri
    generated = page.file.generated_by is not None
    folder = posixpath.dirname(place if generated else f"docs/{place}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[1])).removeprefix("docs/")
        known = files.get_file_from_path(target) is not None
        return posixpath.relpath(target, posixpath.dirname(place) or ".") if known else link[1]

    return unescape_pipes(LINK.sub(moved, without_text(markdown)))


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
    """Raise where a built page asks for a file that is not there, or has a long signature."""
    for page in Path(config.site_dir).glob("**/index.html"):
        text = page.read_text(encoding="utf-8")
        for link in set(BUILT_LINK.findall(text)):
            if not (page.parent / link).exists():
                raise PluginError(f"{page} asks for {link}, which is not there")
        for signature in SIGNATURE.findall(text):
            if measure_longest_line(signature) > WIDTH:
                raise PluginError(f"{page} has a signature in one line: install ruff or black")


def measure_longest_line(signature: str) -> int:
    """Return how many characters a reader sees in the longest line of some HTML."""
    return max(map(len, html.unescape(TAG.sub("", signature)).splitlines()), default=0)
