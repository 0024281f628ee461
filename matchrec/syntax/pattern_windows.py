"""Row pattern windows → sites: each is evaluated over the rows of its SELECT, one after the other.

SELECT id, low OVER w FROM t WHERE x > 0 WINDOW w AS (...)
clause: of w; relation: `t WHERE x > 0`; in the query stands SELECT id, `low OVER w` FROM □ AS t

What stands between a window's parentheses becomes a clause and the end of its frame.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from matchrec.errors.kinds import nearest
from matchrec.errors.sql import window as errors
from matchrec.errors.sql.clause import clause_in_clause, unclosed_bracket, unexpected_token
from matchrec.plan.match_plan import Use
from matchrec.plan.text import quoted
from matchrec.source import Span
from matchrec.syntax import grammar
from matchrec.syntax.expressions.reader import ClausePart
from matchrec.syntax.nodes import MatchRecognize, Site, WindowCall, uncalled
from matchrec.syntax.relation import (
    Cut,
    WithClause,
    find_visible,
    names_outside,
    refuse_stored_text,
)
from matchrec.syntax.tokens import Range, Token, TokenSequence, pair_brackets, words
from matchrec.syntax.written_relations import (
    is_from,
    is_set_operator,
    is_word,
    read_relation,
    starts_part,
)

# Row pattern windows, the calls over them and the SELECTs around them, by their tokens.

_GROUPING = words("GROUP HAVING QUALIFY")


@dataclass(frozen=True)
class Select:
    """The indices of the tokens of one SELECT."""

    select: int
    from_: int
    relation: Range  # what FROM names
    rows_end: int  # after WHERE, or after the relation
    definitions: Mapping[str, Range]  # by a name in lower case, its parentheses in WINDOW
    copies: tuple[int, ...]  # of v in `WINDOW w AS v`
    order: Range  # the items of ORDER BY; nothing where they are those of a UNION
    end: int

    @property
    def items(self) -> Range:
        return self.select + 1, self.from_


def find_select(tokens: TokenSequence, index: int) -> Select:
    """The innermost SELECT around a token. Raises where its rows cannot be matched."""
    brackets = [one for one in tokens.brackets_around(index) if tokens.key(one) == "("]
    for opening in (*brackets, -1):
        around = tokens.pairs.get(opening, len(tokens))
        level = list(tokens.level(opening + 1, around))
        if selects := [i for i in level if i < index and is_word(tokens, i, "SELECT")]:
            break
    else:
        raise errors.window_without_select(tokens[index].span)
    select = selects[-1]
    operators = [i for i in level if is_set_operator(tokens, i)]
    end = next((i for i in operators if i > select), around)
    inside = [i for i in level if select < i < end]
    return _select(tokens, inside, (select, end), is_operand=any(i < select for i in operators))


def _select(tokens: TokenSequence, level: list[int], whole: Range, *, is_operand: bool) -> Select:
    select, end = whole
    if (from_ := next((i for i in level if is_from(tokens, i)), None)) is None:
        raise errors.window_without_relation(tokens[select].span)
    parts = [i for i in level if i > from_ and starts_part(tokens, i)]
    relation = from_ + 1, parts[0] if parts else end
    _refuse_other_relations(tokens, relation)
    after = parts[1:] if parts and tokens.key(parts[0]) == "WHERE" else parts
    for index in after:
        if tokens.key(index) in _GROUPING:
            word = "GROUP BY" if tokens.key(index) == "GROUP" else tokens.key(index)
            raise errors.grouped_rows(tokens[index].span, word=word)
    ends = [*after[1:], end]
    starts = {tokens.key(one): (one, ends[place]) for place, one in enumerate(after)}
    keyword, stop = starts.get("WINDOW", (end, end + 1))
    windows = [item for item in tokens.separated(keyword + 1, stop) if item[1] - item[0] > 2]
    first, last = starts.get("ORDER", (end - 2, end))
    order = (end, end) if is_operand else (first + 2, last)
    rows_end = after[0] if after else end
    definitions = _definitions(tokens, windows)
    copies = tuple(start + 2 for start, _ in windows if tokens.key(start + 2) != "(")
    return Select(select, from_, relation, rows_end, definitions, copies, order, end)


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


def _definitions(tokens: TokenSequence, items: Sequence[Range]) -> dict[str, Range]:
    found: dict[str, Range] = {}
    for start, end in items:
        if tokens.says(start + 1, "AS", "("):
            if start + 2 not in tokens.pairs:
                raise unclosed_bracket(tokens[start + 2].span, opening="(", where="the query")
            name = tokens[start].name.lower()
            if name in found:
                raise errors.duplicate_window(tokens[start].span, name=tokens[start].text)
            found[name] = start + 2, end
    return found


_BEFORE_PATTERN = words("ROW ROWS FOLLOWING INITIAL SEEK OTHERS")

# Functions that look at the partition, whatever the frame is, so that Spark computes them.
OF_PARTITION = words("ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD")


@dataclass(frozen=True)
class CallTokens:
    """Tokens `start .. over` are called over a window; with it the call ends at `end`."""

    start: int
    over: int
    end: int


@dataclass(frozen=True, eq=False)
class FoundWindow:
    """A row pattern window: its parentheses, the name that WINDOW gives it, or None, its SELECT."""

    opening: int
    closing: int
    name: str | None
    select: Select
    calls: tuple[CallTokens, ...]  # over the rows of its matches
    stays: bool  # something else may name it


def find_pattern_windows(tokens: TokenSequence) -> tuple[FoundWindow, ...]:
    """The row pattern windows of a query, in the order of the text."""
    inside = {opening for opening in tokens.pairs if _has_pattern(tokens, opening)}
    outermost = {one for one in inside if not any(_holds(tokens, two, one) for two in inside)}
    if not outermost:
        return ()
    selects = {opening: find_select(tokens, opening) for opening in outermost}
    calls = dict(_calls(tokens, outermost))
    found = []
    for opening, select in sorted(selects.items(), key=itemgetter(0)):
        every = [call for call, window in calls.items() if window == opening]
        firsts = [tokens.key(one.start) if tokens.is_call(one.start) else "" for one in every]
        own = tuple(one for one, key in zip(every, firsts, strict=True) if key not in OF_PARTITION)
        _refuse_derived(tokens, select, opening)
        name = tokens[opening - 2].text if tokens.key(opening - 1) == "AS" else None
        stays = name is not None or len(own) < len(every)
        found.append(FoundWindow(opening, tokens.pairs[opening], name, select, own, stays))
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
    defines = any(tokens.key(i) == "DEFINE" and tokens.key(i + 2) == "AS" for i in level)
    has_more = any(tokens.key(i) == "MEASURES" or tokens.says(i, "AFTER", "MATCH") for i in level)
    patterns = (i for i in level if tokens.says(i, "PATTERN", "("))
    return any(defines or has_more or tokens.key(i - 1) in _BEFORE_PATTERN for i in patterns)


def _holds(tokens: TokenSequence, outer: int, inner: int) -> bool:
    return outer < inner < tokens.pairs[outer]


def _calls(tokens: TokenSequence, windows: set[int]) -> Iterator[tuple[CallTokens, int]]:
    """Each call over one of the windows, and that window's parenthesis."""
    for over in range(len(tokens)):
        if tokens.key(over) != "OVER" or any(_holds(tokens, one, over) for one in windows):
            continue
        if (found := _window_of(tokens, over, windows)) is None:
            _refuse_measure(tokens, over)
            continue
        window, end = found
        select = find_select(tokens, over)
        if not (select.select < over < select.from_ or over in range(*select.order)):
            raise errors.call_in_wrong_place(tokens.span(_start(tokens, over), end))
        yield CallTokens(_start(tokens, over), over, end), window


