"""Hooks of mkdocs: add pages to the site that are not in `docs`, adapt all pages, check the result.

Files outside of `docs` have the same path in the site as in the project. Files in `docs` are one
folder higher, so links into `docs` or out of it are changed. The first page of each tab, such as
*Guides*, is the section of that name on the home page.

`tests/pages/lexers.py` colours queries, also in Python strings.

`tests/pages/search_index.py` lets searches find words, error codes and names.

The build fails if the menu and the home page have different orders, if a file is missing, or if a
long signature is on one line: mkdocstrings does not break lines without a formatter.
"""

from __future__ import annotations

import html
import os
import posixpath
import re
import sys
from importlib.metadata import version
from pathlib import Path

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
# What search engines show below the titles of these pages.
DESCRIPTIONS = {
    "tutorial/README.md": "Install matchrec, and run a first query with MATCH_RECOGNIZE.",
    "how-to/README.md": (
        "Recipes and guides: write, run, debug and speed up queries, and move them from other "
        "products."
    ),
    "reference/README.md": (
        "Every part of the clause, every function, command, option and error code of matchrec."
    ),
    "explanation/README.md": (
        "How matching works, how fast it is, how it scales, and how it compares with other tools."
    ),
}
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
BUILT_LINK = re.compile(r'\s(?:href|src)="(?!\w+:|/|#)([^"#?]+)')
CODE = re.compile(r"(`+).+?\1")  # in a line
SIGNATURE = re.compile(r'<div class="[^"]*doc-signature[^"]*">(.*?)</div>', re.S)
TAG = re.compile(r"<[^>]+>")
PICTURE = re.compile(r'<img [^>]*src="([^"]+)"[^>]*>')
WIDTH = 100


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Return the configuration with the version.

    In GitHub Actions, also add the repository and the address of its site. The address lets
    `404.html` find its styles, and fills `sitemap.xml`.

    Also let Pygments use lexers that know the clause, and other hooks import `tests.pages`.
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
        owner, _, name = repository.partition("/")
        config.site_url = f"https://{owner.lower()}.github.io/{name}/"
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
    from tests.pages.reference import uncover_entries
    from tests.pages.search_index import find_search_boost

    uri = page.file.src_uri
    if uri in SECTIONS_OF_HOME:
        page.meta["search"] = {"exclude": True}  # the home page has the same text
    else:
        page.meta["search"] = {"boost": find_search_boost(uri)}
    if uri == "README.md":
        page.meta["hide"] = ["navigation"]  # the home page is alone in its tab
    description = DESCRIPTIONS.get(uri) or find_description(markdown) or config.site_description
    page.meta["description"] = html.escape(description)  # the theme writes it into an attribute
    # The title is shown in the tab of the browser. It is longer than the label in the menu.
    home_title = "MATCH_RECOGNIZE for Spark"
    page.meta["title"] = home_title if uri == "README.md" else find_title(markdown)
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


def find_title(markdown: str) -> str:
    """Return the heading of a page, for the HTML element `title`.

    >>> find_title("# `NOT` & *more*\\n\\nText.\\n")
    'NOT &amp; more'
    """
    heading = markdown.lstrip().partition("\n")[0].removeprefix("# ")
    return html.escape(re.sub(r"[*`]", "", heading))


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
    """Complete the search; raise if a page asks for a missing file or has a long signature."""
    from tests.pages.search_index import complete_index

    try:
        complete_index(Path(config.site_dir))
    except ValueError as error:
        raise PluginError(str(error)) from error
    for page in Path(config.site_dir).glob("**/index.html"):
        text = page.read_text(encoding="utf-8")
        for link in set(BUILT_LINK.findall(text)):
            if not (page.parent / link).exists():
                raise PluginError(f"{page} asks for {link}, which is not there")
        for signature in SIGNATURE.findall(text):
            if measure_longest_line(signature) > WIDTH:
                raise PluginError(f"{page} has a signature in one line: install ruff or black")


def measure_longest_line(signature: str) -> int:
    """Return the number of characters that a reader sees in the longest line of some HTML."""
    return max(map(len, html.unescape(TAG.sub("", signature)).splitlines()), default=0)
