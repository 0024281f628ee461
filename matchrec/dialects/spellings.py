"""Spellings that sqlglot does not read, in words that it does; names of the clause in quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from matchrec.dialects.edits import Edit, Note
from matchrec.dialects.fragments import Fragments
from matchrec.dialects.products import Product
from matchrec.dialects.rules.values import normalize_unit
from matchrec.errors.sql import window as errors
from matchrec.plan.clauses import AfterMatchSkip
from matchrec.plan.pattern import Alternation, Concatenation, RowPattern, Variable, walk
from matchrec.source import Span
from matchrec.syntax.expressions.reader import ClausePart
from matchrec.syntax.grammar import ClauseTokens, all_tokens, cut_out_tokens, find_sections
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.relation import Cut
from matchrec.syntax.row_pattern import Values, pattern_tokens
from matchrec.syntax.tokens import Token, TokenKind, TokenSequence, pair_brackets

# Spellings of the clause, of PATTERN and of names: short forms, quotes, and the case of variables.
#
# OPTIONS (use_longest_match = TRUE)    BigQuery    PATTERN (...) LONGEST MATCH
# LIMIT DURATION (minute, 5)            Azure       PATTERN (...) WITHIN INTERVAL '5' MINUTE
# FROM input TIMESTAMP BY time          Azure       FROM input, with ORDER BY time in the clause
# PATTERN (a (b | ))                    BigQuery    PATTERN (a (b | ()))
# PATTERN (A .* B)                      Azure       PATTERN (A ANY_ROW* B)
# PATTERN ([A] B)                       Azure       PATTERN (A B)
# PATTERN (A B | C)                     Snowflake   (A B) | C elsewhere; by its page A (B | C)
# ORDER BY $rowtime                     Flink SQL   ORDER BY `$rowtime`
# // a comment                          Snowflake   -- a comment
# # a comment                           BigQuery    -- a comment
#
# Sources: the grammar of GoogleSQL, in which an alternative may be empty; Azure Stream Analytics'
# page "MATCH_RECOGNIZE"; Snowflake's page "MATCH_RECOGNIZE": "The alternative operator has
# precedence over the concatenation operator."
#
# Where CLASSIFIER gives names as they were written, they get quotes for a product in which a name
# without quotes is upper case.

_OTHER_COMMENTS = r"--[^\n]*|/\*.*?\*/"
_BEFORE_PART = ("", "(", "{-", "|", ",")
_AFTER_PART = ("", ")", "-}", ",")
_LONGEST = "USE_LONGEST_MATCH"
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")


def edit_spellings(
    tokens: TokenSequence, cuts: Iterable[Cut] | None, product: Product, values: Values
) -> Iterator[Edit]:
    """The edits that write out the short forms, and say what one product has added to the clause.

    cuts: the clauses of a query; None of a text that is a clause. values: of parameters, if known.
    """
    if product.name == "flink":
        yield from _dollar_names(tokens)
    if product.comment_sign:
        yield from _comments(tokens, product.comment_sign)
    if product.name not in ("azure", "bigquery"):
        return
    times = set()
    for cut in [None] if cuts is None else cuts:
        whole = cut_out_tokens(tokens, cut.opening, cut.closing) if cut else all_tokens(tokens)
        clause, options = _without_options(whole, product, values)
        yield from _forms_of_clause(clause, options, product)
        time = _time_of_events(tokens, cut) if cut and product.name == "azure" else None
        if cut and time is not None:
            times.add(time)
            yield from _order_edits(tokens, time, cut, clause)
    for index in range(len(tokens)):
        is_time = product.name == "azure" and tokens.says(index, "TIMESTAMP", "BY")
        if is_time and index not in times:
            raise errors.time_of_step(tokens.span(index, index + 2))


# What stands in a clause and only one product reads, and the words after PATTERN for it.
_Options = tuple[tuple[Span, str], ...]


def _without_options(
    clause: ClauseTokens, product: Product, values: Values
) -> tuple[ClauseTokens, _Options]:
    """The tokens of a clause in the grammar of all, and what they leave out."""
    found = []
    for index in clause.level(0, len(clause)):
        if product.name == "bigquery" and clause.says(index, "OPTIONS", "("):
            found.append(_longest_match(clause, index, values))
        if product.name == "azure" and clause.says(index, "LIMIT", "DURATION"):
            found.append(_duration(clause, index))
    kept = [one for one in clause.tokens if not any(span.holds(one.span) for span, _ in found)]
    return replace(clause, tokens=tuple(kept), pairs=pair_brackets(kept)), tuple(found)


def _longest_match(clause: ClauseTokens, index: int, values: Values) -> tuple[Span, str]:
    """`OPTIONS (use_longest_match = TRUE)`, or a parameter in place of the truth value."""
    known = {"TRUE": True, "FALSE": False} | {f"@{name}": one for name, one in values.items()}
    closing = _closing(clause, index + 1)
    longest = False
    for start, end in clause.separated(index + 2, closing):
        if start == end:
            continue
        text = "".join(token.text for token in clause.tokens[start + 2 : end])
        value = known.get(text, known.get(text.upper()))
        if clause.key(start) != _LONGEST or not isinstance(value, bool):
            raise errors.unknown_option(clause.span(start, end), known=_LONGEST.lower())
        longest = value
    return clause.span(index, closing + 1), "LONGEST MATCH" if longest else ""


def _duration(clause: ClauseTokens, index: int) -> tuple[Span, str]:
    """`LIMIT DURATION (minute, 5)`."""
    closing = _closing(clause, index + 2)
    span = clause.span(index, closing + 1)
    match [token.text for token in clause.tokens[index + 3 : closing]]:
        case [unit, ",", amount] if amount.isdigit() and normalize_unit(unit) in _UNITS:
            return span, f"WITHIN INTERVAL '{amount}' {normalize_unit(unit)}"
    raise errors.malformed_duration(span)


def _closing(clause: ClauseTokens, opening: int) -> int:
    if opening not in clause.pairs:
        raise errors.malformed_duration(clause.span(opening - 2, opening))
    return clause.pairs[opening]


def _time_of_events(tokens: TokenSequence, cut: Cut) -> int | None:
    """Where TIMESTAMP BY stands after the relation of a clause."""
    before = list(tokens.level(tokens.around[cut.word] + 1, cut.word))
    starts = [at for at in before if tokens.key(at) in ("FROM", "JOIN")]
    own = [at for at in before if not starts or at > starts[-1]]
    for at in own:
        if tokens.says(at, "PARTITION", "BY"):
            raise errors.divided_input(tokens.span(at, at + 2))
    return next((at for at in own if tokens.says(at, "TIMESTAMP", "BY")), None)


def _order_edits(tokens: TokenSequence, by: int, cut: Cut, clause: ClauseTokens) -> Iterator[Edit]:
    """ORDER BY the time of events (`by`: TIMESTAMP BY). Raises if a key of OVER divides no rows."""
    own = tokens.level(by + 2, cut.word)
    over = next((at for at in own if tokens.key(at) == "OVER"), cut.word)
    sections = find_sections(clause)
    divided = sections.get(ClausePart.PARTITION_BY)
    keys = clause.separated(divided.start, divided.end) if divided else ()
    names = {clause.text_at(clause.span(*key)).upper() for key in keys}
    for key in tokens.separated(over + 1, cut.word) if over < cut.word else ():
        span = tokens.span(*key)
        if tokens.text_at(span).upper() not in names:
            raise errors.own_time(span, key=tokens.text_at(span))
    order = tokens.span(by + 2, over)
    place = min(section.keyword.start for section in sections.values() if section is not divided)
    yield Edit(tokens.span(by, cut.word), "")
    yield Edit(Span(place, place), f"ORDER BY {tokens.text_at(order)}\n", order)


def _forms_of_clause(clause: ClauseTokens, options: _Options, product: Product) -> Iterator[Edit]:
    opening = find_sections(clause)[ClausePart.PATTERN].start
    closing = clause.pairs[opening]
    end = clause[closing].span.end
    for span, words in options:
        yield Edit(span, "")
        if words:
            yield Edit(Span(end, end), f" {words}", span)
    if product.name == "bigquery":
        yield from _empty_alternatives(clause, opening, closing, product.comment_sign)
    else:
        yield from _any_rows(clause, opening + 1, closing)
        yield from _names_in_brackets(clause, opening + 1, closing)


def _dollar_names(tokens: TokenSequence) -> Iterator[Edit]:
    """Quotes around names of columns that begin with a dollar sign."""
    for index, token in enumerate(tokens.tokens[1:], 1):
        sign = tokens[index - 1]
        if sign.key == "$" and sign.span.end == token.span.start and token.kind is TokenKind.WORD:
            yield Edit(Span(sign.span.start, token.span.end), f"`${token.text}`")


def _comments(tokens: TokenSequence, sign: str) -> Iterator[Edit]:
    """Yield an edit that writes `--` for each comment that begins with the product's own sign."""
    whole = Span(0, len(tokens.text))
    for comment in _find_comments(tokens.text, tokens.tokens, whole, sign):
        yield Edit(Span(comment.start, comment.start + len(sign)), "--")