def _refuse_measure(tokens: TokenSequence, over: int) -> None:
    """A name before OVER and a window without PATTERN, which has no measures."""
    named = tokens.key(over + 1) == "(" or (over + 1 < len(tokens) and tokens[over + 1].is_name)
    named = named and tokens.key(over + 1) != "FROM"  # there it is an alias
    is_item = tokens.key(over - 2) in (",", "SELECT", "BY", "(")
    if named and is_item and tokens[over - 1].is_name:
        raise errors.measure_of_plain_window(tokens[over - 1].span, name=tokens[over - 1].text)


def _window_of(tokens: TokenSequence, over: int, windows: set[int]) -> tuple[int, int] | None:
    """The row pattern window that OVER names or holds, and the token after it."""
    if over + 1 in windows:
        return over + 1, tokens.pairs[over + 1] + 1
    is_in_parentheses = tokens.key(over + 1) == "(" and tokens.pairs.get(over + 1) == over + 3
    named = over + 1 + is_in_parentheses  # OVER (w) is OVER w
    if not (named < len(tokens) and tokens[named].is_name):
        return None
    name, level = tokens[named].name.lower(), [i for i in windows if tokens.key(i - 1) == "AS"]
    if not any(tokens[i - 2].name.lower() == name for i in level):
        return None
    definition = find_select(tokens, over).definitions.get(name)
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
            raise errors.derived_window(tokens[place].span, name=tokens[place].text)
    inside = (one for one in tokens.pairs if select.select < one < select.end)
    openings = [opening for opening, _ in select.definitions.values()]
    for opening in (*openings, *(one for one in inside if tokens.key(one - 1) == "OVER")):
        first, closing = opening + 1, tokens.pairs[opening]
        is_base = closing > first and tokens[first].is_name and tokens[first].name.lower() == name
        extended = closing - first > 1 and tokens.key(first + 1) != "BY"
        if is_base and (extended or tokens.key(opening - 1) == "AS"):
            raise errors.derived_window(tokens[first].span, name=tokens[first].text)


