"""Query text → Query: where its clauses stand and what each applies to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from sqlglot import TokenType

from matchrec.errors.kinds import meant_keyword, misspelt, shown_in
from matchrec.errors.language import current_surface
from matchrec.errors.sql import clause as errors
from matchrec.plan.text import (
    Replacement,
    Template,
    View,
    in_place,
    is_reserved,
    joined_texts,
    parameter_name,
    quoted,
    spaced,
    template,
)
from matchrec.source import Origin, Source, Span
from matchrec.syntax.grammar import cut_out_tokens, read_clause
from matchrec.syntax.nodes import Site
from matchrec.syntax.relation import (
    Cut,
    WithClause,
    find_clauses,
    find_relation,
    find_renames,
    find_use,
    find_visible,
    find_with_clauses,
    keeps_text,
    part_at,
    refuse_stored_text,
)
from matchrec.syntax.row_pattern import parameters_in
from matchrec.syntax.spellings import Spelling
from matchrec.syntax.tokens import (
    SPARK,
    Dialect,
    TokenSequence,
    find_frames,
    read_tokens,
    sqlglot_tokens,
)
from matchrec.syntax.written_relations import find_alias

if TYPE_CHECKING:
    from matchrec.syntax.pattern_windows import Block, FoundWindow


@dataclass(frozen=True, slots=True)
class QueryNode:
    """A query's clauses and windows, and what stands in it beside them.

    markers: every `?` of a query with sites, left to right; in pieces of the query stands
    `parameter_name(span)` for the one at `span`, as their order is lost when the text is cut up.
    keeps_text: Spark stores the text of the outer query, as in CREATE TEMPORARY VIEW and CACHE
    TABLE, and reads it again later: what fills its holes must stay.
    """

    source: Source
    sites: tuple[Site, ...] = ()  # in the order of evaluation
    frames: tuple[tuple[str, Span], ...] = ()  # `{name}` outside of clauses, left to right
    markers: tuple[Span, ...] = ()
    keeps_text: bool = False
    blocks: tuple[Block, ...] = ()  # the SELECTs with row pattern windows
    spellings: tuple[Spelling, ...] = ()  # what to write for Sail


_WORD = re.compile(r"\bMATCH_RECOGNIZE\b", re.IGNORECASE)
_CLAUSE = re.compile(r"\bMATCH_RECOGNIZE\s*\(", re.IGNORECASE)
_MISSPELT = re.compile(
    r"\b(MATCH[-_\s]*RE[A-Z0-9_]*|[A-Z]{3,8}[-_\s]*[A-Z0-9]{4,12}_?)(?=\s*\()", re.IGNORECASE
)
_MOST_WRONG = 3  # letters of MATCH_RECOGNIZE
_DEFINES = re.compile(r"\b(OVER|WINDOW)\b.*\bDEFINE\s+\w+\s+AS\b", re.IGNORECASE | re.DOTALL)
_WINDOW = re.compile(r"\b(OVER|WINDOW)\b.*\bPATTERN\s*\(", re.IGNORECASE | re.DOTALL)


def parse(
    text: str, frames: Collection[str] = (), dialect: Dialect = SPARK, origin: Origin | None = None
) -> QueryNode:
    """The clauses of a query; frames: the names that `{name}` may have.

    origin: what the text was translated from, if it was.

    >>> query = parse("SELECT * FROM t q MATCH_RECOGNIZE (PATTERN (A B)) AS m WHERE m.x > 1")
    >>> [(site.relation_alias, query.source.at(site.relation)) for site in query.sites]
    [('q', 't q')]
    """
    source = Source(text, origin)
    with shown_in(source):
        _refuse_misspelt(text)
        if not may_have_clause(text):
            errors.refuse_other_language(text)
            _refuse_window_without_pattern(text)
            if not frames:
                return QueryNode(source)
        tokens = read_tokens(text, dialect)
        clauses, windows = find_clauses(tokens), _windows(tokens)
        passed = tuple(_frames(tokens, frames, (*clauses, *windows))) if "{" in text else ()
        if not clauses and not windows:
            _refuse_without_parenthesis(tokens)
            if tokens.says(0, "EXECUTE", "IMMEDIATE") and _CLAUSE.search(text):
                raise errors.clause_in_string(tokens.span(0, 2))
            return QueryNode(source, (), passed, keeps_text=keeps_text(tokens))
        blocks: tuple[Block, ...] = ()
        if windows:
            from matchrec.syntax.pattern_windows import read_blocks

            blocks = read_blocks(tokens, windows, clauses)
        sites = _all_sites(tokens, clauses, blocks)
        for index in tokens.places.get(";", ()):
            if tokens.around[index] < 0 and tokens.key(index + 1) not in (";", ""):
                raise errors.several_statements(tokens[index].span)
        return QueryNode(source, sites, passed, _marks(tokens, sites), keeps_text(tokens), blocks)


def _windows(tokens: TokenSequence) -> tuple[FoundWindow, ...]:
    """The row pattern windows, whose reader most queries do not load."""
    if not _WINDOW.search(tokens.text):
        return ()
    from matchrec.syntax.pattern_windows import find_pattern_windows

    return find_pattern_windows(tokens)


def may_have_clause(text: str) -> bool:
    """Whether a text has the words of a clause; most texts have none."""
    return bool(_WORD.search(text) or _WINDOW.search(text))


def _refuse_misspelt(text: str) -> None:
    """The clause's name as two words or with other letters, before parentheses with PATTERN."""
    if "PATTERN" not in text.upper():
        return
    found = [one for one in _MISSPELT.finditer(text) if _is_near_the_clause(one[0])]
    if not found:
        return
    tokens = read_tokens(text)
    for opening, closing in tokens.pairs.items():
        parts = (part_at(tokens, index) for index in tokens.level(opening + 1, closing))
        for one in found:
            if one.end() == tokens[opening - 1].span.end and "PATTERN" in parts:
                raise errors.misspelt_clause(Span(*one.span()), text=one[0])