def _find_comments(text: str, tokens: Iterable[Token], whole: Span, sign: str) -> Iterator[Span]:
    """Yield the comments that begin with `sign`. tokens: those of the text inside `whole`.

    Only blanks and comments are between tokens, so a sign inside a string is never found.
    """
    comments = re.compile(f"{_OTHER_COMMENTS}|(?P<own>{sign}[^\\n]*)", re.DOTALL)
    spans = [token.span for token in tokens]
    starts = [whole.start, *(span.end for span in spans)]
    ends = [*(span.start for span in spans), whole.end]
    for start, end in zip(starts, ends, strict=True):
        for comment in comments.finditer(text, start, end):
            if comment["own"]:
                yield Span(*comment.span("own"))


def _names_in_brackets(clause: ClauseTokens, start: int, end: int) -> Iterator[Edit]:
    """Variables without brackets, in which the lexer of PATTERN does not know them."""
    names = {one.name.upper() for one in clause.tokens[start:end]}
    for token in clause.tokens:
        is_in_brackets = token.kind is TokenKind.QUOTED and clause.text_at(token.span)[0] == "["
        if is_in_brackets and token.name.upper() in names:
            yield Edit(token.span, token.name if token.name.isidentifier() else f'"{token.name}"')


def _empty_alternatives(
    clause: ClauseTokens, opening: int, closing: int, sign: str
) -> Iterator[Edit]:
    """`()` on each side of `|` on which nothing stands."""
    span = Span(clause[opening].span.end, clause[closing].span.start)
    text = clause.text
    # The lexer of PATTERN does not know the product's comments. Blanks instead of them keep every
    # token where it is.
    for comment in _find_comments(text, clause.tokens[opening + 1 : closing], span, sign):
        text = text[: comment.start] + " " * (comment.end - comment.start) + text[comment.end :]
    found = pattern_tokens(text, span)
    for place, token in enumerate(found):
        if token.key != "|":
            continue
        before = found[place - 1].key if place else ""
        if before in _BEFORE_PART:
            yield Edit(Span(token.span.start, token.span.start), "() ")
        if found[place + 1].key in _AFTER_PART:
            yield Edit(Span(token.span.end, token.span.end), " ()")