@dataclass(frozen=True)
class ReadWindow:
    """A window's clause and the calls over its matches, each with the column that stands for it."""

    found: FoundWindow
    clause: MatchRecognize
    plain: str  # PARTITION BY and ORDER BY, those of the window that it is derived from too
    calls: tuple[tuple[CallTokens, WindowCall], ...] = ()


def read_window(tokens: TokenSequence, window: FoundWindow) -> ReadWindow:
    clause = clause_of_own(tokens, window, inherits=True)
    sections = grammar.find_sections(clause)
    if ClausePart.ORDER_BY not in sections:
        raise errors.needs_order(tokens.span(window.opening, window.opening + 1))
    keys = [sections[section] for section in sections if section in grammar.OF_TWO_WORDS]
    texts = (clause.text_at(key.keyword.to(clause[key.end - 1].span)) for key in keys)
    return ReadWindow(window, grammar.read_clause(clause), " ".join(texts))


def clause_of_own(
    tokens: TokenSequence, window: FoundWindow, *, inherits: bool = False
) -> grammar.ClauseTokens:
    """The tokens of the clause that are the window's own; inherits: those of its base before."""
    base, start = _base(tokens, window)
    own = tokens.tokens[start : window.closing]
    every = (*tokens.tokens[slice(*base)], *own) if inherits else own
    whole = grammar.cut_out_tokens(tokens, window.opening, window.closing)
    return replace(whole, tokens=every, pairs=pair_brackets(every), in_window=True)


def _base(tokens: TokenSequence, window: FoundWindow) -> tuple[Range, int]:
    """The keys of the window that this one is derived from, and where its own tokens begin."""
    first = window.opening + 1
    name = tokens[first]
    parts = ("MEASURES", "PARTITION", "ORDER", *grammar.UNITS_OF_FRAMES)
    is_followed = tokens.key(first + 1) in parts and tokens.key(first + 2) != ","
    starts_part = tokens.key(first + 1) in ("BY", "BETWEEN", "MATCH", "(")
    starts_part |= name.key == "MEASURES" and not is_followed
    if starts_part or not name.is_name:
        return (first, first), first
    known = window.select.definitions
    if name.name.lower() not in known:
        raise errors.unknown_base(name.span, name=name.text, known=list(known))
    opening, _ = known[name.name.lower()]
    base = opening + 1, tokens.pairs[opening]
    _check_base(tokens, base, (first + 1, window.closing), name)
    return base, first + 1