def _refuse_window_without_pattern(text: str) -> None:
    """DEFINE in a window, where PATTERN has other letters or no parentheses."""
    if not _DEFINES.search(text):
        return
    tokens = read_tokens(text)
    for opening, closing in tokens.pairs.items():
        level = list(tokens.level(opening + 1, closing))
        if not any(tokens.key(at) == "DEFINE" and tokens.key(at + 2) == "AS" for at in level):
            continue
        for at in level:
            if tokens.key(at) == "PATTERN":
                raise errors.pattern_without_parentheses(tokens[at].span)
            if tokens.key(at + 1) == "(" and meant_keyword(tokens.key(at)) == "PATTERN":
                span, word = tokens[at].span, tokens[at].text
                raise errors.misspelt_pattern(span, where="a row pattern window", text=word)


def _refuse_without_parenthesis(tokens: TokenSequence) -> None:
    """The clause's name before what only it has, and no parenthesis around that."""
    keys = [token.key for token in tokens.tokens]
    if "MATCH_RECOGNIZE" not in keys:
        return
    word = keys.index("MATCH_RECOGNIZE")
    for token in tokens.tokens[word + 1 : word + 2]:
        if token.is_strange:
            raise errors.strange_sign(token.text, "the query", token.span)
    has_pattern = any(tokens.says(index, "PATTERN", "(") for index in range(word, len(keys)))
    is_name = tokens.key(word + 1) == "(" or tokens.key(word - 1) in (".", "AS")
    has_parts = has_pattern and not {"MEASURES", "DEFINE"}.isdisjoint(keys[word:])
    if has_parts and tokens.key(word - 1) == "." and tokens.key(word + 1) == "(":
        raise errors.point_before_clause(tokens[word - 1].span)
    if has_parts and not is_name:
        raise errors.clause_without_parenthesis(tokens[word].span)


def _is_near_the_clause(written: str) -> bool:
    if _WORD.fullmatch(written):
        return False
    letters = re.sub(r"[-_\s]", "", written.upper())
    wrong = misspelt(letters, "MATCHRECOGNIZE", _MOST_WRONG)
    return letters.startswith("MATCHRE") or wrong <= _MOST_WRONG


def _marks(tokens: TokenSequence, sites: tuple[Site, ...]) -> tuple[Span, ...]:
    """The parameter markers; a `?` in PATTERN is a quantifier, unless it is one's bound."""
    marks = tokens.places.get("?", ())
    if not marks:
        return ()
    patterns = [site.clause.pattern.span for site in sites]
    bounds = {parameter.span for site in sites for parameter in parameters_in(site.clause.pattern)}
    return tuple(
        here
        for here in (tokens[mark].span for mark in marks)
        if here in bounds or not any(span and span.holds(here) for span in patterns)
    )


