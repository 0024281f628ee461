"""Find row pattern windows in a query, and read each like a clause.

    SELECT id, low OVER w FROM t WHERE x > 0 WINDOW w AS (...)

The window `w` becomes a site: a clause over the relation `t WHERE x > 0`. Once it is evaluated, the
query is `SELECT id, "low OVER w" FROM □ AS t`: a hole has replaced the rows, and a column the call.
Windows of the same SELECT are evaluated one after the other, each over the result of the one
before.

The text between a window's parentheses is read as a clause that ends with a frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from matchrec.errors.sql import window as errors
from matchrec.errors.sql.tokens import unclosed_bracket_in_expression
from matchrec.syntax import grammar, sections
from matchrec.syntax.expressions.reader import ClausePart
from matchrec.syntax.from_relations import is_from, is_set_operator, is_word, starts_part
from matchrec.syntax.nodes import MatchRecognize, WindowCall
from matchrec.syntax.tokens import Token, TokenRange, TokenSequence, pair_brackets, split_words

# Find row pattern windows, the calls over them, and the SELECTs around them, by their tokens.

_GROUPING_WORDS = split_words("GROUP HAVING QUALIFY")


@dataclass(frozen=True)
class Select:
    """The locations of the parts of a SELECT, as indices of tokens."""

    # The word SELECT.
    select: int
    # The word FROM.
    from_: int
    # The relations of FROM.
    relation: TokenRange
    # The token after WHERE, or after the relation without WHERE.
    rows_end: int
    # The windows of WINDOW: for a name in lower case, its opening parenthesis and the end.
    definitions: Mapping[str, TokenRange]
    # Each v of `WINDOW w AS v`.
    copies: tuple[int, ...]
    # The items of ORDER BY. Empty if the SELECT is a part of a UNION, which is sorted as a whole.
    order: TokenRange
    # The token after the SELECT.
    end: int

    @property
    def items(self) -> TokenRange:
        """Return the select list."""
        return self.select + 1, self.from_


def find_select(tokens: TokenSequence, index: int) -> Select:
    """Return the innermost SELECT around a token.

    Raises:
        MatchRecognizeError: there is none, or its rows cannot be matched: it has several relations
            or groups.
    """
    parentheses = [
        opening for opening in tokens.walk_brackets_around(index) if tokens.key(opening) == "("
    ]
    for opening in (*parentheses, -1):
        level_end = tokens.pairs.get(opening, len(tokens))
        level = list(tokens.walk_level(opening + 1, level_end))
        selects = [other for other in level if other < index and is_word(tokens, other, "SELECT")]
        if selects:
            break
    else:
        raise errors.pattern_window_outside_select(tokens[index].span)
    select = selects[-1]
    operators = [other for other in level if is_set_operator(tokens, other)]
    end = next((operator for operator in operators if operator > select), level_end)
    inside = [other for other in level if select < other < end]
    is_operand = any(operator < select for operator in operators)
    return _read_select(tokens, inside, (select, end), is_operand=is_operand)


def _read_select(
    tokens: TokenSequence, level: list[int], select_range: TokenRange, *, is_operand: bool
) -> Select:
    """Return the parts of a SELECT.

    Args:
        tokens: the tokens of the query.
        level: the tokens of the SELECT that are in no brackets.
        select_range: its word SELECT, and its end.
        is_operand: whether it follows a set operator, so that ORDER BY is not its own.
    """
    select, end = select_range
    from_ = next((index for index in level if is_from(tokens, index)), None)
    if from_ is None:
        raise errors.pattern_window_without_from(tokens[select].span)
    parts = [index for index in level if index > from_ and starts_part(tokens, index)]
    relation = from_ + 1, parts[0] if parts else end
    _reject_other_relations(tokens, relation)
    has_where = bool(parts) and tokens.key(parts[0]) == "WHERE"
    parts_after_rows = parts[1:] if has_where else parts
    _reject_grouping(tokens, parts_after_rows)
    # For the keyword of each part: its index, and the end of the part.
    part_ends = [*parts_after_rows[1:], end]
    part_ranges = {
        tokens.key(start): (start, part_end)
        for start, part_end in zip(parts_after_rows, part_ends, strict=False)
    }
    window_items: list[TokenRange] = []
    if "WINDOW" in part_ranges:
        window_start, window_end = part_ranges["WINDOW"]
        items = tokens.split_at_commas(window_start + 1, window_end)
        window_items = [item for item in items if item[1] - item[0] > 2]
    order = (end, end)
    if "ORDER" in part_ranges and not is_operand:
        order_start, order_end = part_ranges["ORDER"]
        order = (order_start + 2, order_end)
    return Select(
        select=select,
        from_=from_,
        relation=relation,
        rows_end=parts_after_rows[0] if parts_after_rows else end,
        definitions=_find_definitions(tokens, window_items),
        copies=tuple(start + 2 for start, _ in window_items if tokens.key(start + 2) != "("),
        order=order,
        end=end,
    )


def _reject_grouping(tokens: TokenSequence, parts: Iterable[int]) -> None:
    """Raise an error if a part of the SELECT groups its rows, such as GROUP BY or HAVING.

    Args:
        tokens: the tokens of the query.
        parts: the first tokens of the parts.
    """
    for index in parts:
        key = tokens.key(index)
        if key in _GROUPING_WORDS:
            word = "GROUP BY" if key == "GROUP" else key
            raise errors.pattern_window_with_grouping(tokens[index].span, word=word)


def _reject_other_relations(tokens: TokenSequence, relation: TokenRange) -> None:
    """Raise an error unless FROM has a single relation.

    The rows of several relations have several qualifiers, which one hole cannot replace.
    """
    start, end = relation
    has_values = tokens.key(start) == "VALUES"  # whose rows are separated by commas
    if start == end:
        raise errors.pattern_window_without_from(tokens[start - 1].span)
    for index in (*tokens.walk_level(start, end), end):
        key = tokens.key(index)
        if key in ("JOIN", "LATERAL") or (key == "," and not has_values):
            raise errors.pattern_window_with_join(tokens[index].span)


def _find_definitions(tokens: TokenSequence, items: Sequence[TokenRange]) -> dict[str, TokenRange]:
    """Return, for the names of WINDOW in lower case, the opening parenthesis and the end.

    Args:
        tokens: the tokens of the query.
        items: the items of WINDOW.
    """
    definitions: dict[str, TokenRange] = {}
    for start, end in items:
        if not tokens.has_keys(start + 1, "AS", "("):
            continue
        opening = start + 2
        if opening not in tokens.pairs:
            raise unclosed_bracket_in_expression(
                tokens[opening].span, opening="(", where="the query"
            )
        name = tokens[start].name.lower()
        if name in definitions:
            raise errors.duplicate_window(tokens[start].span, name=tokens[start].text)
        definitions[name] = opening, end
    return definitions


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


@dataclass(frozen=True, eq=False)
class PatternWindow:
    """A row pattern window in a query."""

    # The token that opens its parentheses.
    opening: int
    # The token that closes them.
    closing: int
    # Its name in WINDOW, if it has one.
    name: str | None
    # The SELECT around it.
    select: Select
    # The calls over it that read the rows of its matches.
    calls: tuple[CallTokens, ...]
    # Whether its PARTITION BY and ORDER BY stay in the query, because something else may need them.
    stays: bool


def find_pattern_windows(tokens: TokenSequence) -> tuple[PatternWindow, ...]:
    """Return the row pattern windows of a query, in the order of the text.

    Raises:
        MatchRecognizeError: a window, or a call over it, is in a place where it cannot be
            evaluated.
    """
    with_pattern = {opening for opening in tokens.pairs if _has_pattern(tokens, opening)}
    openings = {
        opening
        for opening in with_pattern
        if not any(_encloses(tokens, other, opening) for other in with_pattern)
    }
    if not openings:
        return ()
    selects = {opening: find_select(tokens, opening) for opening in openings}
    calls = tuple(_find_calls(tokens, openings))
    windows = []
    for opening in sorted(openings):
        calls_over_window = [call for call, window in calls if window == opening]
        calls_over_match = tuple(
            call for call in calls_over_window if not _reads_partition(tokens, call)
        )
        _reject_derived_windows(tokens, selects[opening], opening)
        name = tokens[opening - 2].text if tokens.key(opening - 1) == "AS" else None
        window = PatternWindow(
            opening=opening,
            closing=tokens.pairs[opening],
            name=name,
            select=selects[opening],
            calls=calls_over_match,
            stays=name is not None or len(calls_over_match) < len(calls_over_window),
        )
        windows.append(window)
    return tuple(windows)


def _reads_partition(tokens: TokenSequence, call: CallTokens) -> bool:
    """Return whether a call is one of a function that Spark computes over the partition."""
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
    """Return whether parentheses are a window with PATTERN, and not a function of that name."""
    if not is_window(tokens, opening):
        return False
    level = tuple(tokens.walk_level(opening + 1, tokens.pairs[opening]))
    patterns = [index for index in level if tokens.has_keys(index, "PATTERN", "(")]
    if not patterns:
        return False
    for index in level:
        is_define = tokens.key(index) == "DEFINE" and tokens.key(index + 2) == "AS"
        if is_define or tokens.key(index) == "MEASURES" or tokens.has_keys(index, "AFTER", "MATCH"):
            return True
    return any(tokens.key(index - 1) in _WORDS_BEFORE_PATTERN for index in patterns)


def _encloses(tokens: TokenSequence, opening: int, index: int) -> bool:
    """Return whether a token is inside of the brackets that open at `opening`."""
    return opening < index < tokens.pairs[opening]


def _find_calls(tokens: TokenSequence, windows: set[int]) -> Iterator[tuple[CallTokens, int]]:
    """Yield each call over a row pattern window, and the opening parenthesis of that window.

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
        window_and_end = _find_window_of_call(tokens, over, windows)
        if window_and_end is None:
            _reject_measure_without_pattern(tokens, over)
            continue
        window, end = window_and_end
        start = _find_call_start(tokens, over)
        select = find_select(tokens, over)
        is_in_items = select.select < over < select.from_
        is_in_order = over in range(*select.order)
        if not (is_in_items or is_in_order):
            raise errors.misplaced_pattern_window_call(tokens.span(start, end))
        yield CallTokens(start, over, end), window


