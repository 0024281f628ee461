"""Rewrite the spellings of one product in the grammar that all products share.

sqlglot and the reader of clauses do not know them. On the left the text, on the right the edited
one:

    OPTIONS (use_longest_match = TRUE)    BigQuery    PATTERN (...) LONGEST MATCH
    LIMIT DURATION (minute, 5)            Azure       PATTERN (...) WITHIN INTERVAL '5' MINUTE
    FROM input TIMESTAMP BY time          Azure       FROM input, with ORDER BY time in the clause
    PATTERN (a (b | ))                    BigQuery    PATTERN (a (b | ()))
    PATTERN (A .* B)                      Azure       PATTERN (A ANY_ROW* B)
    PATTERN ([A] B)                       Azure       PATTERN (A B)
    PATTERN (A B | C)                     Snowflake   (A B) | C elsewhere; by its page A (B | C)
    ORDER BY $rowtime                     Flink SQL   ORDER BY `$rowtime`
    // a comment                          Snowflake   -- a comment
    # a comment                           BigQuery    -- a comment

Sources: the grammar of GoogleSQL, in which an alternative may be empty; Azure Stream Analytics'
page "MATCH_RECOGNIZE"; Snowflake's page "MATCH_RECOGNIZE": "The alternative operator has
precedence over the concatenation operator."
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from matchrec.dialects.edits import Edit, TranslationNote
from matchrec.dialects.products import Product
from matchrec.dialects.rules.times import normalize_unit
from matchrec.errors.sql import window as errors
from matchrec.plan.pattern import Alternation, Concatenation, RowPattern, walk_pattern
from matchrec.source import Span
from matchrec.syntax.clause_locations import ClauseLocation
from matchrec.syntax.expressions.reader import ClausePart
from matchrec.syntax.grammar import ClauseTokens, cut_out_tokens, find_sections, read_section_tokens
from matchrec.syntax.parameter_values import ParameterValues
from matchrec.syntax.pattern_tokens import read_pattern_tokens
from matchrec.syntax.tokens import Token, TokenKind, TokenSequence, pair_brackets

# The comments that all products have. A sign inside of them starts no comment.
_SHARED_COMMENTS = r"--[^\n]*|/\*.*?\*/"

# Between one of these tokens and a `|` after it, an alternative of PATTERN is empty. "" is the
# start of the pattern.
_BEFORE_EMPTY = ("", "(", "{-", "|", ",")
# The same between a `|` and one of these after it. "" is the end of the pattern.
_AFTER_EMPTY = ("", ")", "-}", ",")

_LONGEST_MATCH = "USE_LONGEST_MATCH"
_DURATION_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")


@dataclass(frozen=True, slots=True)
class ProductOption:
    """An option of a clause that only one product reads, such as `LIMIT DURATION (minute, 5)`."""

    # The characters of the option.
    span: Span
    # The words after PATTERN that mean the same, such as `WITHIN INTERVAL '5' MINUTE`; "" if the
    # option says what is so without it.
    words: str


def edit_spellings(
    tokens: TokenSequence,
    locations: Iterable[ClauseLocation] | None,
    product: Product,
    parameter_values: ParameterValues,
) -> Iterator[Edit]:
    """Yield the edits that write a text of one product in the grammar of all.

    Args:
        tokens: the tokens of the text.
        locations: the clauses of a query; None if the text is a clause.
        product: the product whose SQL it is.
        parameter_values: the values of the query's parameters, if they are known.

    Raises:
        MatchRecognizeError: a spelling is wrong.
    """
    if product.name == "flink":
        yield from _quote_dollar_names(tokens)
    if product.comment_sign:
        yield from _edit_comments(tokens, product.comment_sign)
    if product.name not in ("azure", "bigquery"):
        return
    if locations is None:
        clause, options = _take_out_options(read_section_tokens(tokens), product, parameter_values)
        yield from _edit_clause_spellings(clause, options, product)
    moved_times = set()
    for location in locations or ():
        clause_tokens = cut_out_tokens(tokens, location.opening, location.closing)
        clause, options = _take_out_options(clause_tokens, product, parameter_values)
        yield from _edit_clause_spellings(clause, options, product)
        timestamp_by = _find_timestamp_by(tokens, location) if product.name == "azure" else None
        if timestamp_by is not None:
            moved_times.add(timestamp_by)
            yield from _move_timestamp_by(tokens, timestamp_by, location, clause)
    if product.name == "azure":
        _reject_other_timestamp_by(tokens, moved_times)


def _reject_other_timestamp_by(tokens: TokenSequence, moved_times: Set[int]) -> None:
    """Raise an error for a TIMESTAMP BY that does not belong to a clause.

    Args:
        tokens: the tokens of the query.
        moved_times: the index of each TIMESTAMP BY that does.

    Raises:
        MatchRecognizeError: there is one.
    """
    for index in range(len(tokens)):
        if tokens.has_keys(index, "TIMESTAMP", "BY") and index not in moved_times:
            raise errors.misplaced_timestamp_by(tokens.span(index, index + 2))


def _take_out_options(
    clause: ClauseTokens, product: Product, parameter_values: ParameterValues
) -> tuple[ClauseTokens, list[ProductOption]]:
    """Return the tokens of a clause without the options that only one product reads, and these.

    Raises:
        MatchRecognizeError: an option is wrong.
    """
    options = []
    for index in clause.walk_level(0, len(clause)):
        if product.name == "bigquery" and clause.has_keys(index, "OPTIONS", "("):
            options.append(_read_longest_match(clause, index, parameter_values))
        if product.name == "azure" and clause.has_keys(index, "LIMIT", "DURATION"):
            options.append(_read_duration(clause, index))
    kept = [
        token
        for token in clause.tokens
        if not any(option.span.contains(token.span) for option in options)
    ]
    return replace(clause, tokens=tuple(kept), pairs=pair_brackets(kept)), options


def _read_longest_match(
    clause: ClauseTokens, index: int, parameter_values: ParameterValues
) -> ProductOption:
    """Read `OPTIONS (use_longest_match = TRUE)`, or with a parameter instead of the truth value.

    Args:
        clause: the tokens of the clause.
        index: the index of OPTIONS.
        parameter_values: the values of the query's parameters.

    Raises:
        MatchRecognizeError: the option or its value is unknown.
    """
    truth_values: dict[str, object] = {"TRUE": True, "FALSE": False}
    truth_values |= {f"@{name}": value for name, value in parameter_values.items()}
    closing = _find_closing(clause, index + 1)
    is_longest = False
    for start, end in clause.split_at_commas(index + 2, closing):
        if start == end:
            continue
        text = "".join(token.text for token in clause.tokens[start + 2 : end])  # after `name =`
        value = truth_values.get(text, truth_values.get(text.upper()))
        if clause.key(start) != _LONGEST_MATCH or not isinstance(value, bool):
            raise errors.unknown_clause_option(
                clause.span(start, end), option=_LONGEST_MATCH.lower()
            )
        is_longest = value
    words = "LONGEST MATCH" if is_longest else ""
    return ProductOption(clause.span(index, closing + 1), words)


def _read_duration(clause: ClauseTokens, index: int) -> ProductOption:
    """Read `LIMIT DURATION (minute, 5)`, in which LIMIT is at `index`.

    Raises:
        MatchRecognizeError: it is malformed.
    """
    closing = _find_closing(clause, index + 2)
    span = clause.span(index, closing + 1)
    match [token.text for token in clause.tokens[index + 3 : closing]]:
        case [name, ",", amount] if amount.isdigit():
            unit = normalize_unit(name)
            if unit in _DURATION_UNITS:
                return ProductOption(span, f"WITHIN INTERVAL '{amount}' {unit}")
    raise errors.malformed_limit_duration(span)


def _find_closing(clause: ClauseTokens, opening: int) -> int:
    """Return the index of the parenthesis that closes an option.

    Raises:
        MatchRecognizeError: there is no parenthesis at `opening`, or nothing closes it.
    """
    if opening not in clause.pairs:
        raise errors.malformed_limit_duration(clause.span(opening - 2, opening))
    return clause.pairs[opening]


def _find_timestamp_by(tokens: TokenSequence, location: ClauseLocation) -> int | None:
    """Return the index of TIMESTAMP BY after the relation of a clause; None if there is none.

    Raises:
        MatchRecognizeError: the relation has PARTITION BY.
    """
    opening = tokens.enclosing_openings[location.word]
    relation = list(tokens.walk_level(opening + 1, location.word))
    keywords = [index for index in relation if tokens.key(index) in ("FROM", "JOIN")]
    if keywords:
        relation = [index for index in relation if index > keywords[-1]]
    for index in relation:
        if tokens.has_keys(index, "PARTITION", "BY"):
            raise errors.partition_by_after_input(tokens.span(index, index + 2))
    for index in relation:
        if tokens.has_keys(index, "TIMESTAMP", "BY"):
            return index
    return None


def _move_timestamp_by(
    tokens: TokenSequence, timestamp_by: int, location: ClauseLocation, clause: ClauseTokens
) -> Iterator[Edit]:
    """Yield the edits that turn TIMESTAMP BY after a relation into ORDER BY in the clause.

        FROM input TIMESTAMP BY time OVER id MATCH_RECOGNIZE (LIMIT DURATION ...)
        FROM input MATCH_RECOGNIZE (ORDER BY time LIMIT DURATION ...)

    The keys of OVER must be keys of PARTITION BY. Then they mean nothing more.

    Args:
        tokens: the tokens of the query.
        timestamp_by: the index of TIMESTAMP BY.
        location: where the clause is.
        clause: the tokens of the clause.

    Raises:
        MatchRecognizeError: OVER has a key that does not divide the rows of the clause.
    """
    over = location.word
    for index in tokens.walk_level(timestamp_by + 2, location.word):
        if tokens.key(index) == "OVER":
            over = index
            break
    sections = find_sections(clause)
    partition_by = sections.get(ClausePart.PARTITION_BY)
    partition_keys = set()
    if partition_by:
        for key in clause.split_at_commas(partition_by.start, partition_by.end):
            partition_keys.add(clause.text_at(clause.span(*key)).upper())
    if over < location.word:
        for key in tokens.split_at_commas(over + 1, location.word):
            span = tokens.span(*key)
            if tokens.text_at(span).upper() not in partition_keys:
                raise errors.timestamp_over_other_key(span, key=tokens.text_at(span))
    time = tokens.span(timestamp_by + 2, over)
    # ORDER BY comes before all other sections, except PARTITION BY.
    start = min(
        section.keyword.start for section in sections.values() if section is not partition_by
    )
    yield Edit(tokens.span(timestamp_by, location.word), "")
    yield Edit(Span(start, start), f"ORDER BY {tokens.text_at(time)}\n", time)


def _edit_clause_spellings(
    clause: ClauseTokens, options: Sequence[ProductOption], product: Product
) -> Iterator[Edit]:
    """Yield the edits of the options of a clause, and of the spellings in its PATTERN.

    Args:
        clause: the tokens of the clause without the options.
        options: the options.
        product: the product whose SQL it is.
    """
    opening = find_sections(clause)[ClausePart.PATTERN].start
    closing = clause.pairs[opening]
    end = clause[closing].span.end
    for option in options:
        yield Edit(option.span, "")
        if option.words:
            yield Edit(Span(end, end), f" {option.words}", option.span)
    if product.name == "bigquery":
        yield from _fill_empty_alternatives(clause, opening, closing, product.comment_sign)
    else:
        yield from _name_any_rows(clause, opening + 1, closing)
        yield from _unbracket_names(clause, opening + 1, closing)


def _quote_dollar_names(tokens: TokenSequence) -> Iterator[Edit]:
    """Yield the edits that quote names which begin with a dollar sign."""
    for index, token in enumerate(tokens.tokens[1:], 1):
        sign = tokens[index - 1]
        is_adjacent = sign.key == "$" and sign.span.end == token.span.start
        if is_adjacent and token.kind is TokenKind.WORD:
            yield Edit(Span(sign.span.start, token.span.end), f"`${token.text}`")


def _edit_comments(tokens: TokenSequence, sign: str) -> Iterator[Edit]:
    """Yield an edit that writes `--` for each comment that begins with the product's own sign."""
    whole_text = Span(0, len(tokens.text))
    for comment in _find_comments(tokens.text, tokens.tokens, whole_text, sign):
        yield Edit(Span(comment.start, comment.start + len(sign)), "--")