def _frames(
    tokens: TokenSequence, names: Collection[str], clauses: Sequence[Cut | FoundWindow]
) -> Iterator[tuple[str, Span]]:
    """The frames outside clauses and windows; where there are some, each must have been passed."""
    inside = [tokens.span(one.opening, one.closing + 1) for one in clauses]
    for name, span in find_frames(tokens.tokens):
        if any(clause.holds(span) for clause in inside):
            continue
        if name in names:
            yield name, span
        elif inside:
            known = (*names, *current_surface().frames)
            raise errors.unknown_frame(span, name=name, frames=known)


def _all_sites(
    tokens: TokenSequence, clauses: Sequence[Cut], blocks: Sequence[Block]
) -> tuple[Site, ...]:
    """Clauses and windows in the order of evaluation: of those that end together, clauses first."""
    withs = tuple(find_with_clauses(tokens))
    windows = (site for block in blocks for site in block.sites(withs))
    found = sorted((*_sites(tokens, clauses, withs), *windows), key=attrgetter("whole.end"))
    return tuple(replace(site, index=number) for number, site in enumerate(found))


def _sites(
    tokens: TokenSequence, clauses: Sequence[Cut], withs: tuple[WithClause, ...]
) -> Iterator[Site]:
    for cut in clauses:
        refuse_stored_text(tokens, cut)
    aliases = [find_alias(tokens, cut.closing + 1) for cut in clauses]
    names = [_name_of_rows(tokens, alias) for alias in aliases]
    relations = [find_relation(tokens, cut) for cut in clauses]
    for index, (cut, relation) in enumerate(zip(clauses, relations, strict=True)):
        input_span = tokens.span(relation.start, cut.word)
        yield Site(
            0,
            read_clause(cut_out_tokens(tokens, cut.opening, cut.closing)),
            relation.name,
            input_span,
            input_span.to(tokens[cut.closing].span),
            find_visible(tokens, withs, relation.start),
            find_use(tokens, relation.start, cut.closing, aliases[index]),
            own_alias=names[index],
            renames=find_renames(tokens, aliases[index]),
        )


def _name_of_rows(tokens: TokenSequence, alias: int | None) -> str | None:
    """What the rows of a clause are called whose alias stands at a place."""
    if alias is None:
        return None
    token = tokens[alias]
    if token.in_double_quotes:
        raise errors.alias_in_double_quotes(token.span, text=token.text)
    return None if token.is_word and is_reserved(token.text) else token.name


# Puts holes for DataFrames where relations and clauses stood; all other text is the user's.
#
# FROM t q MATCH_RECOGNIZE (...) m JOIN d    →    FROM □ m JOIN d


def hole_in(written: str, view: View) -> Template:
    """A hole for `view`, as many lines and columns large as `written`.

    It is put into a middle line where there is one: so it is not in Spark's picture of the text
    before or after it, and a name that is too long moves nothing.

    >>> hole_in("t MATCH_RECOGNIZE (\\n  PATTERN (A)\\n)", View("m"))
    ('                   \\n', View(name='m'), '\\n ')
    """
    lines = [" " * len(line) for line in written.split("\n")]
    inner = range(1, len(lines) - 1)
    if inner:
        chosen = max(inner, key=lambda index: len(lines[index]))
        before = "".join(f"{line}\n" for line in lines[:chosen])
        after = "".join(f"\n{line}" for line in lines[chosen + 1 :])
        return before, View(view.name, len(lines[chosen])), after
    first, *last = lines
    rest = "".join(f"\n{line}" for line in last) or " "
    return " ", View(view.name, max(0, len(first) - len(" ") - (not last))), rest


def written_into(blank: str, *words: str) -> str:
    """Words at the end of text that is blank otherwise; those that do not fit in its last line
    stand in lines before it.

    Raises ValueError where there is no room.

    >>> written_into("SELECT x FROM ", "FROM"), written_into("FROM\\n", "FROM")
    ('         FROM ', 'FROM\\n')
    >>> written_into("SELECT\\n  x\\nFROM ", "SELECT", "*", "FROM")
    'SELECT\\n  *\\nFROM '
    """
    lines = [" " * len(line) for line in blank.split("\n")]
    index, end = len(lines) - 1, len(lines[-1])
    for word in reversed(words):
        while end < len(word):
            if index == 0:
                raise ValueError(f"no room for {word}")
            index -= 1
            end = len(lines[index])
        is_last = end == len(lines[-1]) and index == len(lines) - 1
        start = end - len(word) - (is_last and end > len(word))
        lines[index] = f"{lines[index][:start]}{word}{lines[index][start + len(word) :]}"
        end = start
    return "\n".join(lines)