def _any_rows(clause: ClauseTokens, start: int, end: int) -> Iterator[Edit]:
    """A variable without a condition for each `.`."""
    if not (dots := [token.span for token in clause.tokens[start:end] if token.key == "."]):
        return
    keys = {token.key for token in clause.tokens}
    if "CLASSIFIER" in keys:
        raise errors.name_of_any_row(dots[0])
    name = "ANY_ROW"
    while name in keys:
        name += "_"
    yield from (Edit(span, f" {name} ".replace("  ", " ")) for span in dots)


def note_alternatives(fragments: Fragments, pattern: RowPattern) -> Iterator[Note]:
    """Where an alternative of a query may be another one there."""
    read, write = fragments.read, fragments.write
    if read.divides_sequences is write.divides_sequences:
        return
    title = read.title if read.divides_sequences else write.title
    meaning = f"`A B | C` is `A (B | C)` by the page of {title}, and `(A B) | C` elsewhere"
    for span in _of_several_parts(fragments.text, pattern):
        yield Note(f"{meaning}: write the parentheses", span)


def _of_several_parts(text: str, pattern: RowPattern) -> Iterator[Span]:
    """The alternatives that are several parts, without parentheses around them."""
    for node in walk(pattern):
        for part in node.parts if isinstance(node, Alternation) else ():
            if isinstance(part, Concatenation) and part.span is not None:
                tokens = pattern_tokens(text, part.span)
                if pair_brackets(tokens).get(0) != len(tokens) - 2:
                    yield part.span


def find_written_names(tokens: ClauseTokens, clause: MatchRecognize) -> dict[str, str]:
    """The names of a clause's variables: as in DEFINE, else where they first stand."""
    if "CLASSIFIER" not in (token.key for token in tokens.tokens):
        return {}
    found = {one.name: tokens.text_at(one.span) for one in clause.definitions}
    for node in walk(clause.pattern):
        if isinstance(node, Variable) and node.span is not None:
            found.setdefault(node.name, tokens.text_at(node.span))
    return {name: text for name, text in found.items() if text.upper() == name}


def find_variable_spans(clause: MatchRecognize, written: Mapping[str, str]) -> dict[Span, str]:
    """Where variables stand outside of expressions, and how each was written."""
    skip = clause.after_match or AfterMatchSkip()
    found: list[tuple[str | None, Span | None]] = [(skip.variable, skip.span)]
    found += [(node.name, node.span) for node in walk(clause.pattern) if isinstance(node, Variable)]
    found += [(definition.name, definition.span) for definition in clause.definitions]
    for subset in clause.subsets:
        found += zip(subset.members, subset.member_spans, strict=True)
    places = {span: written.get(name or "") for name, span in found}
    return {span: text for span, text in places.items() if span is not None and text is not None}


def edit_names(
    tokens: ClauseTokens, spans: tuple[Span, ...], quote: str, variables: Mapping[Span, str]
) -> Iterator[Edit]:
    """Other quotes around names outside of expressions (`spans`), and quotes around `variables`."""
    for token in tokens.tokens:
        is_quoted = token.kind is TokenKind.QUOTED or token.in_double_quotes
        name = token.name if is_quoted else variables.get(token.span)
        if name is None or any(span.holds(token.span) for span in spans):
            continue
        if not is_quoted or tokens.text_at(token.span)[0] != quote:
            yield Edit(token.span, quote_name(name, quote))


def quote_name(name: str, quote: str) -> str:
    return f"{quote}{name.replace(quote, quote * 2)}{quote}"
