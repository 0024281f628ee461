"""The parts of a clause: which word starts one, and where each ends.

No word of the clause is reserved. `pattern`, `define`, `within`, `measures` and the others may name
columns and measures, so each is recognized by what stands around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NoReturn, TypeVar

from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import meant_keyword
from matchrec.errors.sql import clause as errors
from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.lexing.tokens import TokenKind, pair_brackets
from matchrec.frontends.sql.clause.misplaced import is_distance, pattern_outside
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.source import Span


class Part(Enum):
    """The parts in their order, each with its name in messages."""

    PARTITION_BY = "PARTITION BY"
    ORDER_BY = "ORDER BY"
    MEASURES = "MEASURES"
    ROWS_PER_MATCH = "ONE ROW or ALL ROWS PER MATCH"
    AFTER_MATCH = "AFTER MATCH SKIP"
    SEARCH = "INITIAL or SEEK"
    PATTERN = "PATTERN"
    WITHIN = "WITHIN"
    SUBSET = "SUBSET"
    DEFINE = "DEFINE"


_ORDER = tuple(Part)
_TWO_WORDS = (Part.PARTITION_BY, Part.ORDER_BY)
_ONE_WORD = (Part.MEASURES, Part.WITHIN, Part.SUBSET, Part.DEFINE)
_WORDS = {Part.PARTITION_BY: 2, Part.ORDER_BY: 2, Part.ROWS_PER_MATCH: 4, Part.AFTER_MATCH: 3}
_WITH_KEYWORD = (Part.ROWS_PER_MATCH, Part.AFTER_MATCH, Part.SEARCH)
_AFTER_PATTERN = (Part.WITHIN, Part.SUBSET, Part.DEFINE)
_NOT_AT_AN_END = words(
    """
    AND AS BETWEEN BY CASE COLLATE DISTINCT DIV ELSE ESCAPE FROM ILIKE IN IS LIKE NOT OR REGEXP
    RLIKE THEN WHEN
    """
)


@dataclass(frozen=True, slots=True)
class Section:
    """Tokens `start .. end` are what `part` holds. keyword: where it starts in the query."""

    part: Part
    keyword: Span
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class ClauseTokens(TokenSequence):
    """The tokens between the clause's parentheses, which stand at `inside` of the query."""

    inside: Span

    def ends_expression(self, index: int) -> bool:
        """Whether an expression, or the clause's start, may end with the token at `index`."""
        if index < 0:
            return True
        symbol = self[index].kind is TokenKind.SYMBOL
        return self.key(index) in (")", "]", "?") if symbol else self.is_end_word(index)

    def is_end_word(self, index: int) -> bool:
        """Whether no operator and no AS stands at `index`, unless it is a column's field."""
        return self.key(index) not in _NOT_AT_AN_END or self.key(index - 1) == "."


def cut_out_tokens(query: TokenSequence, opening: int, closing: int) -> ClauseTokens:
    """The tokens of the clause whose parentheses are at two indices of its query."""
    tokens = query.tokens[opening + 1 : closing]
    inside = Span(query[opening].span.end, query[closing].span.start)
    return ClauseTokens(
        query.text, tokens, pair_brackets(tokens), dialect=query.dialect, inside=inside
    )


def all_tokens(text: TokenSequence) -> ClauseTokens:
    """The tokens of a clause of which nothing but the content is written."""
    inside = Span(0, len(text.text))
    return ClauseTokens(text.text, text.tokens, text.pairs, dialect=text.dialect, inside=inside)


def find_sections(clause: ClauseTokens) -> dict[Part, Section]:
    """The parts that are written, after checking their order."""
    if not clause.tokens:
        raise errors.empty_clause(clause.inside)
    starts = tuple(_starts(clause))
    if not starts or starts[0][1] > 0:
        _refuse_start(clause)
    _check_order(clause, starts)
    ends = [index for _, index in starts[1:]] + [len(clause)]
    written = {
        part: Section(part, _keyword(clause, part, index), _content(part, index), end)
        for (part, index), end in zip(starts, ends, strict=True)
    }
    if Part.PATTERN not in written:
        _refuse_without_pattern(clause, written)
    return written


def _keyword(clause: ClauseTokens, part: Part, index: int) -> Span:
    return clause.span(index, min(index + _WORDS.get(part, 1), len(clause)))


def _content(part: Part, index: int) -> int:
    return index if part in _WITH_KEYWORD else index + _WORDS.get(part, 1)


def _starts(clause: ClauseTokens) -> Iterator[tuple[Part, int]]:
    """Where each part starts, left to right; brackets are skipped."""
    index = 0
    pattern_end = keyword_end = -1
    while index < len(clause):
        part = _part_at(clause, index, pattern_end)
        first = index == keyword_end and not _starts_definition(clause, index)
        if part in _ONE_WORD and (first or _is_variable(clause, index)):
            part = None  # the first item of the part before, e.g. a column called measures
        if part:
            yield part, index
            keyword_end = index + (2 if part in _TWO_WORDS else 1)
        if part is Part.PATTERN:
            closing = clause.pairs.get(index + 1, -1)
            if closing < 0:
                raise errors.parenthesis_not_closed("PATTERN", clause[index + 1].span)
            pattern_end = read_words_after_pattern(clause, closing)[1] - 1
        index = clause.past(index)


def read_words_after_pattern(
    clause: ClauseTokens, closing: int
) -> tuple[tuple[EventSelection | None, MatchOutput | None], int]:
    """What the words after PATTERN's parenthesis say, and the token after them."""
    selection, end = _one_of(tuple(EventSelection), clause, closing + 1)
    output, end = _one_of(_OUTPUTS, clause, end)
    return (selection, output), end