Replaced = tuple[tuple[Span, Template], ...]
Piece = str | View | Replacement


def outer(query: QueryNode) -> Template:
    """The query with a hole for each clause that stands in no other one's relation.

    All else keeps its line and column. The clause's alias and column list stay, because they
    follow the hole.
    """
    whole = Span(0, len(query.source.text))
    return joined_texts(_written(query, whole, len(query.sites)))


def rows_of(query: QueryNode, site: Site) -> Template:
    """The query of all rows of one clause's relation, in which the user's text keeps its place.

    `SELECT ... FROM t MATCH_RECOGNIZE (...)` becomes `   SELECT*FROM t`. A query that begins with
    its FROM has no room for SELECT, and becomes `FROM t SELECT *`, as only Spark reads it anyway.
    """
    text, end = query.source.text, 0
    pieces: list[Piece] = []
    for depth, visible in enumerate(site.with_clauses):
        pieces.append(written_into(text[end : visible.start], "(" if depth else ""))
        pieces.extend(_written(query, visible, site.index))
        end = visible.end
    closing = ")" * (len(site.with_clauses) - 1)
    rows = tuple(_written(query, site.relation, site.index))
    if site.calls is not None:
        return joined_texts((*pieces, *_select_all(query, site, end), *rows, closing))
    before = text[end : site.relation.start]
    try:
        return joined_texts((*pieces, written_into(before, "SELECT", "*", "FROM"), *rows, closing))
    except ValueError:
        return joined_texts((*pieces, written_into(before, "FROM"), *rows, " SELECT *", closing))


def _select_all(query: QueryNode, site: Site, end: int) -> Iterator[Piece]:
    """`SELECT * FROM` in the place of a SELECT with windows, for its rows."""
    text = query.source.text
    block = _block_of(query, site)
    yield written_into(text[end : block.head.start], "")
    head = text[block.head.start : block.head.end].rstrip()
    blank = "".join(one if one == "\n" else " " for one in head[len("SELECT ") :])
    yield f"{'SELECT'.ljust(len('SELECT '))}{blank[:-1]}*"
    yield text[block.head.start + len(head) : site.relation.start]


def _replaced(query: QueryNode, before: int) -> Iterator[tuple[Span, Template]]:
    """What stands in the places of evaluated sites, of calls over windows, of windows, of `*`, of
    frames and of `?`; holes are as large as what stood there.

    Sites of index `before` and later are not evaluated.
    """
    for block in query.blocks:
        last = [site for site in query.sites if site.whole == block.rows][-1]
        if last.index < before:
            rows = hole_in(query.source.at(block.rows), last.view)
            yield block.rows, (*rows, Replacement(_alias(block), 0)) if block.alias else rows
            qualifier = "" if block.alias is None else f"{quoted(block.alias)}."
            columns = ", ".join(f"{qualifier}{quoted(name)}" for name in block.columns)
            for place, text in (*block.edits(), *((star, columns) for star in block.stars)):
                yield place, (Replacement(text, place.end - place.start),)
    for site in query.sites:
        if site.calls is None and site.index < before:
            yield site.whole, hole_in(query.source.at(site.whole), site.view)
    for name, span in query.frames:
        yield span, (View(name, span.end - span.start),)
    for span, text in query.spellings:
        yield span, (Replacement(text, span.end - span.start),)
    for mark in query.markers:
        yield mark, (Replacement(f":{parameter_name(mark)}", 1),)


def _block_of(query: QueryNode, site: Site) -> Block:
    return next(block for block in query.blocks if block.rows == site.relation)


def _alias(block: Block) -> str:
    """The name of a relation, where that of a window's rows takes its place."""
    return "" if block.alias is None else f" AS {quoted(block.alias)}"


