"""What stands between a window's parentheses → a clause and the end of its frame."""

from __future__ import annotations

from matchrec.dataclass import dataclass
from matchrec.errors.sql import window as errors
from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.numbers import whole_number
from matchrec.frontends.lexing.token_sequence import Range, TokenSequence
from matchrec.frontends.lexing.tokens import Token, TokenKind, pair_brackets
from matchrec.frontends.sql.clause.grammar import read_clause
from matchrec.frontends.sql.clause.nodes import ExpressionText, MatchRecognize
from matchrec.frontends.sql.clause.sections import ClauseTokens
from matchrec.frontends.sql.windows.find import FoundWindow
from matchrec.frontends.sql.windows.nodes import FrameEnd
from matchrec.source import Span

_UNITS = words("ROWS RANGE GROUPS")
_KEYS = ("PARTITION", "ORDER")
_AFTER_FRAME = words("AFTER INITIAL SEEK PATTERN")


@dataclass(frozen=True)
class ReadWindow:
    """A window's clause and frame. plain: the text of PARTITION BY and ORDER BY, those of the
    window that it is derived from included; rest: what comes after them.
    """

    clause: MatchRecognize
    frame: FrameEnd
    plain: str
    rest: Span


def read_window(tokens: TokenSequence, window: FoundWindow) -> ReadWindow:
    """The clause and the frame of a row pattern window."""
    base, start = _base(tokens, window)
    level = tuple(tokens.level(start, window.closing))
    frame = _frame_range(tokens, level, window)
    own = (*tokens.tokens[start : frame[0]], *tokens.tokens[frame[1] : window.closing])
    inherited = tokens.tokens[base[0] : base[1]]
    clause = _clause_tokens(tokens, (*inherited, *own), window)
    _refuse_other_parts(tokens, level)
    keys_end = next((i for i in level if _ends_keys(tokens, i, frame[0])), window.closing)
    plain = " ".join(
        tokens.text_at(tokens.span(*part))
        for part in (base, (start, keys_end))
        if part[0] < part[1]
    )
    if not any(tokens.key(i) == "ORDER" for i in (*range(*base), *level)):
        raise errors.needs_order(tokens.span(window.opening, window.opening + 1))
    return ReadWindow(
        read_clause(clause),
        _frame(tokens, frame),
        plain,
        tokens.span(keys_end, window.closing),
    )


def clause_of_own(tokens: TokenSequence, window: FoundWindow) -> ClauseTokens:
    """The tokens of the clause that are the window's own, without its frame."""
    _, start = _base(tokens, window)
    frame = _frame_range(tokens, tuple(tokens.level(start, window.closing)), window)
    own = (*tokens.tokens[start : frame[0]], *tokens.tokens[frame[1] : window.closing])
    return _clause_tokens(tokens, own, window)


def _clause_tokens(
    tokens: TokenSequence, own: tuple[Token, ...], window: FoundWindow
) -> ClauseTokens:
    inside = Span(tokens[window.opening].span.end, tokens[window.closing].span.start)
    return ClauseTokens(tokens.text, own, pair_brackets(own), dialect=tokens.dialect, inside=inside)


def _ends_keys(tokens: TokenSequence, index: int, frame: int) -> bool:
    starts_pattern = tokens.key(index) in _AFTER_FRAME and tokens.key(index + 1) in ("(", "MATCH")
    measures = tokens.key(index) == "MEASURES" and tokens.key(index - 1) not in ("BY", ",", ".")
    return index == frame or starts_pattern or measures


def _base(tokens: TokenSequence, window: FoundWindow) -> tuple[Range, int]:
    """The keys of the window that this one is derived from, and where its own tokens begin."""
    first = window.opening + 1
    name = tokens[first]
    if not name.is_name or tokens.key(first + 1) in ("BY", "BETWEEN", "MATCH", "("):
        return (first, first), first
    if name.key == "MEASURES" and not _starts_window(tokens, first + 1):
        return (first, first), first
    known = window.select.definitions
    if name.name.lower() not in known:
        raise errors.unknown_base(name.text, known, name.span)
    opening, _ = known[name.name.lower()]
    base = opening + 1, tokens.pairs[opening]
    _check_base(tokens, base, (first + 1, window.closing), name)
    return base, first + 1


