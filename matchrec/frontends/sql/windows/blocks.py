"""The SELECT around a token: its list, its relation, its WHERE, its windows and its ORDER BY."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matchrec.dataclass import dataclass
from matchrec.errors.sql import window as errors
from matchrec.errors.sql.syntax import unclosed_bracket
from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.token_sequence import Range, TokenSequence

_AFTER_FROM = words(
    "WHERE GROUP HAVING WINDOW ORDER SORT CLUSTER DISTRIBUTE LIMIT OFFSET QUALIFY LATERAL"
)
_BY = words("GROUP ORDER SORT CLUSTER DISTRIBUTE")
_SET_OPERATORS = words("UNION INTERSECT EXCEPT MINUS |> ;")
_GROUPING = words("GROUP HAVING QUALIFY")


@dataclass(frozen=True)
class Select:
    """The indices of the tokens of one SELECT.

    relation: what FROM names. rows_end: after WHERE, or after the relation. definitions: by a
    window's name in lower case, the parentheses of its definition, which WINDOW gives. copies: of v
    in `WINDOW w AS v`. order: of the items of ORDER BY; nothing where they are those of a UNION.
    """

    select: int
    from_: int
    relation: Range
    rows_end: int
    definitions: Mapping[str, Range]
    copies: tuple[int, ...]
    order: Range
    end: int

    @property
    def items(self) -> Range:
        """The select list."""
        return self.select + 1, self.from_

    def may_hold_calls(self, index: int) -> bool:
        """Whether calls over windows may stand there."""
        return self.select < index < self.from_ or self.order[0] <= index < self.order[1]


def find_select(tokens: TokenSequence, index: int) -> Select:
    """The innermost SELECT around a token. Raises where its rows cannot be matched."""
    place, written = index, tokens[index].span
    while True:
        opening = _opening(tokens, place)
        around = tokens.pairs.get(opening, len(tokens))
        level = list(tokens.level(opening + 1, around))
        selects = [i for i in level if i < place and _is_word(tokens, i, "SELECT")]
        if selects:
            break
        if opening < 0:
            raise errors.window_without_select(written)
        place = opening
    select = selects[-1]
    operators = [i for i in level if _is_set_operator(tokens, i)]
    end = next((i for i in operators if i > select), around)
    inside = [i for i in level if select < i < end]
    return _select(tokens, inside, (select, end), is_operand=any(i < select for i in operators))


def _select(
    tokens: TokenSequence, level: Sequence[int], whole: Range, *, is_operand: bool
) -> Select:
    select, end = whole
    from_ = next((i for i in level if _is_from(tokens, i)), None)
    if from_ is None:
        raise errors.window_without_relation(tokens[select].span)
    parts = [i for i in level if i > from_ and _starts_part(tokens, i)]
    relation_end = parts[0] if parts else end
    _refuse_other_relations(tokens, (from_ + 1, relation_end))
    has_where = bool(parts) and tokens.key(parts[0]) == "WHERE"
    after = parts[1:] if has_where else parts
    for index in after:
        if tokens.key(index) in _GROUPING:
            raise errors.grouped_rows(tokens.key(index), tokens[index].span)
    ends = [*after[1:], end]
    starts = {tokens.key(one): (one, ends[place]) for place, one in enumerate(after)}
    windows = _items(tokens, starts["WINDOW"]) if "WINDOW" in starts else ()
    first, last = starts.get("ORDER", (end - 2, end))
    return Select(
        select,
        from_,
        (from_ + 1, relation_end),
        after[0] if after else end,
        _definitions(tokens, windows),
        tuple(start + 2 for start, _ in windows if tokens.key(start + 2) != "("),
        (end, end) if is_operand else (first + 2, last),
        end,
    )


def _opening(tokens: TokenSequence, index: int) -> int:
    """The parenthesis around a token, -1 for none."""
    opening = tokens.around[index]
    while opening >= 0 and tokens.key(opening) != "(":
        opening = tokens.around[opening]
    return opening


def _is_word(tokens: TokenSequence, index: int, word: str) -> bool:
    return tokens.key(index) == word and tokens.key(index - 1) != "."


def _is_from(tokens: TokenSequence, index: int) -> bool:
    return _is_word(tokens, index, "FROM") and tokens.key(index - 1) != "DISTINCT"


def _is_set_operator(tokens: TokenSequence, index: int) -> bool:
    """Not that of `* EXCEPT (x)`."""
    return tokens.key(index) in _SET_OPERATORS and tokens.key(index - 1) not in ("*", ".")


def _starts_part(tokens: TokenSequence, index: int) -> bool:
    key = tokens.key(index)
    if key not in _AFTER_FROM or tokens.key(index - 1) == ".":
        return False
    if key == "WINDOW":
        return tokens.key(index + 2) == "AS"
    if key in _BY:
        return tokens.key(index + 1) == "BY"
    return key != "LATERAL" or tokens.key(index + 1) == "VIEW"


def _refuse_other_relations(tokens: TokenSequence, relation: Range) -> None:
    """Several relations have several qualifiers; their rows are those of none of them."""
    start, end = relation
    rows_of_values = tokens.key(start) == "VALUES"
    if start == end:
        raise errors.window_without_relation(tokens[start - 1].span)
    for index in (*tokens.level(start, end), end):
        key = tokens.key(index)
        if key == "JOIN" or (key == "," and not rows_of_values) or key == "LATERAL":
            raise errors.joined_rows(tokens[index].span)


def _items(tokens: TokenSequence, part: Range) -> tuple[Range, ...]:
    """The definitions after WINDOW."""
    items = tokens.separated(part[0] + 1, part[1])
    return tuple((start, end) for start, end in items if end - start > 2)


def _definitions(tokens: TokenSequence, items: Sequence[Range]) -> dict[str, Range]:
    """The windows that are defined in parentheses."""
    found: dict[str, Range] = {}
    for start, end in items:
        if tokens.says(start + 1, "AS", "("):
            if start + 2 not in tokens.pairs:
                raise unclosed_bracket("(", "the query", tokens[start + 2].span)
            name = tokens[start].name.lower()
            if name in found:
                raise errors.duplicate_window(tokens[start].text, tokens[start].span)
            found[name] = start + 2, end
    return found


def find_alias(tokens: TokenSequence, relation: Range) -> str | None:
    """The name that qualifies the columns of a relation, or None.

    `ticks`, `db.ticks` and `ticks AS ticks (a, b)` are all called ticks.
    """
    start, end = relation
    last = end - 1
    opening = tokens.openings.get(last, -1)
    named = tokens.key(opening - 2) == "AS" or tokens.key(opening - 2) == ")"
    if tokens.key(last) == ")" and opening - 1 > start and named and tokens[opening - 1].is_name:
        return tokens[opening - 1].name
    token = tokens[last]
    if token.is_name and (last == start or tokens.key(last - 1) != "."):
        return token.name
    plain = range(start, end)
    if all(tokens[i].is_name or tokens.key(i) == "." for i in plain):
        return token.name
    return None