def _find_comments(text: str, tokens: Iterable[Token], span: Span, sign: str) -> Iterator[Span]:
    """Yield the comments inside `span` that begin with a sign.

    Only blanks and comments are between tokens, so a sign inside a string is never found.

    Args:
        text: the text.
        tokens: the tokens inside `span`.
        span: the part of the text that is searched.
        sign: what the comments begin with.
    """
    comments = re.compile(f"{_SHARED_COMMENTS}|(?P<signed>{sign}[^\\n]*)", re.DOTALL)
    token_spans = [token.span for token in tokens]
    starts = [span.start, *(token_span.end for token_span in token_spans)]
    ends = [*(token_span.start for token_span in token_spans), span.end]
    for start, end in zip(starts, ends, strict=True):
        for comment in comments.finditer(text, start, end):
            if comment["signed"]:
                yield Span(*comment.span("signed"))


def _unbracket_names(clause: ClauseTokens, start: int, end: int) -> Iterator[Edit]:
    """Yield the edits that write `[A]` without brackets, if A is a variable.

    The lexer of PATTERN does not know names in brackets.

    Args:
        clause: the tokens of the clause.
        start: the index of the first token of the pattern.
        end: the index after its last token.
    """
    names = {token.name.upper() for token in clause.tokens[start:end]}
    for token in clause.tokens:
        is_bracketed = token.kind is TokenKind.QUOTED and clause.text_at(token.span)[0] == "["
        if is_bracketed and token.name.upper() in names:
            yield Edit(token.span, token.name if token.name.isidentifier() else f'"{token.name}"')