def _check_base(tokens: TokenSequence, base: Range, own: Range, name: Token) -> None:
    inside = [tokens.key(i) for i in tokens.level(*base)]
    for index in tokens.level(*base):
        is_column = tokens.key(index - 1) in ("BY", ",", ".")
        is_frame = tokens.key(index) in grammar.UNITS_OF_FRAMES and not is_column
        if is_frame or tokens.key(index) == "PATTERN":
            raise errors.base_with_frame(name.span, name=name.text)
    for index in tokens.level(*own):
        key = tokens.key(index)
        is_second = key == "PARTITION" or (key == "ORDER" and key in inside)
        if is_second and tokens.key(index + 1) == "BY":
            span = tokens.span(index, index + 2)
            raise errors.second_keys(span, part=f"{key} BY", name=name.text)


Edit = tuple[Span, str]
_BEFORE_STAR = ("SELECT", "DISTINCT", "ALL", ",", "(", ".")
_CHANGES = ("EXCEPT", "EXCLUDE", "REPLACE", "RENAME")


def is_unnamed_item(tokens: TokenSequence, call: CallTokens, select: Select) -> bool:
    """Whether a call is all of an item of the select list."""
    first, end = select.items
    starts = call.start == first or tokens.key(call.start - 1) in (",", "DISTINCT", "ALL")
    inside = first <= call.start < end and call.start in tokens.level(first, end)
    return inside and starts and (call.end == end or tokens.key(call.end) == ",")


def find_stars(tokens: TokenSequence, select: Select, alias: str | None) -> Iterator[Span]:
    """Where the select list asks for all columns of the input."""
    index, end = select.items
    while index < end:
        if tokens.is_subquery(index):
            index = tokens.pairs[index]
        elif tokens.key(index) == "*":
            yield from _star_at(tokens, index, alias)
        index += 1


def _star_at(tokens: TokenSequence, index: int, alias: str | None) -> Iterator[Span]:
    """`*` or `t.*`; nothing where it multiplies, counts rows or is of a struct."""
    before = tokens.key(index - 1)
    counts = (tokens.key(index - 2), before, tokens.key(index + 1)) == ("COUNT", "(", ")")
    if before not in _BEFORE_STAR or counts:
        return
    if tokens.key(index + 1) in _CHANGES:
        word = tokens.key(index + 1)
        raise errors.star_with_changes(tokens.span(index, index + 2), word=word)
    if before != ".":
        yield tokens[index].span
    elif alias and tokens[index - 2].name.lower() == alias.lower() and tokens.key(index - 3) != ".":
        yield tokens.span(index - 2, index + 1)


@dataclass(frozen=True)
class Block:
    """A SELECT with its row pattern windows, and what stands in it once they are evaluated."""

    tokens: TokenSequence
    select: Select
    windows: tuple[ReadWindow, ...]
    alias: str | None  # that qualifies the columns of its rows
    stars: tuple[Span, ...]  # where all columns are asked for
    columns: tuple[str, ...] = ()  # of the input, once known

    @property
    def rows(self) -> Span:
        return self.tokens.span(self.select.relation[0], self.select.rows_end)

    @property
    def head(self) -> Span:
        return self.tokens.span(self.select.select, self.select.from_)

    def sites(self, withs: tuple[WithClause, ...]) -> Iterator[Site]:
        names = names_outside(self.tokens)
        visible = find_visible(self.tokens, withs, self.select.relation[0])
        own = frozenset(known.column.lower() for one in self.windows for _, known in one.calls)
        for number, window in enumerate(self.windows):
            calls = tuple({known.column: known for _, known in window.calls}.values())
            unread = frozenset(uncalled(measure.name).lower() for measure in window.clause.measures)
            use = Use(None if names is None else names | own, unread=unread)
            own_rows = self.rows, self.rows, visible
            yield Site(0, window.clause, self.alias, *own_rows, use, calls, number > 0)

    def edits(self) -> Iterator[Edit]:
        """Columns in the place of calls, each with the name of a measure if it has no other, and
        windows without their patterns, where something else may name them.
        """
        tokens = self.tokens
        for window in self.windows:
            for call, known in window.calls:
                text = quoted(known.column)
                if known.measure is not None and is_unnamed_item(tokens, call, self.select):
                    text = f"{text} AS {quoted(known.measure)}"
                yield tokens.span(call.start, call.end), text
            found = window.found
            if found.stays:
                yield tokens.span(found.opening + 1, found.closing), window.plain