_OUTPUTS = (MatchOutput.ALL, MatchOutput.NON_OVERLAPPING, MatchOutput.LONGEST)
_Words = TypeVar("_Words", EventSelection, MatchOutput)


def _one_of(
    members: tuple[_Words, ...], clause: ClauseTokens, start: int
) -> tuple[_Words | None, int]:
    """The member whose words stand at `start`, and the token after them."""
    for member in members:
        written = member.value.replace("-", " - ").split()
        if [clause.key(start + place) for place in range(len(written))] == written:
            return member, start + len(written)
    return None, start


def _part_at(clause: ClauseTokens, index: int, pattern_end: int) -> Part | None:
    word, following = clause.key(index), clause.key(index + 1)
    if clause.key(index - 1) in (".", "AS"):
        return None
    match word, following:
        case "PARTITION", "BY":
            return Part.PARTITION_BY
        case "ORDER", "BY":
            return Part.ORDER_BY
        case (("ONE" | "ALL"), ("ROW" | "ROWS")):
            return Part.ROWS_PER_MATCH
        case "AFTER", "MATCH":
            return Part.AFTER_MATCH
        case (("INITIAL" | "SEEK"), "PATTERN") if clause.key(index + 2) == "(":
            return Part.SEARCH
        case "PATTERN", "(":
            return Part.PATTERN
        case "MEASURES", _ if _starts_measures(clause, index):
            return Part.MEASURES
        case "WITHIN", _ if index - 1 == pattern_end or is_distance(clause, index + 1):
            return Part.WITHIN
        case "SUBSET", _ if _starts_item(clause, index, pattern_end, "="):
            return Part.SUBSET
        case "DEFINE", _ if _starts_item(clause, index, pattern_end, "AS"):
            return Part.DEFINE
    return None


def _starts_definition(clause: ClauseTokens, index: int) -> bool:
    """`DEFINE A AS`, which can be nothing else."""
    return (
        clause.key(index) == "DEFINE"
        and clause.can_name(index + 1)
        and clause.key(index + 2) == "AS"
    )


def _is_variable(clause: ClauseTokens, index: int) -> bool:
    """Whether `index` is the variable of SKIP TO, FIRST, LAST, or one of WITHIN ... FROM A TO B."""
    before = [clause.key(i) for i in range(index - 3, index)]
    skipped = before[1:] == ["SKIP", "TO"] or before in (
        ["SKIP", "TO", "FIRST"],
        ["SKIP", "TO", "LAST"],
    )
    is_to = (before[0], before[2]) == ("FROM", "TO")
    return skipped or is_to or (before[2], clause.key(index + 1)) == ("FROM", "TO")


def _starts_measures(clause: ClauseTokens, index: int) -> bool:
    """Not a column: an expression ends before it and another starts after it."""
    followed = index + 1 < len(clause) and clause.key(index + 1) not in (",", ")")
    return clause.ends_expression(index - 1) and followed


def _starts_item(clause: ClauseTokens, index: int, pattern_end: int, sign: str) -> bool:
    """A name and `sign` follow, or what precedes can be nothing but a part's end."""
    named = clause.can_name(index + 1) and clause.key(index + 2) == sign
    return named or index - 1 == pattern_end or (clause.key(index - 1) == ")" and pattern_end >= 0)


def _check_order(clause: ClauseTokens, starts: Sequence[tuple[Part, int]]) -> None:
    """Raises at the first part that stands there twice, or after one that it must precede."""
    names = {part: _name(clause, part, index) for part, index in starts}
    before: dict[Part, Span] = {}
    for part, index in starts:
        keyword = _keyword(clause, part, index)
        if part in before:
            raise errors.written_twice(part.value, (before[part], keyword))
        later = next((one for one in before if _ORDER.index(one) > _ORDER.index(part)), None)
        if later:
            order = [names[one] for one in _ORDER if one in names]
            raise errors.out_of_order(names[later], names[part], order, keyword)
        before[part] = keyword


def _name(clause: ClauseTokens, part: Part, index: int) -> str:
    """What a message calls a part that is written."""
    match part:
        case Part.ROWS_PER_MATCH:
            return f"{clause.key(index)} {clause.key(index + 1)} PER MATCH"
        case Part.SEARCH:
            return clause.key(index)
        case _:
            return str(part.value)


def _refuse_start(clause: ClauseTokens) -> NoReturn:
    token = clause[0]
    if token.key == "PATTERN":
        raise _without_parentheses(clause, 0)
    raise errors.unexpected_start(token.text.upper(), token.span)


def _without_parentheses(clause: ClauseTokens, index: int) -> MatchRecognizeError:
    """The error of PATTERN at `index` that no parenthesis follows."""
    opening = next((at for at in range(index, len(clause)) if clause.key(at) == "("), index)
    between = [clause.key(at) for at in range(index + 1, opening)]
    outside = pattern_outside(clause, index, index + 1) if set(between) == {"^"} else None
    return outside or errors.pattern_without_parentheses(clause[index].span)


def _refuse_without_pattern(clause: ClauseTokens, written: dict[Part, Section]) -> None:
    for index, token in enumerate(clause.tokens):
        if token.key == "PATTERN" and clause.ends_expression(index - 1):
            raise _without_parentheses(clause, index)
        misspelt = token.key != "PATTERN" and meant_keyword(token.key) == "PATTERN"
        if misspelt and clause.key(index + 1) == "(":
            raise errors.misspelt_pattern(token.text, token.span)
    after = [section for part, section in written.items() if part in _AFTER_PATTERN]
    last = clause[-1].span
    closing = Span(clause.inside.end, clause.inside.end + 1)
    here = closing if closing.end <= len(clause.text) else last
    raise errors.missing_pattern(after[0].keyword if after else here)
