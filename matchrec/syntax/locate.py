"""Parse a query text: find its clauses and windows, and cut the text up for Spark.

`parse_sql` returns a `QueryNode`. Each MATCH_RECOGNIZE clause and each row pattern window in it is
a `Site`: a clause and the relation that it applies to. The sites are evaluated one after the other.
For each one

1. `write_relation_query` writes the query that computes the rows of its relation, and
   `write_relation` what follows FROM in other queries over these rows,
2. the rows are matched outside of this module, and
3. a hole, a `View`, replaces relation and clause in all later queries.

`write_outer_query` writes what remains of the user's query once every site is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sqlglot import TokenType

from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import current_surface
from matchrec.errors.misspellings import count_misspelt_letters, find_keyword
from matchrec.errors.sql import query as errors
from matchrec.errors.sql.clause import misspelt_pattern, pattern_without_parentheses
from matchrec.errors.sql.tokens import strange_sign
from matchrec.plan.text import (
    Replacement,
    Template,
    View,
    is_reserved,
    join_texts,
    name_parameter,
    quote_name,
    replace_spans,
    separate_words,
)
from matchrec.source import Origin, Source, Span
from matchrec.syntax.from_relations import find_alias
from matchrec.syntax.grammar import cut_out_tokens, read_clause
from matchrec.syntax.nodes import Site
from matchrec.syntax.relation import (
    ClauseLocation,
    WithClause,
    find_clauses,
    find_part_at,
    find_relation,
    find_renames,
    find_use,
    find_visible,
    find_with_clauses,
    reject_stored_text,
    stores_text,
)
from matchrec.syntax.row_pattern import list_parameters
from matchrec.syntax.spellings import Spelling
from matchrec.syntax.tokens import (
    SPARK,
    Dialect,
    TokenSequence,
    find_frames,
    read_sqlglot_tokens,
    read_tokens,
)

if TYPE_CHECKING:
    from matchrec.syntax.pattern_windows import PatternWindow
    from matchrec.syntax.window_blocks import Block


@dataclass(frozen=True, slots=True)
class QueryNode:
    """A parsed query: its text, its clauses and windows, and whatever else must be replaced."""

    source: Source
    # The clauses and windows, in the order of evaluation.
    sites: tuple[Site, ...] = ()
    # Name and span of each `{name}` outside of clauses for which a DataFrame was passed, from left
    # to right.
    frames: tuple[tuple[str, Span], ...] = ()
    # Every positional parameter `?` of a query with sites, from left to right. In pieces of the
    # query, `name_parameter(span)` replaces the one at `span`, because their order is lost when the
    # text is cut up.
    positional_parameters: tuple[Span, ...] = ()
    # Whether Spark stores the text of the outer query and reads it again later, as for CREATE
    # TEMPORARY VIEW and CACHE TABLE. The views that fill its holes must then stay.
    keeps_text: bool = False
    # The SELECTs with row pattern windows.
    blocks: tuple[Block, ...] = ()
    # Replacements for what Sail reads differently.
    spellings: tuple[Spelling, ...] = ()


_CLAUSE_NAME = re.compile(r"\bMATCH_RECOGNIZE\b", re.IGNORECASE)
_CLAUSE_START = re.compile(r"\bMATCH_RECOGNIZE\s*\(", re.IGNORECASE)
# Words before a parenthesis that may be MATCH_RECOGNIZE, misspelt: see `_is_near_clause_name`.
_MAYBE_MISSPELT = re.compile(
    r"\b(MATCH[-_\s]*RE[A-Z0-9_]*|[A-Z]{3,8}[-_\s]*[A-Z0-9]{4,12}_?)(?=\s*\()", re.IGNORECASE
)
_MOST_WRONG_LETTERS = 3  # in a misspelt MATCH_RECOGNIZE
_WINDOW_WITH_DEFINE = re.compile(
    r"\b(OVER|WINDOW)\b.*\bDEFINE\s+\w+\s+AS\b", re.IGNORECASE | re.DOTALL
)
_WINDOW_WITH_PATTERN = re.compile(r"\b(OVER|WINDOW)\b.*\bPATTERN\s*\(", re.IGNORECASE | re.DOTALL)


def parse_sql(
    text: str, frames: Collection[str] = (), dialect: Dialect = SPARK, origin: Origin | None = None
) -> QueryNode:
    """Parse a query and every clause in it.

    Args:
        text: the query.
        frames: the names of the DataFrames that were passed for `{name}`.
        dialect: how double quotes are read.
        origin: the text from which `text` was translated, if it was.

    Raises:
        MatchRecognizeError: a clause is malformed, misspelt or in the wrong place.

    >>> query = parse_sql("SELECT * FROM t q MATCH_RECOGNIZE (PATTERN (A B)) AS m WHERE m.x > 1")
    >>> [(site.relation_alias, query.source.text_at(site.relation)) for site in query.sites]
    [('q', 't q')]
    """
    source = Source(text, origin)
    with locate_errors(source):
        _reject_misspelt_clause(text)
        if not may_have_clause(text):
            errors.reject_other_language(text)
            _reject_window_without_pattern(text)
            if not frames:
                return QueryNode(source)
        tokens = read_tokens(text, dialect)
        clauses = find_clauses(tokens)
        windows = _find_windows(tokens)
        passed_frames: tuple[tuple[str, Span], ...] = ()
        if "{" in text:
            passed_frames = tuple(_find_passed_frames(tokens, frames, (*clauses, *windows)))
        if not clauses and not windows:
            _reject_clause_without_parenthesis(tokens)
            if tokens.has_keys(0, "EXECUTE", "IMMEDIATE") and _CLAUSE_START.search(text):
                raise errors.clause_in_execute_immediate(tokens.span(0, 2))
            return QueryNode(source, frames=passed_frames, keeps_text=stores_text(tokens))
        blocks: tuple[Block, ...] = ()
        if windows:
            from matchrec.syntax.window_blocks import read_blocks

            blocks = read_blocks(tokens, windows, clauses)
        sites = _read_sites(tokens, clauses, blocks)
        _reject_several_statements(tokens)
        return QueryNode(
            source,
            sites=sites,
            frames=passed_frames,
            positional_parameters=_find_positional_parameters(tokens, sites),
            keeps_text=stores_text(tokens),
            blocks=blocks,
        )


def _find_windows(tokens: TokenSequence) -> tuple[PatternWindow, ...]:
    """Return the row pattern windows of a query.

    Their reader is imported only if there may be one, because most queries have none.
    """
    if not _WINDOW_WITH_PATTERN.search(tokens.text):
        return ()
    from matchrec.syntax.pattern_windows import find_pattern_windows

    return find_pattern_windows(tokens)


def may_have_clause(text: str) -> bool:
    """Return whether a text has the words of a clause or of a row pattern window.

    This is a quick test, because most texts have neither.
    """
    return bool(_CLAUSE_NAME.search(text) or _WINDOW_WITH_PATTERN.search(text))


def _reject_several_statements(tokens: TokenSequence) -> None:
    """Raise an error if a statement follows a semicolon, because no call takes more than one."""
    for index in tokens.indices_by_key.get(";", ()):
        is_outside_brackets = tokens.around[index] < 0
        if is_outside_brackets and tokens.key(index + 1) not in (";", ""):
            raise errors.several_statements(tokens[index].span)


def _reject_misspelt_clause(text: str) -> None:
    """Raise an error if MATCH_RECOGNIZE is misspelt before parentheses with PATTERN.

    Both `MATCH RECOGNIZE (` and `MATCH_RECOGNISE (` are found.
    """
    if "PATTERN" not in text.upper():
        return
    candidates = [
        candidate
        for candidate in _MAYBE_MISSPELT.finditer(text)
        if _is_near_clause_name(candidate[0])
    ]
    if not candidates:
        return
    tokens = read_tokens(text)
    for opening, closing in tokens.pairs.items():
        name_end = tokens[opening - 1].span.end
        for candidate in candidates:
            if candidate.end() != name_end:
                continue
            level = tokens.walk_level(opening + 1, closing)
            if any(find_part_at(tokens, index) == "PATTERN" for index in level):
                raise errors.misspelt_clause(Span(*candidate.span()), text=candidate[0])


def _reject_window_without_pattern(text: str) -> None:
    """Raise an error for a window with DEFINE whose PATTERN is misspelt or has no parentheses."""
    if not _WINDOW_WITH_DEFINE.search(text):
        return
    tokens = read_tokens(text)
    for opening, closing in tokens.pairs.items():
        level = list(tokens.walk_level(opening + 1, closing))
        has_define = any(
            tokens.key(index) == "DEFINE" and tokens.key(index + 2) == "AS" for index in level
        )
        if not has_define:
            continue
        for index in level:
            token = tokens[index]
            if token.key == "PATTERN":
                raise pattern_without_parentheses(token.span)
            if tokens.key(index + 1) == "(" and find_keyword(token.key) == "PATTERN":
                where = "a row pattern window"
                raise misspelt_pattern(token.span, where=where, text=token.text)


def _reject_clause_without_parenthesis(tokens: TokenSequence) -> None:
    """Raise an error for MATCH_RECOGNIZE before the parts of a clause that no parentheses enclose.

    The query has no clause; a column or a table with this name is not an error.
    """
    keys = [token.key for token in tokens.tokens]
    if "MATCH_RECOGNIZE" not in keys:
        return
    word = keys.index("MATCH_RECOGNIZE")
    if word + 1 < len(tokens) and tokens[word + 1].is_strange:  # such as a wide parenthesis
        next_token = tokens[word + 1]
        raise strange_sign(next_token.text, "the query", next_token.span)
    has_pattern = any(tokens.has_keys(index, "PATTERN", "(") for index in range(word, len(keys)))
    has_parts = has_pattern and not {"MEASURES", "DEFINE"}.isdisjoint(keys[word:])
    if not has_parts:
        return
    before, after = tokens.key(word - 1), tokens.key(word + 1)
    if before == "." and after == "(":
        raise errors.dot_before_clause(tokens[word - 1].span)
    is_name = after == "(" or before in (".", "AS")
    if not is_name:
        raise errors.clause_without_parenthesis(tokens[word].span)


def _is_near_clause_name(text: str) -> bool:
    """Return whether a text is MATCH_RECOGNIZE with a few letters wrong."""
    if _CLAUSE_NAME.fullmatch(text):
        return False
    letters = re.sub(r"[-_\s]", "", text.upper())
    if letters.startswith("MATCHRE"):
        return True
    return (
        count_misspelt_letters(letters, "MATCHRECOGNIZE", _MOST_WRONG_LETTERS)
        <= _MOST_WRONG_LETTERS
    )


def _find_positional_parameters(tokens: TokenSequence, sites: tuple[Site, ...]) -> tuple[Span, ...]:
    """Return the positional parameters `?`, from left to right.

    A `?` in PATTERN is a quantifier, except for one that is the bound of a quantifier.
    """
    indices = tokens.indices_by_key.get("?", ())
    if not indices:
        return ()
    patterns = [site.clause.pattern.span for site in sites]
    bounds = {
        parameter.span for site in sites for parameter in list_parameters(site.clause.pattern)
    }
    parameters = []
    for index in indices:
        span = tokens[index].span
        in_pattern = any(pattern and pattern.contains(span) for pattern in patterns)
        if span in bounds or not in_pattern:
            parameters.append(span)
    return tuple(parameters)


def _find_passed_frames(
    tokens: TokenSequence, names: Collection[str], clauses: Sequence[ClauseLocation | PatternWindow]
) -> Iterator[tuple[str, Span]]:
    """Yield name and span of each `{name}` outside of clauses for which a DataFrame was passed.

    Args:
        tokens: the tokens of the query.
        names: the names of the DataFrames that the user passed.
        clauses: the clauses and windows of the query.

    Raises:
        MatchRecognizeError: no DataFrame was passed for a name, and the query has a clause. A
            query without one is Spark's, which then raises its own error.
    """
    clause_spans = [tokens.span(clause.opening, clause.closing + 1) for clause in clauses]
    for name, span in find_frames(tokens.tokens):
        if any(clause_span.contains(span) for clause_span in clause_spans):
            continue
        if name in names:
            yield name, span
        elif clause_spans:
            known_names = (*names, *current_surface().frames)
            raise errors.missing_dataframe(span, name=name, frames=known_names)


def _read_sites(
    tokens: TokenSequence, clauses: Sequence[ClauseLocation], blocks: Sequence[Block]
) -> tuple[Site, ...]:
    """Return the sites of clauses and windows in the order of evaluation.

    A site is evaluated once those that end before it are. If a clause and a window end together,
    the clause comes first, because the sort is stable.
    """
    with_clauses = tuple(find_with_clauses(tokens))
    sites = list(_read_clause_sites(tokens, clauses, with_clauses))
    for block in blocks:
        sites += block.list_sites(with_clauses)
    sites.sort(key=lambda site: site.replaced.end)
    return tuple(replace(site, index=index) for index, site in enumerate(sites))


def _read_clause_sites(
    tokens: TokenSequence, clauses: Sequence[ClauseLocation], with_clauses: tuple[WithClause, ...]
) -> Iterator[Site]:
    """Yield the site of each clause; `_read_sites` sets their indices.

    The location of every clause is checked before the first clause is read, so that an error about
    a location comes before errors inside of clauses.
    """
    for clause in clauses:
        reject_stored_text(tokens, clause)
    aliases = [find_alias(tokens, clause.closing + 1) for clause in clauses]
    names = [_read_alias(tokens, alias) for alias in aliases]
    relations = [find_relation(tokens, clause) for clause in clauses]
    for clause, alias, name, relation in zip(clauses, aliases, names, relations, strict=True):
        relation_span = tokens.span(relation.start, clause.word)
        yield Site(
            index=0,
            clause=read_clause(cut_out_tokens(tokens, clause.opening, clause.closing)),
            relation_alias=relation.name,
            relation=relation_span,
            replaced=relation_span.to(tokens[clause.closing].span),
            with_clauses=find_visible(tokens, with_clauses, relation.start),
            use=find_use(tokens, relation.start, clause.closing, alias),
            result_alias=name,
            renames=find_renames(tokens, alias),
        )


def _read_alias(tokens: TokenSequence, alias: int | None) -> str | None:
    """Return the name that a clause's rows have in the query; None if they have none.

    Args:
        tokens: the tokens of the query.
        alias: the index of the token after the clause that may be its alias, if there is one.

    Raises:
        MatchRecognizeError: the alias is a string in double quotes.
    """
    if alias is None:
        return None
    token = tokens[alias]
    if token.in_double_quotes:
        raise errors.alias_in_double_quotes(token.span, text=token.text)
    if token.is_word and is_reserved(token.text):
        return None
    return token.name


# Cut the query's text up: holes for DataFrames replace relations and clauses, all other text stays
# as the user wrote it.
#
# FROM t q MATCH_RECOGNIZE (...) m JOIN d    →    FROM □ m JOIN d


def make_hole(text: str, view: View) -> Template:
    """Return a hole for `view` that takes as many lines and columns as `text`.

    If `text` has three lines or more, the hole goes into the longest inner one. So it is not in
    the lines that Spark prints of the text before or after it, and a name that is too long for its
    line moves nothing else.

    >>> make_hole("t MATCH_RECOGNIZE (\\n  PATTERN (A)\\n)", View("m"))
    ('                   \\n', View(name='m'), '\\n ')
    """
    blank_lines = [" " * len(line) for line in text.split("\n")]
    inner = range(1, len(blank_lines) - 1)
    if inner:
        chosen = max(inner, key=lambda index: len(blank_lines[index]))
        before = "".join(f"{line}\n" for line in blank_lines[:chosen])
        after = "".join(f"\n{line}" for line in blank_lines[chosen + 1 :])
        return before, View(view.name, len(blank_lines[chosen])), after
    first_line, *other_lines = blank_lines
    # Blanks around the hole keep its name apart from the words beside it.
    after = "".join(f"\n{line}" for line in other_lines) or " "
    blanks = len(" ") if other_lines else len("  ")
    return " ", View(view.name, max(0, len(first_line) - blanks)), after


def write_at_end(text: str, *words: str) -> str:
    """Blank out a text, and write words at its end without changing the length of a line.

    A blank stays after the last word if there is room for it. Words that do not fit into the last
    line are written into the lines before it.

    Raises:
        ValueError: the text has no room for the words.

    >>> write_at_end("SELECT x FROM ", "FROM"), write_at_end("FROM\\n", "FROM")
    ('         FROM ', 'FROM\\n')
    >>> write_at_end("SELECT\\n  x\\nFROM ", "SELECT", "*", "FROM")
    'SELECT\\n  *\\nFROM '
    """
    lines = [" " * len(line) for line in text.split("\n")]
    index = len(lines) - 1
    end = len(lines[-1])
    for word in reversed(words):
        while end < len(word):
            if index == 0:
                raise ValueError(f"no room for {word}")
            index -= 1
            end = len(lines[index])
        is_at_end_of_text = index == len(lines) - 1 and end == len(lines[-1])
        start = end - len(word)
        if is_at_end_of_text and start > 0:
            start -= 1  # for the blank after the last word
        line = lines[index]
        lines[index] = f"{line[:start]}{word}{line[start + len(word) :]}"
        end = start
    return "\n".join(lines)


# Spans of the query, each with the pieces that replace it.
Replacements = tuple[tuple[Span, Template], ...]
QueryPiece = str | View | Replacement


def write_outer_query(query: QueryNode) -> Template:
    """Return the query with a hole for each clause that is not part of another one's relation.

    Everything else keeps its line and column. The alias of a clause and its column list stay,
    because they follow the hole.
    """
    whole_text = Span(0, len(query.source.text))
    return join_texts(_replace_with_layout(query, whole_text, len(query.sites)))


def write_relation_query(query: QueryNode, site: Site) -> Template:
    """Return the query that computes all rows of a site's relation.

    The user's text keeps its line and column, so that Spark's errors point at it:
    `SELECT ... FROM t MATCH_RECOGNIZE (...)` becomes `   SELECT*FROM t`. A query that begins with
    its FROM has no room for SELECT. It becomes `FROM t SELECT *`, which Spark reads; no other
    engine reads a query that begins with its FROM anyway.
    """
    text = query.source.text
    end = 0  # up to here, the text is written
    pieces: list[QueryPiece] = []
    for depth, visible in enumerate(site.with_clauses):
        pieces.append(write_at_end(text[end : visible.start], "(" if depth else ""))
        pieces.extend(_replace_with_layout(query, visible, site.index))
        end = visible.end
    closing = ")" * (len(site.with_clauses) - 1)
    rows = tuple(_replace_with_layout(query, site.relation, site.index))
    is_window = site.calls is not None
    if is_window:
        return join_texts((*pieces, *_write_select_all(query, site, end), *rows, closing))
    before = text[end : site.relation.start]
    try:
        select = write_at_end(before, "SELECT", "*", "FROM")
    except ValueError:
        from_ = write_at_end(before, "FROM")
        return join_texts((*pieces, from_, *rows, " SELECT *", closing))
    return join_texts((*pieces, select, *rows, closing))


def _write_select_all(query: QueryNode, site: Site, start: int) -> Iterator[QueryPiece]:
    """Yield `SELECT * FROM` with the layout of a SELECT with windows.

    Args:
        query: the query.
        site: a window of the SELECT.
        start: where the text begins that was not written yet.
    """
    text = query.source.text
    head = _find_block(query, site).head
    yield write_at_end(text[start : head.start], "")
    head_text = text[head.start : head.end].rstrip()
    items = head_text[len("SELECT ") :]
    blank = "".join("\n" if character == "\n" else " " for character in items)
    yield f"{'SELECT'.ljust(len('SELECT '))}{blank[:-1]}*"
    yield text[head.start + len(head_text) : site.relation.start]


def _find_replacements(query: QueryNode, before: int) -> Iterator[tuple[Span, Template]]:
    """Yield the spans that are replaced, each with pieces that are as large as its text.

    These are evaluated sites, calls over windows, windows, stars in a SELECT with windows, frames,
    spellings and positional parameters.

    Args:
        query: the query.
        before: sites with this index and later ones are not evaluated yet, and stay.
    """
    for block in query.blocks:
        last = [site for site in query.sites if site.replaced == block.rows][-1]
        if last.index < before:
            yield from _find_block_replacements(query, block, last)
    for site in query.sites:
        is_clause = site.calls is None
        if is_clause and site.index < before:
            yield site.replaced, make_hole(query.source.text_at(site.replaced), site.view)
    for name, span in query.frames:
        yield span, (View(name, span.end - span.start),)
    for span, text in query.spellings:
        yield span, (Replacement(text, span.end - span.start),)
    for parameter in query.positional_parameters:
        yield parameter, (Replacement(f":{name_parameter(parameter)}", len("?")),)


def _find_block_replacements(
    query: QueryNode, block: Block, last: Site
) -> Iterator[tuple[Span, Template]]:
    """Yield the spans to replace in a SELECT after the last of its windows has been evaluated."""
    hole = make_hole(query.source.text_at(block.rows), last.view)
    if block.alias:
        hole = (*hole, Replacement(_write_alias(block), 0))
    yield block.rows, hole
    qualifier = "" if block.alias is None else f"{quote_name(block.alias)}."
    all_columns = ", ".join(f"{qualifier}{quote_name(name)}" for name in block.columns)
    for span, text in block.list_edits():
        yield span, (Replacement(text, span.end - span.start),)
    for star in block.stars:
        yield star, (Replacement(all_columns, star.end - star.start),)


def _find_block(query: QueryNode, site: Site) -> Block:
    """Return the SELECT of a window."""
    return next(block for block in query.blocks if block.rows == site.relation)


def _write_alias(block: Block) -> str:
    """Return ` AS alias` for the rows of a SELECT with windows; "" if its relation has no name."""
    return "" if block.alias is None else f" AS {quote_name(block.alias)}"


def write_relation(query: QueryNode, site: Site) -> Template:
    """Return the relation of a site, as it follows FROM in queries of ours."""
    if site.reads_previous_window:
        previous_view = query.sites[site.index - 1].view
        return previous_view, _write_alias(_find_block(query, site))
    return _replace_compactly(query, site.relation, site.index)


def write_with_clauses(query: QueryNode, site: Site) -> tuple[Template, ...]:
    """Return the WITH clauses that are visible at a site, outermost first."""
    return tuple(_replace_compactly(query, visible, site.index) for visible in site.with_clauses)


def fill_frames(text: str, frames: Collection[str]) -> Template:
    """Return an expression with a hole for each `{name}` for which a DataFrame was passed.

    >>> fill_frames("x > (SELECT max(y) FROM {d}) AND s = '{d}'", ["d"])
    ('x > (SELECT max(y) FROM ', View(name='d'), ") AND s = '{d}'")
    """
    if not frames:
        return (text,)
    holes = tuple(
        (span, (View(name),))
        for name, span in find_frames(read_tokens(text).tokens)
        if name in frames
    )
    return join_texts(_replace_in_text(text, Span(0, len(text)), holes))


def _replace_compactly(query: QueryNode, span: Span, before: int) -> Template:
    """Return the text at `span` with its replacements, without the blanks that pad them.

    `before` is as for `_find_replacements`.
    """
    replacements = tuple(
        (hole, _drop_layout(pieces)) for hole, pieces in _find_replacements(query, before)
    )
    return join_texts(_replace_in_text(query.source.text, span, replacements))


def _drop_layout(pieces: Template) -> Template:
    """Return the pieces of a replacement without those that only pad it."""
    kept: list[str | View] = []
    for piece in pieces:
        content = piece.text if isinstance(piece, Replacement) else piece
        if not isinstance(content, str) or content.strip():
            kept.append(content)
    return tuple(kept) or ("",)


def _replace_with_layout(query: QueryNode, span: Span, before: int) -> Iterator[QueryPiece]:
    """Yield the text at `span` with replacements as large as the text that was there.

    `before` is as for `_find_replacements`.
    """
    return _replace_in_text(query.source.text, span, tuple(_find_replacements(query, before)))


def _replace_in_text(text: str, span: Span, replaced: Replacements) -> Iterator[QueryPiece]:
    """Yield the text at `span` with the replacements of the outermost spans in it."""
    inside = ((hole, pieces) for hole, pieces in replaced if span.contains(hole))
    return separate_words(replace_spans(Source(text).text_at, span, inside))


_SELECT_FROM = re.compile(
    r"\s*SELECT(?:\s*\*\s*|\s+(?P<names>[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s+)FROM\s*",
    re.IGNORECASE,
)
_ONLY_ALIAS = re.compile(r"\s*(?:(?:AS\s+)?(?P<alias>[A-Za-z_]\w*)\s*)?;?\s*", re.IGNORECASE)
# A comment that is no hint. After a backslash, Spark may go on with the comment in the next line.
_COMMENT = re.compile(r"--[^\n\\]*|/\*(?!\+)(?:[^*]|\*(?!/))*\*/")


class PlainSelect(NamedTuple):
    """A query that only selects columns of a view: `SELECT a, b FROM view AS v`."""

    # The hole for the view.
    view: View
    # The alias of the view, if it has one.
    alias: str | None
    # The names of the columns; None for `*`.
    names: tuple[str, ...] | None


def match_plain_select(text: Template) -> PlainSelect | None:
    """Return the parts of a query that only selects columns of a view; None for other queries.

    >>> match_plain_select(("SELECT * FROM ", View("t"), " AS m"))
    PlainSelect(view=View(name='t'), alias='m', names=None)
    >>> match_plain_select(("SELECT a, b FROM ", View("t"), ""))
    PlainSelect(view=View(name='t'), alias=None, names=('a', 'b'))
    >>> match_plain_select(("SELECT * FROM ", View("t"), " WHERE x"))
    """
    match text:
        case (str(before), View() as view, str(behind)):
            start = _SELECT_FROM.fullmatch(_COMMENT.sub(" ", before))
            end = _ONLY_ALIAS.fullmatch(_COMMENT.sub(" ", behind))
            if start is None or end is None:
                return None
            alias = end["alias"]
            names = None if start["names"] is None else tuple(re.findall(r"\w+", start["names"]))
            words = (*(names or ()), *([] if alias is None else [alias]))
            return PlainSelect(view, alias, names) if all(map(_is_plain_name, words)) else None
    return None


def _is_plain_name(word: str) -> bool:
    """Return whether Spark reads a word as a name under all settings.

    It does so unless the word has a meaning in SQL.
    """
    (token,) = read_sqlglot_tokens(word)
    return token.token_type is TokenType.VAR and not is_reserved(word)


def find_parameters(text: str) -> Iterator[tuple[str, Span]]:
    """Yield name and span of each `:name`.

    The type of a field, as in `a: INT`, looks the same and is yielded too.
    """
    if ":" not in text:
        return
    for colon, name in pairwise(read_sqlglot_tokens(text)):
        if colon.token_type is TokenType.COLON and name.text.isidentifier():
            yield name.text, Span(colon.start, name.end + 1)


def find_first_parameters(text: str) -> dict[str, Span]:
    """Return the name of each `:name` with the span where it is used first.

    >>> find_first_parameters("SELECT x FROM t WHERE x > :low AND y > :low")
    {'low': Span(start=26, end=30)}
    """
    first_spans: dict[str, Span] = {}
    for name, span in find_parameters(text):
        first_spans.setdefault(name, span)
    return first_spans