def read_blocks(
    tokens: TokenSequence, windows: Sequence[FoundWindow], clauses: Sequence[Cut]
) -> tuple[Block, ...]:
    """The SELECTs of a query with row pattern windows, inner ones before those around them."""
    grouped: dict[int, list[FoundWindow]] = defaultdict(list)
    for window in windows:
        for cut in clauses:
            if window.opening < cut.word < window.closing:
                raise clause_in_clause(tokens[cut.word].span)
            if cut.opening < window.opening < cut.closing:
                raise clause_in_clause(tokens[window.opening].span)
        refuse_stored_text(tokens, Cut(window.opening, window.opening, window.closing))
        grouped[window.select.select].append(window)
    blocks = [_read_block(tokens, found) for found in grouped.values()]
    return tuple(sorted(blocks, key=lambda block: block.rows.end))


def _read_block(tokens: TokenSequence, windows: Sequence[FoundWindow]) -> Block:
    taken: dict[str, str] = {}
    found = []
    for number, window in enumerate(windows, 1):
        read = read_window(tokens, window)
        label = window.name or f"(window {number})"
        called = [(call, _called(tokens, call, read, label)) for call in window.calls]
        calls = tuple((call, _unlike(known, taken)) for call, known in called)
        found.append(replace(read, calls=calls))
    select = windows[0].select
    alias = read_relation(tokens, *select.relation).name
    return Block(tokens, select, tuple(found), alias, tuple(find_stars(tokens, select, alias)))


def _called(tokens: TokenSequence, call: CallTokens, read: ReadWindow, label: str) -> WindowCall:
    written = tokens.part(call.start, call.over)
    span, text = written.whole, " ".join(written.text.split())
    if tokens.key(call.over - 1) == ")" or (call.over - call.start > 1 and ")" in text):
        return WindowCall(f"{text} OVER {label}", written, None)
    name = tokens[call.start].name
    if call.over - call.start > 1:
        raise errors.qualified_measure(span, name=text, measure=text.rpartition(".")[2])
    known = [measure.name for measure in read.clause.measures]
    if (own := next((one for one in known if one.lower() == name.lower()), None)) is None:
        if not known:
            _refuse_misspelt_measures(tokens, read.found)
        raise errors.unknown_measure(span, name=name, window=label, known=known)
    return WindowCall(f"{own} OVER {label}", written, name)


def _refuse_misspelt_measures(tokens: TokenSequence, window: FoundWindow) -> None:
    """MEASURES with other letters, which are then a part of what stands before."""
    for index in tokens.level(window.opening + 1, window.closing):
        token, is_column = tokens[index], tokens.key(index - 1) in ("BY", ",", ".")
        if not is_column and nearest(token.key, ["MEASURES"]):
            raise unexpected_token(token.text, "a row pattern window", token.span)


def _unlike(call: WindowCall, taken: dict[str, str]) -> WindowCall:
    """The call with a column whose name differs by more than case from those of other texts."""
    column, number = call.column, 1
    while taken.setdefault(column.lower(), call.column) != call.column:
        number += 1
        column = f"{call.column} ({number})"
    return replace(call, column=column)
