"""Spellings that sqlglot does not read, in words that it does; names of the clause in quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from matchrec.errors.sql.window import name_of_any_row
from matchrec.frontends.dialects.edits import Edit, Note
from matchrec.frontends.dialects.products import Addition, Product
from matchrec.frontends.lexing.tokens import Range, TokenKind, TokenSequence, pair_brackets
from matchrec.frontends.row_pattern import pattern_tokens
from matchrec.frontends.sql.grammar import ClauseTokens
from matchrec.frontends.sql.nodes import MatchRecognize
from matchrec.frontends.sql.relation import find_clauses
from matchrec.plan.pattern import Alternation, Concatenation, RowPattern, Variable, walk
from matchrec.source import Span

# Pipes of BigQuery, written so that what precedes one is a relation where that is needed.
#
# FROM t |> LIMIT 9 |> WHERE k > 1    FROM (FROM t |> LIMIT 9) |> WHERE k > 1
# FROM t |> MATCH_RECOGNIZE (...)     FROM (FROM t) MATCH_RECOGNIZE (...)
# FROM t |> SELECT DISTINCT k         FROM t |> SELECT k |> DISTINCT
#
# What is left, sqlglot reads; by itself it would put `k > 1` before LIMIT, and leave DISTINCT out.
# Source: BigQuery's reference, "Pipe query syntax".

_QUERY = ("FROM", "SELECT", "VALUES", "TABLE")
_ENDS = ("LIMIT", "DISTINCT", "TABLESAMPLE")  # what sqlglot does not do before what follows
_BEGINS = ("RIGHT", "FULL")  # joins, before which it does not do what precedes


def pipe_edits(tokens: TokenSequence) -> Iterator[Edit]:
    """The edits for all pipes of a query."""
    queries: dict[int, list[int]] = {}
    for index in range(len(tokens)):
        if tokens.key(index) == "|>":
            queries.setdefault(tokens.around[index], []).append(index)
    for pipes in queries.values():
        yield from _relation_edits(tokens, pipes)
        yield from _distinct_edits(tokens, pipes)


def _relation_edits(tokens: TokenSequence, pipes: Sequence[int]) -> Iterator[Edit]:
    """The outermost relation comes first: all of them start where the query does."""
    start = _query_start(tokens, pipes[0])
    place = Span(tokens[start].span.start, tokens[start].span.start)
    found = [at for at in range(len(pipes)) if _needs_relation(tokens, start, pipes, at)]
    for at in reversed(found):
        yield Edit(place, "FROM (")
        pipe = tokens[pipes[at]].span
        is_clause = tokens.key(pipes[at] + 1) == "MATCH_RECOGNIZE"
        yield Edit(pipe, ")") if is_clause else Edit(Span(pipe.start, pipe.start), ") ")


def _needs_relation(tokens: TokenSequence, start: int, pipes: Sequence[int], at: int) -> bool:
    """Whether what precedes a pipe must be a relation."""
    operator = tokens.key(pipes[at] + 1)
    if operator == "MATCH_RECOGNIZE" or operator in _BEGINS:
        return True
    if at == 0:
        return tokens.key(start) != "FROM"
    before = pipes[at - 1] + 1
    return tokens.key(before) in _ENDS or tokens.key(before + 1) == "DISTINCT"


def _query_start(tokens: TokenSequence, pipe: int) -> int:
    """Where the query before a pipe starts: after the WITH clause, or what the query is for."""
    first = tokens.around[pipe] + 1
    if tokens.key(first) == "(":
        return first
    return next((at for at in tokens.level(first, pipe) if tokens.key(at) in _QUERY), first)


def _distinct_edits(tokens: TokenSequence, pipes: Sequence[int]) -> Iterator[Edit]:
    closing = tokens.pairs.get(tokens.around[pipes[0]], len(tokens))
    for pipe, after in zip(pipes, (*pipes[1:], closing), strict=True):
        if tokens.says(pipe + 1, "SELECT", "DISTINCT"):
            end = tokens[after - 1].span.end
            yield Edit(tokens[pipe + 2].span, "")
            yield Edit(Span(end, end), " |> DISTINCT")


# Spellings of PATTERN and of names: short forms, quotes, and the case of variables.
#
# PATTERN (a (b | ))    BigQuery    PATTERN (a (b | ()))
# PATTERN (A .* B)      Azure       PATTERN (A ANY_ROW* B)
# PATTERN ([A] B)       Azure       PATTERN (A B)
# PATTERN (A B | C)     Snowflake   (A B) | C everywhere else; by Snowflake's page A (B | C)
# ORDER BY $rowtime     Flink SQL   ORDER BY `$rowtime`
# // a comment          Snowflake   -- a comment
# # a comment           BigQuery    -- a comment
#
# Sources: the grammar of GoogleSQL, in which an alternative may be empty; Azure Stream Analytics'
# page "MATCH_RECOGNIZE"; Snowflake's page "MATCH_RECOGNIZE": "The alternative operator has
# precedence over the concatenation operator."
#
# Where CLASSIFIER gives names as they were written, they get quotes for a product in which a name
# without quotes is upper case.

_SHORT_FORMS = {Addition.EMPTY_ALTERNATIVES, Addition.ANY_ROW, Addition.BRACKETS}
_SIGNS_OF_COMMENTS = (Addition.SLASH_COMMENTS, Addition.HASH_COMMENTS)
_OTHER_COMMENTS = r"--[^\n]*|/\*.*?\*/"
_BEFORE_PART = ("", "(", "{-", "|", ",")
_AFTER_PART = ("", ")", "-}", ",")


def clauses_of(tokens: TokenSequence) -> Iterator[Range]:
    """What stands in the parentheses of each clause of a query."""
    for cut in find_clauses(tokens):
        yield cut.opening + 1, cut.closing


def written_out(
    tokens: TokenSequence, clauses: Iterable[Range], additions: frozenset[Addition]
) -> Iterator[Edit]:
    """The edits that write out the short forms. clauses: what stands in their parentheses."""
    if Addition.DOLLAR_NAMES in additions:
        yield from _dollar_names(tokens)
    for sign in _SIGNS_OF_COMMENTS:
        if sign in additions:
            yield from _comments(tokens, sign.value)
    if not additions & _SHORT_FORMS:
        return
    for clause in clauses:
        for pattern in _patterns(tokens, clause):
            if Addition.EMPTY_ALTERNATIVES in additions:
                yield from _empty_alternatives(tokens, pattern)
            if Addition.ANY_ROW in additions:
                yield from _any_rows(tokens, clause, pattern)
            if Addition.BRACKETS in additions:
                yield from _names_in_brackets(tokens, clause, pattern)


def _dollar_names(tokens: TokenSequence) -> Iterator[Edit]:
    """Quotes around names of columns that begin with a dollar sign."""
    for index, token in enumerate(tokens.tokens[1:], 1):
        sign = tokens[index - 1]
        if sign.key == "$" and sign.span.end == token.span.start and token.kind is TokenKind.WORD:
            yield Edit(Span(sign.span.start, token.span.end), f"`${token.text}`")


def _comments(tokens: TokenSequence, sign: str) -> Iterator[Edit]:
    """`--` where a comment begins with another sign; between tokens stand blanks and comments."""
    found = re.compile(f"{_OTHER_COMMENTS}|(?P<sign>{sign})[^\\n]*", re.DOTALL)
    starts = [0, *(one.span.end for one in tokens.tokens)]
    ends = [*(one.span.start for one in tokens.tokens), len(tokens.text)]
    for start, end in zip(starts, ends, strict=True):
        for comment in found.finditer(tokens.text, start, end):
            if comment["sign"]:
                yield Edit(Span(*comment.span("sign")), "--")


def _names_in_brackets(tokens: TokenSequence, clause: Range, pattern: Range) -> Iterator[Edit]:
    """Variables without brackets, in which the lexer of PATTERN does not know them."""
    names = {tokens[index].name.upper() for index in range(*pattern)}
    for index in range(*clause):
        token = tokens[index]
        if _is_in_brackets(tokens, index) and token.name.upper() in names:
            is_word = token.name.isidentifier()
            yield Edit(token.span, token.name if is_word else f'"{token.name}"')


def _is_in_brackets(tokens: TokenSequence, index: int) -> bool:
    token = tokens[index]
    return token.kind is TokenKind.QUOTED and tokens.text[token.span.start] == "["


def _patterns(tokens: TokenSequence, clause: Range) -> Iterator[Range]:
    """What stands in the parentheses of PATTERN."""
    for index in tokens.level(*clause):
        if tokens.says(index, "PATTERN", "("):
            yield index + 2, tokens.pairs[index + 1]


def _empty_alternatives(tokens: TokenSequence, pattern: Range) -> Iterator[Edit]:
    """`()` on each side of `|` on which nothing stands."""
    start, end = pattern
    span = Span(tokens[start - 1].span.end, tokens[end].span.start)
    found = pattern_tokens(tokens.text, span)
    for place, token in enumerate(found):
        if token.key != "|":
            continue
        before = found[place - 1].key if place else ""
        if before in _BEFORE_PART:
            yield Edit(Span(token.span.start, token.span.start), "() ")
        if found[place + 1].key in _AFTER_PART:
            yield Edit(Span(token.span.end, token.span.end), " ()")


def _any_rows(tokens: TokenSequence, clause: Range, pattern: Range) -> Iterator[Edit]:
    """A variable without a condition for each `.`."""
    dots = [index for index in range(*pattern) if tokens.key(index) == "."]
    if not dots:
        return
    keys = {tokens.key(index) for index in range(*clause)}
    if "CLASSIFIER" in keys:
        raise name_of_any_row(tokens[dots[0]].span)
    name = "ANY_ROW"
    while name in keys:
        name += "_"
    for index in dots:
        yield Edit(tokens[index].span, f" {name} ".replace("  ", " "))


def alternative_notes(
    text: str, pattern: RowPattern, read: Product, write: Product
) -> Iterator[Note]:
    """Where an alternative of a query may be another one there."""
    if not read.divides_sequences or write.divides_sequences:
        return
    message = (
        f"`A B | C` is `A (B | C)` by the page of {read.title}, and `(A B) | C` in {write.title}: "
        "write the parentheses"
    )
    yield from (Note(message, span) for span in _of_several_parts(text, pattern))


def alternative_edits(
    text: str, pattern: RowPattern, read: Product, write: Product
) -> Iterator[Edit]:
    """Parentheses around alternatives that would be others without them."""
    if read.divides_sequences or not write.divides_sequences:
        return
    for span in _of_several_parts(text, pattern):
        yield Edit(Span(span.start, span.start), "(")
        yield Edit(Span(span.end, span.end), ")")


def _of_several_parts(text: str, pattern: RowPattern) -> Iterator[Span]:
    """The alternatives that are several parts, without parentheses around them."""
    for node in walk(pattern):
        for part in node.parts if isinstance(node, Alternation) else ():
            if isinstance(part, Concatenation) and part.span is not None:
                tokens = pattern_tokens(text, part.span)
                if pair_brackets(tokens).get(0) != len(tokens) - 2:
                    yield part.span


def calls_classifier(tokens: ClauseTokens) -> bool:
    """Whether a clause asks for names of variables."""
    return any(token.key == "CLASSIFIER" for token in tokens.tokens)


def variables_as_written(tokens: ClauseTokens, clause: MatchRecognize) -> dict[str, str]:
    """The names of a clause's variables: as in DEFINE, else where they first stand."""
    if not calls_classifier(tokens):
        return {}
    found = {one.variable: tokens.text_at(one.span) for one in clause.definitions}
    for node in walk(clause.pattern):
        if isinstance(node, Variable) and node.span is not None:
            found.setdefault(node.name, tokens.text_at(node.span))
    return {name: text for name, text in found.items() if text.upper() == name}


