"""Find row pattern windows in a query, and read each like a clause.

    SELECT id, low OVER w FROM t WHERE x > 0 WINDOW w AS (...)

The window `w` becomes a site: a clause over the relation `t WHERE x > 0`. Once the window is
evaluated, the query is `SELECT id, "low OVER w" FROM □ AS t`: a hole has replaced the rows, and a
column has replaced the call. Windows of the same SELECT are evaluated one after the other, each
over the result of the previous window.

`find_pattern_windows` finds the windows, the calls over them and the SELECTs around them by their
tokens. `read_window` reads the tokens between a window's parentheses as a clause with a frame. If
the window is derived from a base window, as in `OVER (v MEASURES ...)`, the tokens of the base
window `v` come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from matchrec.errors.sql import window as errors
from matchrec.syntax import grammar, sections
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.clause_tokens import ClauseTokens, cut_out_tokens
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.tokens import Token, TokenRange, TokenSequence, pair_brackets, split_words
from matchrec.syntax.window_selects import Select, find_select

# Words that may come right before PATTERN: the last word of a frame or of AFTER MATCH SKIP, or
# INITIAL or SEEK.
_WORDS_BEFORE_PATTERN = split_words("ROW ROWS FOLLOWING INITIAL SEEK OTHERS")

# Functions that read the whole partition, whatever the frame is, so that Spark computes them.
PARTITION_FUNCTIONS = split_words(
    "ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD"
)


@dataclass(frozen=True)
class CallTokens:
    """A call over a window, as indices of tokens."""

    # The first token of the call.
    start: int
    # The word OVER.
    over: int
    # The token after the window or its name.
    end: int
    # The opening parenthesis of the window. For `OVER w`, it is in WINDOW.
    window: int


@dataclass(frozen=True, eq=False)
class PatternWindow:
    """A row pattern window in a query."""

    # The index of the window's opening parenthesis.
    opening: int
    # The index of its closing parenthesis.
    closing: int
    # The name of the window in WINDOW; None for a window without a name.
    name: str | None
    # The SELECT around the window.
    select: Select
    # The calls over the window that read the rows of its matches.
    calls: tuple[CallTokens, ...]
    # Whether PARTITION BY and ORDER BY of the window stay in the query, because another window may
    # be derived from it, or Spark computes a call over it.
    keeps_keys: bool


def find_pattern_windows(tokens: TokenSequence) -> tuple[PatternWindow, ...]:
    """Return the row pattern windows of a query, in the order of the text.

    Raises:
        MatchRecognizeError: a window, or a call over it, is in a place where it cannot be
            evaluated.
    """
    openings = _find_outermost_windows(tokens)
    if not openings:
        return ()
    selects = {opening: find_select(tokens, opening) for opening in openings}
    calls: dict[int, list[CallTokens]] = {opening: [] for opening in openings}
    for call in _find_calls(tokens, openings):
        calls[call.window].append(call)
    windows = []
    for opening in sorted(openings):
        _reject_derived_windows(tokens, selects[opening], opening)
        calls_over_match = tuple(
            call for call in calls[opening] if not _reads_partition(tokens, call)
        )
        name = tokens[opening - 2].text if tokens.key(opening - 1) == "AS" else None
        window = PatternWindow(
            opening=opening,
            closing=tokens.pairs[opening],
            name=name,
            select=selects[opening],
            calls=calls_over_match,
            keeps_keys=name is not None or len(calls_over_match) < len(calls[opening]),
        )
        windows.append(window)
    return tuple(windows)


def _find_outermost_windows(tokens: TokenSequence) -> set[int]:
    """Return the opening parentheses of the row pattern windows that are not inside another one."""
    openings = {opening for opening in tokens.pairs if _has_pattern(tokens, opening)}
    return {
        opening
        for opening in openings
        if not any(_encloses(tokens, other, opening) for other in openings)
    }


def _reads_partition(tokens: TokenSequence, call: CallTokens) -> bool:
    """Return whether a function reads the whole partition, so that Spark computes the call."""
    return tokens.is_call(call.start) and tokens.key(call.start) in PARTITION_FUNCTIONS


def is_window(tokens: TokenSequence, opening: int) -> bool:
    """Return whether parentheses follow OVER, or a name in WINDOW."""
    if tokens.key(opening) != "(":
        return False
    if tokens.key(opening - 1) == "OVER":
        return True
    if tokens.key(opening - 1) != "AS":
        return False
    level = tokens.walk_level(tokens.enclosing_openings[opening] + 1, opening)
    return any(tokens.key(index) == "WINDOW" for index in level)


def _has_pattern(tokens: TokenSequence, opening: int) -> bool:
    """Return whether parentheses are a window with PATTERN.

    A call of a function with the name `pattern` does not count. So the parentheses must also
    contain another part of a row pattern window, or the last word of a part right before PATTERN.
    """
    if not is_window(tokens, opening):
        return False
    level = tuple(tokens.walk_level(opening + 1, tokens.pairs[opening]))
    patterns_or_calls = [index for index in level if tokens.has_keys(index, "PATTERN", "(")]
    if not patterns_or_calls:
        return False
    for index in level:
        is_define = tokens.key(index) == "DEFINE" and tokens.key(index + 2) == "AS"
        if is_define or tokens.key(index) == "MEASURES" or tokens.has_keys(index, "AFTER", "MATCH"):
            return True
    return any(tokens.key(index - 1) in _WORDS_BEFORE_PATTERN for index in patterns_or_calls)


def _encloses(tokens: TokenSequence, opening: int, index: int) -> bool:
    """Return whether a token is inside the brackets that open at `opening`."""
    return opening < index < tokens.pairs[opening]


def _find_calls(tokens: TokenSequence, windows: set[int]) -> Iterator[CallTokens]:
    """Yield each call over a row pattern window, from left to right.

    Args:
        tokens: the tokens of the query.
        windows: the opening parentheses of the row pattern windows.

    Raises:
        MatchRecognizeError: a call is neither in the select list nor in ORDER BY, or a measure is
            called over a window without PATTERN.
    """
    for over in range(len(tokens)):
        if tokens.key(over) != "OVER":
            continue
        if any(_encloses(tokens, window, over) for window in windows):
            continue
        called = _find_called_window(tokens, over, windows)
        if called is None:
            _reject_measure_without_pattern(tokens, over)
            continue
        start = _find_call_start(tokens, over)
        select = find_select(tokens, over)
        is_in_items = select.select < over < select.from_
        is_in_order = over in range(*select.order)
        if not (is_in_items or is_in_order):
            raise errors.misplaced_pattern_window_call(tokens.span(start, called.end))
        yield CallTokens(start, over, called.end, called.opening)


def _reject_measure_without_pattern(tokens: TokenSequence, over: int) -> None:
    """Raise an error if a name is called over a window without PATTERN, which has no measures."""
    after = over + 1
    has_definition = tokens.key(after) == "("
    has_name = after < len(tokens) and tokens[after].is_name and tokens.key(after) != "FROM"
    if not (has_definition or has_name):
        return  # OVER is an alias here.
    is_item = tokens.key(over - 2) in (",", "SELECT", "BY", "(")
    if is_item and tokens[over - 1].is_name:
        raise errors.measure_of_plain_window(tokens[over - 1].span, name=tokens[over - 1].text)


@dataclass(frozen=True)
class CalledWindow:
    """The row pattern window of a call: `OVER (...)`, `OVER w` or `OVER (w)`."""

    # The opening parenthesis of the window. For `OVER w`, it is in WINDOW.
    opening: int
    # The token after the window or its name.
    end: int


def _find_called_window(tokens: TokenSequence, over: int, windows: set[int]) -> CalledWindow | None:
    """Return the window of the call with OVER at `over`; None if it has no PATTERN.

    Args:
        tokens: the tokens of the query.
        over: the index of OVER.
        windows: the opening parentheses of the row pattern windows.
    """
    after = over + 1
    if after in windows:
        return CalledWindow(after, tokens.pairs[after] + 1)
    # OVER (w) is the same as OVER w.
    is_in_parentheses = tokens.key(after) == "(" and tokens.pairs.get(after) == after + 2
    name_index = after + 1 if is_in_parentheses else after
    end = after + 3 if is_in_parentheses else after + 1
    if name_index >= len(tokens) or not tokens[name_index].is_name:
        return None
    name = tokens[name_index].name.lower()
    window_names = {
        tokens[window - 2].name.lower() for window in windows if tokens.key(window - 1) == "AS"
    }
    if name not in window_names:  # a quick test before the SELECT is read
        return None
    opening = find_select(tokens, over).definitions.get(name)
    if opening is None or opening not in windows:
        return None
    return CalledWindow(opening, end)


def _find_call_start(tokens: TokenSequence, over: int) -> int:
    """Return the index of the first token of the call before OVER.

    The call may be a measure, `t.m`, or a function with `FILTER (...)`, `WITHIN GROUP (...)` and
    `IGNORE NULLS` after its arguments.
    """
    index = over - 1
    while tokens.key(index) == "NULLS" and tokens.key(index - 1) in ("IGNORE", "RESPECT"):
        index -= 2
    while tokens.key(index) == ")" and index in tokens.openings:
        opening = tokens.openings[index]
        if tokens.key(opening - 1) == "FILTER":
            index = opening - 2
        elif tokens.has_keys(opening - 2, "WITHIN", "GROUP"):
            index = opening - 3
        else:
            index = opening - 1
            break
    while tokens.key(index - 1) == ".":
        index -= 2
    return index


def _reject_derived_windows(tokens: TokenSequence, select: Select, window: int) -> None:
    """Raise an error if another window is derived from a row pattern window.

    A derived window adds a frame, and a row pattern window already has a frame.

    Args:
        tokens: the tokens of the query.
        select: the SELECT of the window.
        window: the opening parenthesis of the window.
    """
    if tokens.key(window - 1) != "AS":
        return
    name = tokens[window - 2].name.lower()
    for index in select.copied_names:
        if tokens[index].name.lower() == name:
            raise errors.derived_from_pattern_window(tokens[index].span, name=tokens[index].text)
    windows_of_calls = [
        opening
        for opening in tokens.pairs
        if select.select < opening < select.end and tokens.key(opening - 1) == "OVER"
    ]
    for opening in (*select.definitions.values(), *windows_of_calls):
        first = opening + 1
        closing = tokens.pairs[opening]
        is_empty = closing == first
        if is_empty or not tokens[first].is_name or tokens[first].name.lower() != name:
            continue
        is_extended = closing - first > 1 and tokens.key(first + 1) != "BY"
        if is_extended or tokens.key(opening - 1) == "AS":
            raise errors.derived_from_pattern_window(tokens[first].span, name=tokens[first].text)


@dataclass(frozen=True)
class ParsedWindow:
    """A row pattern window, read as a clause."""

    # Where the window is in the query.
    location: PatternWindow
    # The clause.
    clause: MatchRecognize
    # The text of PARTITION BY and ORDER BY, also of the base window.
    keys_text: str


def read_window(tokens: TokenSequence, window: PatternWindow) -> ParsedWindow:
    """Read the clause of a window.

    Raises:
        MatchRecognizeError: a part is malformed, or ORDER BY is missing.
    """
    clause = cut_out_window_tokens(tokens, window, includes_base=True)
    parts = sections.find_sections(clause)
    if ClausePart.ORDER_BY not in parts:
        raise errors.pattern_window_without_order(tokens.span(window.opening, window.opening + 1))
    texts = []
    for part, section in parts.items():
        if part in sections.KEY_PARTS:
            last = clause[section.end - 1]
            texts.append(clause.text_at(section.keyword.to(last.span)))
    return ParsedWindow(window, grammar.read_clause(clause), " ".join(texts))


def cut_out_window_tokens(
    tokens: TokenSequence, window: PatternWindow, *, includes_base: bool = False
) -> ClauseTokens:
    """Return the tokens of a window's clause, without the name of its base window.

    Args:
        tokens: the tokens of the query.
        window: the window.
        includes_base: whether the result begins with the tokens of the base window, if any.

    Raises:
        MatchRecognizeError: the base window does not exist, or the window may not be derived from
            it.
    """
    base = _find_base(tokens, window)
    start = window.opening + (1 if base is None else 2)
    clause_tokens = tokens.tokens[start : window.closing]
    if includes_base and base is not None:
        base_start, base_end = base
        clause_tokens = (*tokens.tokens[base_start:base_end], *clause_tokens)
    clause = cut_out_tokens(tokens, window.opening, window.closing)
    pairs = pair_brackets(clause_tokens)
    return replace(clause, tokens=clause_tokens, pairs=pairs, is_in_window=True)


def _find_base(tokens: TokenSequence, window: PatternWindow) -> TokenRange | None:
    """Return the tokens of the base window, whose name is the first token of a derived window.

    The result is None if the window begins with a part, and not with a name.

    Raises:
        MatchRecognizeError: the base window does not exist, or the window may not be derived from
            it.
    """
    first = window.opening + 1
    name = tokens[first]
    second_key = tokens.key(first + 1)
    parts = ("MEASURES", "PARTITION", "ORDER", *sections.UNITS_OF_FRAMES)
    starts_part = second_key in ("BY", "BETWEEN", "MATCH", "(")
    if name.key == "MEASURES":  # the name of a window if another part follows
        is_window_name = second_key in parts and tokens.key(first + 2) != ","
        starts_part = starts_part or not is_window_name
    if starts_part or not name.is_name:
        return None
    definitions = window.select.definitions
    if name.name.lower() not in definitions:
        raise errors.unknown_window(name.span, name=name.text, windows=list(definitions))
    opening = definitions[name.name.lower()]
    base = opening + 1, tokens.pairs[opening]
    _check_base(tokens, base, (first + 1, window.closing), name)
    return base


def _check_base(tokens: TokenSequence, base: TokenRange, derived: TokenRange, name: Token) -> None:
    """Check that a window may be derived from its base window.

    Args:
        tokens: the tokens of the query.
        base: the tokens of the base window.
        derived: the tokens of the derived window after the name of the base window.
        name: the name of the base window in the derived window.

    Raises:
        MatchRecognizeError: the base window has a frame, or both have PARTITION BY or ORDER BY.
    """
    base_keys = [tokens.key(index) for index in tokens.walk_level(*base)]
    for index in tokens.walk_level(*base):
        is_column = tokens.key(index - 1) in ("BY", ",", ".")
        is_frame = tokens.key(index) in sections.UNITS_OF_FRAMES and not is_column
        if is_frame or tokens.key(index) == "PATTERN":
            raise errors.window_base_has_frame(name.span, name=name.text)
    for index in tokens.walk_level(*derived):
        key = tokens.key(index)
        is_second = key == "PARTITION" or (key == "ORDER" and key in base_keys)
        if is_second and tokens.key(index + 1) == "BY":
            span = tokens.span(index, index + 2)
            raise errors.derived_window_keys(span, part=f"{key} BY", name=name.text)


def is_unnamed_item(tokens: TokenSequence, call: CallTokens, select: Select) -> bool:
    """Return whether a call is a whole item of the select list, without an alias after it."""
    first, end = select.items
    starts_item = call.start == first or tokens.key(call.start - 1) in (",", "DISTINCT", "ALL")
    ends_item = call.end == end or tokens.key(call.end) == ","
    is_in_items = first <= call.start < end and call.start in tokens.walk_level(first, end)
    return is_in_items and starts_item and ends_item
