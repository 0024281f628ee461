"""Row pattern windows and the calls over them, by their tokens."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.dataclass import dataclass
from matchrec.errors.sql import window as errors
from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.sql.windows.blocks import Select, find_select

_BEFORE_PATTERN = words("ROW ROWS FOLLOWING INITIAL SEEK OTHERS")
OF_PARTITION = words("ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD")
"""Functions that look at the partition, whatever the frame is."""


@dataclass(frozen=True)
class Call:
    """Tokens `start .. over` are called over a window; with it the call ends at `end`."""

    start: int
    over: int
    end: int

    def is_of_partition(self, tokens: TokenSequence) -> bool:
        """Whether it looks at the whole partition, so that Spark computes it."""
        return tokens.key(self.start) in OF_PARTITION and tokens.key(self.start + 1) == "("


@dataclass(frozen=True, eq=False)
class FoundWindow:
    """A row pattern window: its parentheses, the name that WINDOW gives it, or None, its SELECT."""

    opening: int
    closing: int
    name: str | None
    select: Select
    calls: tuple[Call, ...]


def find_pattern_windows(tokens: TokenSequence) -> tuple[FoundWindow, ...]:
    """The row pattern windows of a query, in the order of the text."""
    inside = {opening for opening in tokens.pairs if _has_pattern(tokens, opening)}
    outermost = {one for one in inside if not any(_holds(tokens, two, one) for two in inside)}
    if not outermost:
        return ()
    selects = {opening: find_select(tokens, opening) for opening in outermost}
    calls = dict(_calls(tokens, outermost))
    found = []
    for opening in sorted(outermost):
        own = tuple(call for call, window in calls.items() if window == opening)
        select = selects[opening]
        _refuse_derived(tokens, select, opening)
        name = tokens[opening - 2].text if tokens.key(opening - 1) == "AS" else None
        found.append(FoundWindow(opening, tokens.pairs[opening], name, select, own))
    return tuple(found)


def is_window(tokens: TokenSequence, opening: int) -> bool:
    """Whether parentheses are those of OVER, or of a definition in WINDOW."""
    if tokens.key(opening) != "(":
        return False
    if tokens.key(opening - 1) == "OVER":
        return True
    around = tokens.around[opening]
    before = (tokens.key(i) for i in tokens.level(around + 1, opening))
    return tokens.key(opening - 1) == "AS" and "WINDOW" in before


def _has_pattern(tokens: TokenSequence, opening: int) -> bool:
    """Whether PATTERN stands in a window, as no function of that name could."""
    if not is_window(tokens, opening):
        return False
    level = tuple(tokens.level(opening + 1, tokens.pairs[opening]))
    has_others = any(_starts_other_part(tokens, i) for i in level)
    return any(
        tokens.says(i, "PATTERN", "(") and (has_others or tokens.key(i - 1) in _BEFORE_PATTERN)
        for i in level
    )


def _starts_other_part(tokens: TokenSequence, index: int) -> bool:
    """Whether a part stands there that only a window with PATTERN has."""
    defines = tokens.key(index) == "DEFINE" and tokens.key(index + 2) == "AS"
    return defines or tokens.key(index) == "MEASURES" or tokens.says(index, "AFTER", "MATCH")


def _holds(tokens: TokenSequence, outer: int, inner: int) -> bool:
    return outer < inner < tokens.pairs[outer]


def _calls(tokens: TokenSequence, windows: set[int]) -> Iterator[tuple[Call, int]]:
    """Each call over one of the windows, and that window's parenthesis."""
    for over in range(len(tokens)):
        if tokens.key(over) != "OVER" or any(_holds(tokens, one, over) for one in windows):
            continue
        found = _window_of(tokens, over, windows)
        if found is None:
            _refuse_measure(tokens, over)
            continue
        window, end = found
        select = find_select(tokens, over)
        if not select.may_hold_calls(over):
            raise errors.call_in_wrong_place(tokens.span(_start(tokens, over), end))
        yield Call(_start(tokens, over), over, end), window


def _refuse_measure(tokens: TokenSequence, over: int) -> None:
    """A name before OVER and a window without PATTERN, which has no measures."""
    named = tokens.key(over + 1) == "(" or (over + 1 < len(tokens) and tokens[over + 1].is_name)
    named = named and tokens.key(over + 1) != "FROM"  # there it is an alias
    is_item = tokens.key(over - 2) in (",", "SELECT", "BY", "(")
    if named and is_item and tokens[over - 1].is_name:
        raise errors.measure_of_plain_window(tokens[over - 1].text, tokens[over - 1].span)


def _window_of(tokens: TokenSequence, over: int, windows: set[int]) -> tuple[int, int] | None:
    """The row pattern window that OVER names or holds, and the token after it."""
    named = over + 1
    if over + 1 in windows:
        return over + 1, tokens.pairs[over + 1] + 1
    if tokens.key(over + 1) == "(" and tokens.pairs.get(over + 1) == over + 3:
        named = over + 2  # OVER (w) is OVER w
    if not (named < len(tokens) and tokens[named].is_name):
        return None
    level = [i for i in windows if tokens.key(i - 1) == "AS"]
    if not any(tokens[i - 2].name.lower() == tokens[named].name.lower() for i in level):
        return None
    definition = find_select(tokens, over).definitions.get(tokens[named].name.lower())
    if definition is None or definition[0] not in windows:
        return None
    return definition[0], over + 2 * (named - over)


def _start(tokens: TokenSequence, over: int) -> int:
    """Where the call before OVER starts."""
    index = over - 1
    while tokens.key(index) == "NULLS" and tokens.key(index - 1) in ("IGNORE", "RESPECT"):
        index -= 2
    while tokens.key(index) == ")" and index in tokens.openings:
        opening = tokens.openings[index]
        if tokens.key(opening - 1) == "FILTER":
            index = opening - 2
        elif tokens.says(opening - 2, "WITHIN", "GROUP"):
            index = opening - 3
        else:
            index = opening - 1
            break
    while tokens.key(index - 1) == ".":
        index -= 2
    return index


def _refuse_derived(tokens: TokenSequence, select: Select, window: int) -> None:
    """A window that is derived from a row pattern window, which has a frame already."""
    if tokens.key(window - 1) != "AS":
        return
    name = tokens[window - 2].name.lower()
    for place in select.copies:
        if tokens[place].name.lower() == name:
            raise errors.derived_window(tokens[place].text, tokens[place].span)
    places = [(opening, tokens.pairs[opening]) for opening, _ in select.definitions.values()]
    places += [
        (opening, closing)
        for opening, closing in tokens.pairs.items()
        if select.select < opening < select.end and tokens.key(opening - 1) == "OVER"
    ]
    for opening, closing in places:
        first = opening + 1
        is_base = closing > first and tokens[first].is_name and tokens[first].name.lower() == name
        extended = closing - first > 1 and tokens.key(first + 1) != "BY"
        if is_base and (extended or tokens.key(opening - 1) == "AS"):
            raise errors.derived_window(tokens[first].text, tokens[first].span)
