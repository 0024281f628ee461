"""Aggregates of the query around a clause that its search can compute, without building matches.

    SELECT k, count(*), max(m.n) FROM t MATCH_RECOGNIZE (... ALL MATCHES ...) AS m GROUP BY k

The clause then gives a row for each of its groups, with the aggregates of its matches, and the
query around it aggregates these rows. Counts and sums of whole numbers have 38 digits then, and
`CAST(count(*) AS DOUBLE)` asks for no more than a double. All that the query names beside them must
be columns of the groups, and all that it calls must be known to look at one row: anything else is
left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from matchrec.frontends.lexing.relations import is_set_operator, starts_part
from matchrec.frontends.lexing.tokens import TokenKind, TokenSequence, words
from matchrec.frontends.sql.nodes import MatchRecognize, PushedTotals
from matchrec.frontends.sql.relation import after_clause
from matchrec.plan.clauses import Grouping, MatchOutput
from matchrec.plan.text import quoted
from matchrec.plan.totals import FUNCTIONS, Asking

_AGGREGATES = frozenset(map(str.upper, FUNCTIONS))
_AFTER_CALL = words("FILTER OVER WITHIN IGNORE RESPECT")
_SCALARS = words(
    """
    ABS CAST CEIL CEILING COALESCE CONCAT DATE DECIMAL FLOOR GREATEST IF IFNULL LEAST LN LOG10 LOWER
    MONTH NULLIF NVL ROUND SQRT TRY_CAST UPPER YEAR
    """
)
_KEYWORDS = words(
    """
    ALL AND AS ASC BETWEEN BIGINT BY CASE DATE DECIMAL DESC DISTINCT DOUBLE ELSE END FIRST FLOAT
    FROM GROUP HAVING IN INT IS LAST LIKE LIMIT NOT NULL NULLS OFFSET OR ORDER SELECT STRING THEN
    WHEN WHERE
    """
)
_SYMBOLS = words(", ( ) . + - * / % = == <> != < > <= >= || ;")
_AFTER_CLAUSE = words("WHERE GROUP HAVING ORDER LIMIT OFFSET")
_ROW_OF_A_MATCH = re.compile(
    r"(?:FINAL\s+|RUNNING\s+)?(FIRST|LAST)\s*\(\s*(?:\w+|`\w+`)\s*\)", re.I
)


@dataclass(frozen=True, slots=True)
class _Call:
    """`sum(m.n)` as tokens first .. last. argument: the measure, None of `count(*)`. is_cast: it is
    cast to DOUBLE.
    """

    first: int
    last: int
    function: str
    argument: str | None
    is_cast: bool

    @property
    def name(self) -> str:
        """What Spark calls it as a column."""
        return f"{self.function}({1 if self.argument is None else self.argument})"


@dataclass
class _Names:
    """What the columns of a clause are called, in lower case, and which of them is used.

    keys: those that a group has, with what it is grouped by then. measures: all others. alias: of
    the clause's rows. aliases: of the SELECT list. divides: whether something is divided.
    """

    keys: dict[str, Grouping]
    measures: dict[str, str]
    alias: str | None
    aliases: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    divides: bool = False


class _NotPushed(Exception):  # noqa: N818 -- a reason, which `explain` shows
    """Why the aggregates of a query are not pushed into the search."""


def find_totals(
    tokens: TokenSequence, start: int, closing: int, clause: MatchRecognize
) -> PushedTotals | None:
    """What the search can add up of a clause whose relation starts at `start`.

    Where it can do nothing of that, the answer says why; None where nobody aggregates all matches.
    """
    if clause.output is not MatchOutput.ALL or tokens.key(start - 1) != "FROM":
        return None
    select = _select_before(tokens, start - 1)
    place, after = after_clause(tokens, closing)
    end = _end_of_block(tokens, closing, after)
    if select is None:
        return None
    around = (range(select + 1, start - 1), range(after, end))
    if not any(
        tokens.is_call(at) and tokens.key(at) in _AGGREGATES for one in around for at in one
    ):
        return None
    names = _names_of(clause, None if place is None else tokens[place].name.lower())
    names.aliases |= {
        tokens[index].name.lower()
        for one in around
        for index in one
        if _is_alias(tokens, index, start - 1)
    }
    try:
        columns = names.keys.keys() | names.measures.keys()
        if len(columns) < len(clause.partition_by) + len(clause.measures):
            raise _NotPushed("two columns of the clause have one name")
        if after < end and not (tokens.key(after) in _AFTER_CLAUSE and starts_part(tokens, after)):
            raise _NotPushed(f"`{tokens[after].text}` stands behind the clause")
        found = [call for one in around for call in _read_groups(tokens, one, names)]
        return _pushed(tokens, names, found, (select + 1, start - 1))
    except _NotPushed as reason:
        return PushedTotals(None, (), str(reason))


def _select_before(tokens: TokenSequence, place: int) -> int | None:
    """The SELECT of the FROM at a place."""
    level = tokens.level(tokens.around[place] + 1, place)
    return next((one for one in reversed(list(level)) if tokens.key(one) == "SELECT"), None)


def _end_of_block(tokens: TokenSequence, closing: int, start: int) -> int:
    """Where the query ends that goes on at `start`, after a clause that closes at `closing`."""
    end = tokens.enclosing(closing)
    return next((one for one in tokens.level(start, end) if is_set_operator(tokens, one)), end)


def _names_of(clause: MatchRecognize, alias: str | None) -> _Names:
    """What the columns of a clause are called."""
    written = (key.name or key.expression.text.rpartition(".")[2] for key in clause.partition_by)
    keys = {one.strip("`").lower(): Grouping.PARTITION for one in written}
    for one in clause.measures:
        row = _ROW_OF_A_MATCH.fullmatch(one.expression.text.strip())
        if row is not None:
            is_first = row[1].upper() == "FIRST"
            keys[one.name.lower()] = Grouping.START if is_first else Grouping.END
    measures = {one.name.lower(): one.name for one in clause.measures}
    return _Names(keys, measures, alias)


def _is_alias(tokens: TokenSequence, index: int, list_end: int) -> bool:
    """Whether a token gives a column of the SELECT list its name."""
    if not tokens.can_name(index):
        return False
    if tokens.key(index - 1) == "AS":
        return not tokens.is_call(index)
    ends = tokens.key(index + 1) == "," or index + 1 == list_end
    before = tokens[index - 1]
    return ends and before.key == ")" and tokens[index].key not in _KEYWORDS


def _read_groups(tokens: TokenSequence, part: range, names: _Names) -> Iterator[_Call]:
    """The aggregates of a part of the query. Raises where it reads more than columns of groups."""
    index = part.start
    while index < part.stop:
        token = tokens[index]
        if tokens.is_call(index) and token.key not in _KEYWORDS - {"DATE", "DECIMAL"}:
            if token.key in _AGGREGATES:
                call = _call_at(tokens, index, names)
                yield call
                index = call.last
            elif token.key not in _SCALARS:
                raise _NotPushed(f"`{token.text}` may be an aggregate that the search has not")
        elif token.kind is TokenKind.SYMBOL:
            is_star = token.key == "*" and tokens.key(index - 1) in ("SELECT", ",", ".", "DISTINCT")
            if token.key not in _SYMBOLS or is_star:
                raise _NotPushed(f"`{token.text}` stands beside aggregates")
            names.divides |= token.key in ("/", "%")
        elif tokens.can_name(index) and not _is_known(tokens, index, names):
            raise _NotPushed(f"`{token.text}` is no column of a group of matches")
        index += 1


def _is_known(tokens: TokenSequence, index: int, names: _Names) -> bool:
    """Whether a name is a column of groups, an alias, or a word of SQL."""
    name, key = tokens[index].name.lower(), tokens[index].key
    if tokens.key(index + 1) == ".":
        return name == names.alias
    if tokens.key(index - 1) == "AS" or name in names.aliases - names.measures.keys():
        return True
    if name in names.keys:
        names.used.add(name)
        return True
    if name in names.measures:
        return name in names.aliases and tokens.key(index - 1) == ")"
    return key in _KEYWORDS


def _call_at(tokens: TokenSequence, index: int, names: _Names) -> _Call:
    """An aggregate of a measure, or `count(*)`."""
    function, last = tokens.key(index).lower(), tokens.pairs[index + 1]
    written = tokens.text_at(tokens.call_span(index))
    if tokens.key(last + 1) in _AFTER_CALL:
        raise _NotPushed(f"{tokens.key(last + 1)} follows `{written}`")
    is_cast = tokens.says(index - 2, "CAST", "(") and tokens.says(last + 1, "AS", "DOUBLE", ")")
    counts = tokens.key(index + 2) == "*" or tokens[index + 2].kind is TokenKind.NUMBER
    if last == index + 3 and counts and function == "count":
        return _Call(index, last, function, None, is_cast)
    is_qualified = tokens.key(index + 3) == "." and tokens[index + 2].name.lower() == names.alias
    place = index + 4 if is_qualified else index + 2
    if last != place + 1 or tokens[place].name.lower() not in names.measures:
        raise _NotPushed(f"`{written}` is no aggregate of a measure")
    return _Call(index, last, function, tokens[place].name, is_cast)


def _pushed(
    tokens: TokenSequence, names: _Names, calls: list[_Call], select_list: tuple[int, int]
) -> PushedTotals:
    """What is asked of the search, and the text in the place of each aggregate."""
    rows = {names.keys[one] for one in names.used} - {Grouping.PARTITION}
    if len(rows) > 1:
        raise _NotPushed("matches are grouped by where they start and by where they end")
    grouped = next(iter(rows), Grouping.PARTITION)
    keys = tuple(names.measures[one] for one in sorted(names.used) if names.keys[one] in rows)
    named = dict(_names_of_items(tokens, calls, select_list))
    if any(name is None for name in named.values()):
        raise _NotPushed("an expression with an aggregate has no name: give it one with AS")
    asking, edits = Asking(), []
    for call in calls:
        measure = None if call.argument is None else names.measures[call.argument.lower()]
        if names.divides and not call.is_cast:
            raise _NotPushed(
                "with / or % it matters that an aggregate has 38 digits: cast each to DOUBLE"
            )
        text = asking.over_groups(call.function, measure, roughly=call.is_cast)
        alias = f" AS {quoted(call.name)}" if call.first in named else ""
        edits.append((tokens.span(call.first, call.last + 1), text + alias))
    return PushedTotals(asking.totals(grouped, keys), tuple(edits))


def _names_of_items(
    tokens: TokenSequence, calls: list[_Call], select_list: tuple[int, int]
) -> Iterator[tuple[int, str | None]]:
    """By its first token, what an aggregate is called that is a column without a name.

    None for an expression without a name, whose text would be another one.
    """
    starts = {call.first: call for call in calls}
    for begin, end in tokens.separated(*select_list):
        first = begin + (tokens.key(begin) == "DISTINCT")
        call = starts.get(first)
        if call is not None and call.last + 1 == end:
            yield first, call.name
        elif not _is_alias(tokens, end - 1, end) and any(first <= one < end for one in starts):
            yield first, None
