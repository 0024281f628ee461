"""Find the SELECT around a row pattern window, and its parts.

    SELECT id, low OVER w FROM t WHERE x > 0 WINDOW w AS (...) ORDER BY id

The parts of the SELECT are found by their first words outside brackets. A window is evaluated over
the rows of one relation, after WHERE, so a SELECT with several relations or with groups is
rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from matchrec.errors.sql import window as errors
from matchrec.errors.sql.incomplete import unclosed_bracket_in_expression
from matchrec.syntax.from_relations import is_from, is_set_operator, is_word, starts_part_after_from
from matchrec.syntax.tokens import TokenRange, TokenSequence, split_words

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
    # The windows `w AS (...)` of WINDOW: the opening parenthesis by the name in lower case.
    definitions: Mapping[str, int]
    # For each window `w AS v` of WINDOW, which is a copy of another window: its name `v`.
    copied_names: tuple[int, ...]
    # The items of ORDER BY. The range is empty without ORDER BY, and if the SELECT is an operand of
    # UNION or another set operator: then ORDER BY sorts the result of the operator.
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
        MatchRecognizeError: there is no SELECT, or its rows cannot be matched because it has
            several relations or groups.
    """
    for start, level_end in _walk_levels_around(tokens, index):
        level = list(tokens.walk_level(start, level_end))
        selects = [word for word in level if word < index and is_word(tokens, word, "SELECT")]
        if not selects:
            continue
        select = selects[-1]  # the nearest one: others are operands before a set operator
        operators = [operator for operator in level if is_set_operator(tokens, operator)]
        end = next((operator for operator in operators if operator > select), level_end)
        is_operand = any(operator < select for operator in operators)
        return _read_select(tokens, (select, end), is_operand=is_operand)
    raise errors.pattern_window_outside_select(tokens[index].span)


def _walk_levels_around(tokens: TokenSequence, index: int) -> Iterator[TokenRange]:
    """Yield the insides of the parentheses around a token, innermost first, then the whole text."""
    for opening in tokens.walk_brackets_around(index):
        if tokens.key(opening) == "(":
            yield opening + 1, tokens.pairs[opening]
    yield 0, len(tokens)


def _read_select(tokens: TokenSequence, select_range: TokenRange, *, is_operand: bool) -> Select:
    """Return the parts of a SELECT.

    Args:
        tokens: the tokens of the query.
        select_range: the tokens of the SELECT, from the word SELECT on.
        is_operand: whether the SELECT follows a set operator, to which ORDER BY then belongs.

    Raises:
        MatchRecognizeError: the SELECT has no FROM, several relations or groups, or a window of
            WINDOW is malformed.
    """
    select, end = select_range
    level = list(tokens.walk_level(select + 1, end))
    from_ = next((index for index in level if is_from(tokens, index)), None)
    if from_ is None:
        raise errors.pattern_window_without_from(tokens[select].span)
    parts = [index for index in level if index > from_ and starts_part_after_from(tokens, index)]
    relation = from_ + 1, parts[0] if parts else end
    _reject_other_relations(tokens, relation)
    has_where = bool(parts) and tokens.key(parts[0]) == "WHERE"
    parts_after_rows = parts[1:] if has_where else parts
    _reject_grouping(tokens, parts_after_rows)
    # For the first word of each part: the range of the part.
    part_ends = [*parts_after_rows[1:], end]
    part_ranges = {
        tokens.key(start): (start, part_end)
        for start, part_end in zip(parts_after_rows, part_ends, strict=False)
    }
    windows = _find_window_items(tokens, part_ranges.get("WINDOW"))
    order = (end, end)
    if "ORDER" in part_ranges and not is_operand:
        order_start, order_end = part_ranges["ORDER"]
        order = (order_start + len(("ORDER", "BY")), order_end)
    return Select(
        select=select,
        from_=from_,
        relation=relation,
        rows_end=parts_after_rows[0] if parts_after_rows else end,
        definitions=_find_definitions(tokens, windows),
        copied_names=tuple(start + 2 for start, _ in windows if tokens.key(start + 2) != "("),
        order=order,
        end=end,
    )


def _find_window_items(tokens: TokenSequence, part: TokenRange | None) -> list[TokenRange]:
    """Return the items of WINDOW, such as `w AS (...)` and `w AS v`.

    An item that is too short to be complete is left out: Spark reports it.

    Args:
        tokens: the tokens of the query.
        part: the range of WINDOW with its items; None if the SELECT has no WINDOW.
    """
    if part is None:
        return []
    start, end = part
    items = tokens.split_at_commas(start + 1, end)
    shortest = len(("w", "AS", "v"))
    return [item for item in items if item[1] - item[0] >= shortest]


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

    Columns of several relations have several qualifiers. The relation that replaces the rows of the
    SELECT has only one name, so it could not have all of these qualifiers.
    """
    start, end = relation
    has_values = tokens.key(start) == "VALUES"  # Its rows are separated by commas.
    if start == end:
        raise errors.pattern_window_without_from(tokens[start - 1].span)
    for index in (*tokens.walk_level(start, end), end):
        key = tokens.key(index)
        if key in ("JOIN", "LATERAL") or (key == "," and not has_values):
            raise errors.pattern_window_with_join(tokens[index].span)


def _find_definitions(tokens: TokenSequence, items: Sequence[TokenRange]) -> dict[str, int]:
    """Return the opening parenthesis of each window `w AS (...)`, for its name in lower case.

    Args:
        tokens: the tokens of the query.
        items: the items of WINDOW.

    Raises:
        MatchRecognizeError: a parenthesis is not closed, or two windows have the same name.
    """
    definitions: dict[str, int] = {}
    for start, _ in items:
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
        definitions[name] = opening
    return definitions