def variable_places(clause: MatchRecognize, written: Mapping[str, str]) -> dict[Span, str]:
    """Where variables stand outside of expressions, and how each was written."""
    places = {span: written.get(name or "") for name, span in _variables(clause)}
    return {span: text for span, text in places.items() if span is not None and text is not None}


def _variables(clause: MatchRecognize) -> Iterator[tuple[str | None, Span | None]]:
    for node in walk(clause.pattern):
        if isinstance(node, Variable):
            yield node.name, node.span
    yield from ((one.variable, one.span) for one in clause.definitions)
    if clause.after_match is not None:
        yield clause.after_match.variable, clause.after_match.span
    for subset in clause.subsets:
        yield from zip(subset.members, subset.member_spans, strict=True)


def names_edits(
    tokens: ClauseTokens, spans: tuple[Span, ...], quote: str, variables: Mapping[Span, str]
) -> Iterator[Edit]:
    """Other quotes around the names of variables and measures. spans: of the expressions.

    variables: places of variables without quotes, and what to quote there.
    """
    for token in tokens.tokens:
        is_quoted = token.kind is TokenKind.QUOTED or token.in_double_quotes
        name = token.name if is_quoted else variables.get(token.span)
        if name is None or any(one.holds(token.span) for one in spans):
            continue
        if not is_quoted or tokens.text_at(token.span)[0] != quote:
            yield Edit(token.span, f"{quote}{name.replace(quote, quote * 2)}{quote}")