def _fill_empty_alternatives(
    clause: ClauseTokens, opening: int, closing: int, sign: str
) -> Iterator[Edit]:
    """Yield the edits that write `()` on each empty side of `|`.

    Args:
        clause: the tokens of the clause.
        opening: the index of the parenthesis that opens the pattern.
        closing: the index of the parenthesis that closes it.
        sign: what a comment of the product begins with.
    """
    span = Span(clause[opening].span.end, clause[closing].span.start)
    text = clause.text
    # The lexer of PATTERN does not know the product's comments. Blanks instead of them keep every
    # token where it is.
    for comment in _find_comments(text, clause.tokens[opening + 1 : closing], span, sign):
        text = text[: comment.start] + " " * (comment.end - comment.start) + text[comment.end :]
    tokens = read_pattern_tokens(text, span)
    for index, token in enumerate(tokens):
        if token.key != "|":
            continue
        key_before = tokens[index - 1].key if index else ""
        if key_before in _BEFORE_EMPTY:
            yield Edit(Span(token.span.start, token.span.start), "() ")
        if tokens[index + 1].key in _AFTER_EMPTY:
            yield Edit(Span(token.span.end, token.span.end), " ()")


def _name_any_rows(clause: ClauseTokens, start: int, end: int) -> Iterator[Edit]:
    """Yield the edits that write a variable without a condition for each `.` of a pattern.

    Args:
        clause: the tokens of the clause.
        start: the index of the first token of the pattern.
        end: the index after its last token.

    Raises:
        MatchRecognizeError: CLASSIFIER could return the name of this variable.
    """
    dots = [token.span for token in clause.tokens[start:end] if token.key == "."]
    if not dots:
        return
    keys = {token.key for token in clause.tokens}
    if "CLASSIFIER" in keys:
        raise errors.any_row_without_name(dots[0])
    name = "ANY_ROW"
    while name in keys:
        name += "_"
    for span in dots:
        yield Edit(span, f" {name} ".replace("  ", " "))


def note_alternatives(
    text: str, pattern: RowPattern, read: Product, write: Product
) -> Iterator[TranslationNote]:
    """Yield a note on each alternative that may mean something else in the other product.

    Args:
        text: the text of the clause.
        pattern: its row pattern.
        read: the product whose SQL it is.
        write: the product that is written.
    """
    if read.divides_sequences is write.divides_sequences:
        return
    title = read.title if read.divides_sequences else write.title
    meaning = (
        f"`A B | C` means `A (B | C)` in the documentation of {title}, and `(A B) | C` elsewhere"
    )
    for span in _find_bare_sequences(text, pattern):
        yield TranslationNote(f"{meaning}: write the parentheses", span)


def _find_bare_sequences(text: str, pattern: RowPattern) -> Iterator[Span]:
    """Yield the alternatives that are sequences without parentheses around them."""
    for node in walk_pattern(pattern):
        if not isinstance(node, Alternation):
            continue
        for part in node.parts:
            if isinstance(part, Concatenation) and part.span is not None:
                tokens = read_pattern_tokens(text, part.span)
                last = len(tokens) - 2  # before the token for the end of the text
                if pair_brackets(tokens).get(0) != last:
                    yield part.span