def _starts_window(tokens: TokenSequence, index: int) -> bool:
    """Whether a part of a window starts there, so that a name before it is a window's."""
    return tokens.key(index) in ("MEASURES", *_KEYS, *_UNITS) and tokens.key(index + 1) != ","


def _check_base(tokens: TokenSequence, base: Range, own: Range, name: Token) -> None:
    inside = [tokens.key(i) for i in tokens.level(*base)]
    for index in tokens.level(*base):
        is_frame = tokens.key(index) in _UNITS and tokens.key(index - 1) not in ("BY", ",", ".")
        if is_frame or tokens.key(index) == "PATTERN":
            raise errors.base_with_frame(name.text, name.span)
    for index in tokens.level(*own):
        key = tokens.key(index)
        if tokens.key(index + 1) == "BY" and (
            key == "PARTITION" or (key == "ORDER" and key in inside)
        ):
            raise errors.second_keys(f"{key} BY", name.text, tokens.span(index, index + 2))


def _frame_range(tokens: TokenSequence, level: tuple[int, ...], window: FoundWindow) -> Range:
    """The tokens of the frame."""
    for place, index in enumerate(level):
        if tokens.says(index, "PATTERN", "("):
            break
        if tokens.key(index) in _UNITS and _starts_frame(tokens, index):
            before, after = level[:place], level[place:]
            ends = (
                i for i in after if tokens.key(i) in _AFTER_FRAME or tokens.key(i) == "MEASURES"
            )
            end = next(ends, window.closing)
            late = any(tokens.says(i, "AFTER", "MATCH") for i in before)
            if late or tokens.key(end) == "MEASURES":
                raise errors.misplaced_frame(tokens.span(index, end))
            return index, end
    pattern = next(i for i in level if tokens.says(i, "PATTERN", "("))
    raise errors.window_without_frame(tokens[pattern].span)


def _starts_frame(tokens: TokenSequence, index: int) -> bool:
    """Not a column of that name, as in ORDER BY rows or `rows BETWEEN 1 AND 2`."""
    if tokens.key(index - 1) in ("BY", ",", ".", "AS"):
        return False
    after = [tokens.key(i) for i in range(index + 1, index + 4)]
    bounds = ("CURRENT", "UNBOUNDED")
    is_bound = after[0] in bounds or after[1] in ("PRECEDING", "FOLLOWING")
    between = after[0] == "BETWEEN" and (
        after[1] in bounds or after[2] in ("PRECEDING", "FOLLOWING")
    )
    return is_bound or between


def _frame(tokens: TokenSequence, frame: Range) -> FrameEnd:
    """The end of a frame that starts at the current row."""
    start, end = frame
    span = tokens.span(start, end)
    keys = [tokens.key(i) for i in range(start, end)]
    if keys[-3:] == ["EXCLUDE", "NO", "OTHERS"]:
        keys, end = keys[:-3], end - 3
    last = keys[5:]
    if keys[:5] != ["ROWS", "BETWEEN", "CURRENT", "ROW", "AND"] or "EXCLUDE" in keys:
        raise errors.wrong_frame(" ".join(tokens.text_at(span).split()), span)
    if last == ["UNBOUNDED", "FOLLOWING"]:
        return FrameEnd(None, span)
    if last == ["CURRENT", "ROW"]:
        return FrameEnd(0, span)
    if len(last) < 2 or last[-1] != "FOLLOWING":
        raise errors.wrong_frame(" ".join(tokens.text_at(span).split()), span)
    bound = tokens.span(start + 5, end - 1)
    text = tokens.text_at(bound)
    is_number = end - 1 - (start + 5) == 1 and tokens[start + 5].kind is TokenKind.NUMBER
    if is_number and text.isdigit():
        return FrameEnd(whole_number(text), span)  # beyond all numbers of rows: no limit
    return FrameEnd(ExpressionText(text, bound), span)


def _refuse_other_parts(tokens: TokenSequence, level: tuple[int, ...]) -> None:
    for index in level:
        written = tokens.key(index), tokens.key(index + 1), tokens.key(index + 2)
        if written in (("ONE", "ROW", "PER"), ("ALL", "ROWS", "PER")):
            span = tokens.span(index, index + 4)
            raise errors.not_in_window(f"{written[0]} {written[1]} PER MATCH", span)
