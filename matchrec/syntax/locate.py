"""Parse a query text: find its clauses and windows.

`parse_sql` returns a `QueryNode`. Each MATCH_RECOGNIZE clause and each row pattern window of the
query is a `Site`: a clause and the relation to which it applies. Sites are evaluated one after the
other:

    WITH q AS (SELECT * FROM t MATCH_RECOGNIZE (...))     site 0, over t
    SELECT * FROM q MATCH_RECOGNIZE (...)                 site 1, over a q in which a view has
                                                          replaced site 0

For each site,

1. `query_pieces.write_relation_query` writes the query that computes the rows of its relation,
2. other packages match these rows,
3. a `plan.templates.View` of the result replaces the relation and the clause in all later texts.

Once every site is evaluated, `query_pieces.write_outer_query` writes the rest of the user's query.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from matchrec.errors.kinds import locate_errors
from matchrec.errors.sql import query as errors
from matchrec.errors.surface import current_surface
from matchrec.plan.words import is_reserved
from matchrec.source import Origin, Source, Span
from matchrec.syntax.clause_locations import ClauseLocation, find_clauses
from matchrec.syntax.clause_tokens import cut_out_tokens
from matchrec.syntax.from_relations import find_alias
from matchrec.syntax.grammar import read_clause
from matchrec.syntax.misspelt_clauses import (
    CLAUSE_NAME,
    reject_clause_without_parenthesis,
    reject_misspelt_clause,
    reject_misspelt_statement,
    reject_misspelt_word_after_clause,
    reject_window_without_pattern,
)
from matchrec.syntax.nodes import Site
from matchrec.syntax.parameter_values import walk_parameters
from matchrec.syntax.relation import find_relation
from matchrec.syntax.result_use import find_renames, find_result_use
from matchrec.syntax.stored_text import reject_stored_text, stores_text
from matchrec.syntax.text_edits import TextEdit
from matchrec.syntax.tokenize import read_query_tokens
from matchrec.syntax.tokens import (
    BLANKS,
    SPARK,
    DataFrameName,
    QuoteDialect,
    Token,
    TokenSequence,
    find_data_frames,
)
from matchrec.syntax.with_clauses import WithClause, find_visible_definitions, find_with_clauses

if TYPE_CHECKING:
    from matchrec.syntax.pattern_windows import PatternWindow
    from matchrec.syntax.window_blocks import WindowBlock


@dataclass(frozen=True, slots=True)
class QueryNode:
    """A parsed query: its text, and all parts of it that must be replaced."""

    source: Source
    # The clauses and windows, in the order of evaluation.
    sites: tuple[Site, ...] = ()
    # Each `{name}` outside clauses for which a DataFrame was passed, from left to right.
    frames: tuple[DataFrameName, ...] = ()
    # Every positional parameter `?` of a query with sites, from left to right. When the text is cut
    # up, their order is lost, so `name_parameter(span)` replaces the `?` at `span`.
    positional_parameters: tuple[Span, ...] = ()
    # Whether Spark stores the text of the outer query and reads it again later, as for CREATE
    # TEMPORARY VIEW and CACHE TABLE. The views that fill its holes must then stay.
    keeps_text: bool = False
    # The SELECTs with row pattern windows.
    blocks: tuple[WindowBlock, ...] = ()
    # Replacements for texts that Sail reads differently. `parse_sql` leaves this empty; the module
    # `spellings` finds them.
    spellings: tuple[TextEdit, ...] = ()


# The start of a clause, to search for it in the string of EXECUTE IMMEDIATE, which is one token.
_CLAUSE_START = re.compile(rf"\bMATCH_RECOGNIZE{BLANKS}\(", re.IGNORECASE)

# The words of a row pattern window, for a quick test of texts of any product.
_WINDOW_WITH_PATTERN = re.compile(
    rf"\b(OVER|WINDOW)\b.*\bPATTERN{BLANKS}\(", re.IGNORECASE | re.DOTALL
)


def parse_sql(
    text: str,
    frames: Collection[str] = (),
    dialect: QuoteDialect = SPARK,
    origin: Origin | None = None,
) -> QueryNode:
    """Parse a query and every clause in it.

    Args:
        text: the query.
        frames: the names of the DataFrames that were passed for `{name}`.
        dialect: how double quotes are read.
        origin: the text from which `text` was translated; None if it was not translated.

    Raises:
        MatchRecognizeError: a clause is malformed, misspelt or in the wrong place.

    >>> query = parse_sql("SELECT * FROM t q MATCH_RECOGNIZE (PATTERN (A B)) AS m WHERE m.x > 1")
    >>> [(site.relation_alias, query.source.text_at(site.relation)) for site in query.sites]
    [('q', 't q')]
    """
    source = Source(text, origin)
    with locate_errors(source):
        reject_misspelt_clause(text)
        if not may_have_clause(text):
            errors.reject_other_language(text)
            reject_window_without_pattern(text)
            if not frames:
                return QueryNode(source)
        return _parse_tokens(source, read_query_tokens(text, dialect), frames)


def _parse_tokens(source: Source, tokens: TokenSequence, frames: Collection[str]) -> QueryNode:
    """Parse the tokens of a query. The arguments and the errors are as for `parse_sql`."""
    clauses = find_clauses(tokens)
    windows = _find_windows(tokens)
    passed_frames = tuple(_find_passed_frames(tokens, frames, (*clauses, *windows)))
    if not clauses and not windows:
        reject_clause_without_parenthesis(tokens)
        if tokens.has_keys(0, "EXECUTE", "IMMEDIATE") and _CLAUSE_START.search(source.text):
            raise errors.clause_in_execute_immediate(tokens.span(0, 2))
        return QueryNode(source, frames=passed_frames, keeps_text=stores_text(tokens))
    reject_misspelt_statement(tokens)
    blocks = _read_blocks(tokens, windows, clauses)
    sites = _read_sites(tokens, clauses, blocks)
    _reject_several_statements(tokens)
    return QueryNode(
        source,
        sites=sites,
        frames=passed_frames,
        positional_parameters=find_positional_parameters(tokens, sites),
        keeps_text=stores_text(tokens),
        blocks=blocks,
    )


def _find_windows(tokens: TokenSequence) -> tuple[PatternWindow, ...]:
    """Return the row pattern windows of a query.

    Most queries have no windows, so the module that finds them is imported only if it may be
    needed.
    """
    if not _WINDOW_WITH_PATTERN.search(tokens.text):
        return ()
    from matchrec.syntax.pattern_windows import find_pattern_windows

    return find_pattern_windows(tokens)


def _read_blocks(
    tokens: TokenSequence, windows: Sequence[PatternWindow], clauses: Sequence[ClauseLocation]
) -> tuple[WindowBlock, ...]:
    """Return the SELECTs with row pattern windows, as `window_blocks.read_blocks` does.

    The module `window_blocks` is imported only if the query has windows.

    Raises:
        MatchRecognizeError: a window is malformed or in the wrong place.
    """
    if not windows:
        return ()
    from matchrec.syntax.window_blocks import read_blocks

    return read_blocks(tokens, windows, clauses)


def may_have_clause(text: str) -> bool:
    """Return whether a text has the words of a clause or of a row pattern window.

    This is a quick test, because most texts have neither.
    """
    return bool(CLAUSE_NAME.search(text) or _WINDOW_WITH_PATTERN.search(text))


def has_clause(tokens: TokenSequence) -> bool:
    """Return whether a query has a clause or a row pattern window, which may be malformed.

    Raises:
        MatchRecognizeError: the parentheses of a query with a clause do not pair up, or a clause or
            a window is in the wrong place.
    """
    return bool(find_clauses(tokens) or _find_windows(tokens))


def _reject_several_statements(tokens: TokenSequence) -> None:
    """Raise an error if a statement follows a semicolon: a query may be only one statement."""
    semicolon = find_second_statement(tokens)
    if semicolon is not None:
        raise errors.several_statements(semicolon)


def find_second_statement(tokens: TokenSequence) -> Span | None:
    """Return the semicolon before the second statement of a text; None if there is none."""
    for index in tokens.indices_by_key.get(";", ()):
        is_outside_brackets = tokens.enclosing_openings[index] < 0
        if is_outside_brackets and tokens.key(index + 1) not in (";", ""):
            return tokens[index].span
    return None


def find_positional_parameters(
    tokens: TokenSequence, sites: tuple[Site, ...] = ()
) -> tuple[Span, ...]:
    """Return the positional parameters `?`, from left to right.

    A `?` in PATTERN is a quantifier, unless it is a bound in the braces of a quantifier.
    """
    indices = tokens.indices_by_key.get("?", ())
    if not indices:
        return ()
    patterns = [site.clause.pattern.span for site in sites]
    bounds = {
        parameter.span for site in sites for parameter in walk_parameters(site.clause.pattern)
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
) -> Iterator[DataFrameName]:
    """Yield each `{name}` outside clauses for which a DataFrame was passed.

    Args:
        tokens: the tokens of the query.
        names: the names of the DataFrames that the user passed.
        clauses: the clauses and windows of the query.

    Raises:
        MatchRecognizeError: no DataFrame was passed for a name, and the query has a clause. For a
            query without a clause, Spark raises its own error.
    """
    if "{" not in tokens.text:
        return
    clause_spans = [tokens.span(clause.opening, clause.closing + 1) for clause in clauses]
    for frame in find_data_frames(tokens.tokens):
        if any(clause_span.contains(frame.span) for clause_span in clause_spans):
            continue
        if frame.name in names:
            yield frame
        elif clause_spans:
            known_names = (*names, *current_surface().notebook_frames)
            raise errors.missing_dataframe(frame.span, name=frame.name, frames=known_names)


def _read_sites(
    tokens: TokenSequence, clauses: Sequence[ClauseLocation], blocks: Sequence[WindowBlock]
) -> tuple[Site, ...]:
    """Return the sites of clauses and windows in the order of evaluation.

    Sites are evaluated in the order of their ends. If a clause and a window end together, the
    clause comes first, because the sort is stable.
    """
    with_clauses = tuple(find_with_clauses(tokens))
    sites = list(_read_clause_sites(tokens, clauses, with_clauses))
    for block in blocks:
        sites += block.walk_sites(with_clauses)
    sites.sort(key=lambda site: site.replaced.end)
    return tuple(replace(site, index=index) for index, site in enumerate(sites))


def _read_clause_sites(
    tokens: TokenSequence, clauses: Sequence[ClauseLocation], with_clauses: tuple[WithClause, ...]
) -> Iterator[Site]:
    """Yield the site of each clause; `_read_sites` sets their indices.

    The text around every clause is checked before the first clause is read, so that errors about
    this text come before errors inside clauses.
    """
    for clause in clauses:
        reject_stored_text(tokens, clause)
    for clause in clauses:
        _reject_wrong_alias(tokens, clause)
    relations = [find_relation(tokens, clause) for clause in clauses]
    for clause, relation in zip(clauses, relations, strict=True):
        relation_span = tokens.span(relation.start, clause.word)
        alias = find_alias(tokens, clause.closing + 1)
        yield Site(
            index=0,
            clause=read_clause(cut_out_tokens(tokens, clause.opening, clause.closing)),
            relation_alias=relation.name,
            relation=relation_span,
            replaced=relation_span.to(tokens[clause.closing].span),
            with_clauses=find_visible_definitions(tokens, with_clauses, relation.start),
            result_use=find_result_use(tokens, relation.start, clause.closing, alias),
            result_alias=None if alias is None else _find_result_name(tokens[alias]),
            renames=find_renames(tokens, alias),
        )


def _reject_wrong_alias(tokens: TokenSequence, clause: ClauseLocation) -> None:
    """Raise an error if the alias of a clause is in double quotes, or a misspelt keyword."""
    alias = find_alias(tokens, clause.closing + 1)
    if alias is None:
        return
    if tokens[alias].is_string_in_double_quotes:
        raise errors.alias_in_double_quotes(tokens[alias].span, text=tokens[alias].text)
    reject_misspelt_word_after_clause(tokens, alias)


def _find_result_name(alias: Token) -> str | None:
    """Return the name of a clause's rows in the query; None if the alias is a reserved word."""
    if alias.is_word and is_reserved(alias.text):
        return None
    return alias.name