def select_from(query: QueryNode, site: Site, select_list: Template) -> Template:
    """`[WITH ...] SELECT select_list FROM relation`, for the relation of one clause.

    WITH clauses keep their nesting, `WITH a AS (...) (WITH b AS (...) SELECT ...)`, so that a name
    defined twice means at this place what it means in the query.
    """
    if site.goes_on:
        before: Template = (query.sites[site.index - 1].view, _alias(_block_of(query, site)))
    else:
        before = _cut_out(query, site.relation, site.index)
    return in_scope(query, site, template("SELECT ", select_list, " FROM ", before))


def in_scope(query: QueryNode, site: Site, text: Template) -> Template:
    """A query text of ours after the WITH clauses that are visible at one clause."""
    for depth, visible in reversed(tuple(enumerate(site.with_clauses))):
        text = template(_cut_out(query, visible, site.index), " ", text)
        text = template("(", text, ")") if depth else text
    return joined_texts(text)


def fill_frames(text: str, frames: Collection[str]) -> Template:
    """An expression's text with a hole for each `{name}` that was passed.

    >>> fill_frames("x > (SELECT max(y) FROM {d}) AND s = '{d}'", ["d"])
    ('x > (SELECT max(y) FROM ', View(name='d'), ") AND s = '{d}'")
    """
    if not frames:
        return (text,)
    found = find_frames(read_tokens(text).tokens)
    holes = tuple((span, (View(name),)) for name, span in found if name in frames)
    return joined_texts(_pieces(text, Span(0, len(text)), holes))


def _cut_out(query: QueryNode, span: Span, before: int) -> Template:
    """The text at `span` with holes: the outermost clauses in it, frames, and names for `?`."""
    small = tuple((hole, _without_layout(pieces)) for hole, pieces in _replaced(query, before))
    return joined_texts(_pieces(query.source.text, span, small))


def _without_layout(pieces: Template) -> Template:
    texts = (piece.text if isinstance(piece, Replacement) else piece for piece in pieces)
    return tuple(text for text in texts if not isinstance(text, str) or text.strip()) or ("",)


def _written(query: QueryNode, span: Span, before: int) -> Iterator[Piece]:
    """The text at `span` with holes as large as what stood there."""
    return _pieces(query.source.text, span, tuple(_replaced(query, before)))


def _pieces(text: str, span: Span, replaced: Replaced) -> Iterator[Piece]:
    """The text at `span` with other pieces in the place of the outermost spans in it."""
    inside = ((hole, pieces) for hole, pieces in replaced if span.holds(hole))
    return spaced(in_place(Source(text).at, span, inside))


_BEFORE = re.compile(r"\s*SELECT\s*\*\s*FROM\s*", re.IGNORECASE)
_BEHIND = re.compile(r"\s*(?:(?:AS\s+)?(?P<alias>[A-Za-z_]\w*)\s*)?;?\s*", re.IGNORECASE)


def rows_alone(text: Template) -> tuple[View, str | None] | None:
    """What a query text asks for all rows of, and their alias; None where it asks for others.

    >>> rows_alone(("SELECT * FROM ", View("t"), " AS m"))
    (View(name='t'), 'm')
    >>> rows_alone(("SELECT * FROM ", View("t"), " WHERE x"))
    """
    match text:
        case (str(before), View() as view, str(behind)) if _BEFORE.fullmatch(before):
            found = _BEHIND.fullmatch(behind)
            alias = found and found["alias"]
            return (view, alias) if found and (alias is None or _is_plain(alias)) else None
    return None


def _is_plain(alias: str) -> bool:
    """Whether Spark reads an alias as such under all settings: it is none of SQL's words."""
    (token,) = sqlglot_tokens(alias)
    return token.token_type is TokenType.VAR and not is_reserved(alias)


def places_of_parameters(text: str) -> Iterator[tuple[str, Span]]:
    """Each `:name`, and where it stands; the type of a field, `a: INT`, looks the same."""
    if ":" not in text:
        return
    for colon, name in pairwise(sqlglot_tokens(text)):
        if colon.token_type is TokenType.COLON and name.text.isidentifier():
            yield name.text, Span(colon.start, name.end + 1)


def named_parameters(text: str) -> dict[str, Span]:
    """Where each `:name` stands first.

    >>> named_parameters("SELECT x FROM t WHERE x > :low AND y > :low")
    {'low': Span(start=26, end=30)}
    """
    return dict(reversed(tuple(places_of_parameters(text))))