def _reject_measure_without_pattern(tokens: TokenSequence, over: int) -> None:
    """Raise an error if a name is called over a window without PATTERN, which has no measures."""
    after = over + 1
    has_definition = tokens.key(after) == "("
    has_name = after < len(tokens) and tokens[after].is_name and tokens.key(after) != "FROM"
    if not (has_definition or has_name):
        return  # OVER is an alias
    is_item = tokens.key(over - 2) in (",", "SELECT", "BY", "(")
    if is_item and tokens[over - 1].is_name:
        raise errors.measure_of_plain_window(tokens[over - 1].span, name=tokens[over - 1].text)


def _find_window_of_call(
    tokens: TokenSequence, over: int, windows: set[int]
) -> tuple[int, int] | None:
    """Return the row pattern window of the call with OVER at `over`, and the token after it.

    None is returned if the call is over another window.
    """
    after = over + 1
    if after in windows:
        return after, tokens.pairs[after] + 1
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
    definition = find_select(tokens, over).definitions.get(name)
    if definition is None or definition[0] not in windows:
        return None
    return definition[0], end


def _find_call_start(tokens: TokenSequence, over: int) -> int:
    """Return the first token of the call before OVER, such as `sum(x) FILTER (...)`."""
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

    A derived window adds a frame, and a row pattern window has one already.

    Args:
        tokens: the tokens of the query.
        select: the SELECT of the window.
        window: the opening parenthesis of the window.
    """
    if tokens.key(window - 1) != "AS":
        return
    name = tokens[window - 2].name.lower()
    for copy in select.copies:
        if tokens[copy].name.lower() == name:
            raise errors.derived_from_pattern_window(tokens[copy].span, name=tokens[copy].text)
    openings = [opening for opening, _ in select.definitions.values()]
    openings += [
        opening
        for opening in tokens.pairs
        if select.select < opening < select.end and tokens.key(opening - 1) == "OVER"
    ]
    for opening in openings:
        first = opening + 1
        closing = tokens.pairs[opening]
        is_empty = closing == first
        if is_empty or not tokens[first].is_name or tokens[first].name.lower() != name:
            continue
        is_extended = closing - first > 1 and tokens.key(first + 1) != "BY"
        if is_extended or tokens.key(opening - 1) == "AS":
            raise errors.derived_from_pattern_window(tokens[first].span, name=tokens[first].text)


@dataclass(frozen=True)
class ReadWindow:
    """A row pattern window as a clause, with the calls over its matches."""

    # Where the window is in the query.
    location: PatternWindow
    # The window, read as a clause.
    clause: MatchRecognize
    # The text of PARTITION BY and ORDER BY, also from the window that it is derived from.
    plain: str
    # The calls, each with the column that replaces it.
    calls: tuple[tuple[CallTokens, WindowCall], ...] = ()


def read_window(tokens: TokenSequence, window: PatternWindow) -> ReadWindow:
    """Read the clause of a window.

    Raises:
        MatchRecognizeError: a part is malformed, or ORDER BY is missing.
    """
    clause = cut_out_window_tokens(tokens, window, inherits=True)
    parts = sections.find_sections(clause)
    if ClausePart.ORDER_BY not in parts:
        raise errors.pattern_window_without_order(tokens.span(window.opening, window.opening + 1))
    texts = []
    for part, section in parts.items():
        if part in sections.PARTS_OF_TWO_WORDS:  # PARTITION BY and ORDER BY
            last = clause[section.end - 1]
            texts.append(clause.text_at(section.keyword.to(last.span)))
    return ReadWindow(window, grammar.read_clause(clause), " ".join(texts))


def cut_out_window_tokens(
    tokens: TokenSequence, window: PatternWindow, *, inherits: bool = False
) -> sections.ClauseTokens:
    """Return the tokens of a window's clause, without the name of the window it is derived from.

    Args:
        tokens: the tokens of the query.
        window: the window.
        inherits: whether the tokens of the window that it is derived from come first.
    """
    base, start = _find_base(tokens, window)
    clause_tokens = tokens.tokens[start : window.closing]
    if inherits:
        base_start, base_end = base
        clause_tokens = (*tokens.tokens[base_start:base_end], *clause_tokens)
    clause = sections.cut_out_tokens(tokens, window.opening, window.closing)
    pairs = pair_brackets(clause_tokens)
    return replace(clause, tokens=clause_tokens, pairs=pairs, in_window=True)


def _find_base(tokens: TokenSequence, window: PatternWindow) -> tuple[TokenRange, int]:
    """Return the tokens of the window that a window is derived from, and its first other token.

    The range of tokens is empty if the window is not derived from another window.
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
        return (first, first), first
    definitions = window.select.definitions
    if name.name.lower() not in definitions:
        raise errors.unknown_window(name.span, name=name.text, windows=list(definitions))
    opening, _ = definitions[name.name.lower()]
    base = opening + 1, tokens.pairs[opening]
    _check_base(tokens, base, (first + 1, window.closing), name)
    return base, first + 1


def _check_base(tokens: TokenSequence, base: TokenRange, derived: TokenRange, name: Token) -> None:
    """Check that a window may be derived from its base window.

    Args:
        tokens: the tokens of the query.
        base: the tokens of the base window.
        derived: the tokens of the derived window after the name of the base window.
        name: that name.

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
    """Return whether a call is a whole item of the select list, so that the item has no alias."""
    first, end = select.items
    starts_item = call.start == first or tokens.key(call.start - 1) in (",", "DISTINCT", "ALL")
    ends_item = call.end == end or tokens.key(call.end) == ","
    is_in_items = first <= call.start < end and call.start in tokens.walk_level(first, end)
    return is_in_items and starts_item and ends_item
