"""Windows of time of Flink SQL, written as Spark's `window`, before a query is translated.

FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), i))    FROM (SELECT *, window(ts, i).start AS ... FROM t)
GROUP BY TUMBLE(ts, i)                            GROUP BY window(ts, i)
TUMBLE_START(ts, i)                               window(ts, i).start

Flink's windows are of the time that a clock shows, which is Spark's TIMESTAMP_NTZ. Where the clock
shows UTC, it is any timestamp's, and there is no cast: a stream would lose its watermark by it.
Sources: Flink's pages "Windowing table-valued functions" and "Window Aggregation".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matchrec.dataclass import dataclass
from matchrec.errors.sql import dialects as errors
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.lexing.token_sequence import Range, TokenSequence
from matchrec.source import Span

_LENGTHS = {  # the intervals that each takes, in this order
    "TUMBLE": ("SIZE", "OFFSET"),
    "HOP": ("SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("STEP", "SIZE", "OFFSET"),
    "SESSION": ("GAP",),
}
_FIELDS = {  # of functions beside GROUP BY, by what follows the kind of window in their names
    "": "{}",
    "START": "{}.start",
    "END": "{}.end",
    "ROWTIME": "({}.end - INTERVAL '0.001' SECOND)",
}


@dataclass(frozen=True, slots=True)
class _Window:
    """A window over moments. lengths: texts of intervals, by what each one is."""

    kind: str
    moment: str
    lengths: dict[str, str]

    def text(self) -> str:
        """What Spark calls it."""
        if self.kind == "SESSION":
            return f"session_window({self.moment}, '{self.lengths['GAP']}')"
        size, offset = self.lengths["SIZE"], self.lengths.get("OFFSET", "0 SECONDS")
        slide = self.lengths.get("SLIDE", size)
        return f"window({self.moment}, '{size}', '{slide}', '{offset}')"

    def end(self) -> str:
        """The end of the window, or the ends of those that grow by steps."""
        if self.kind != "CUMULATE":
            return f"{self.text()}.end"
        step = f"INTERVAL '{self.lengths['STEP']}'"
        ends = f"sequence({self.text()}.start + {step}, {self.text()}.end, {step})"
        return f"explode(filter({ends}, one -> one > {self.moment}))"


def window_edits(
    tokens: TokenSequence, write: Product, *, shows_utc: bool = False
) -> Iterator[Edit]:
    """The edits for all windows of time of a query. Raises an error for what Spark has not.

    shows_utc: whether the clock of the session shows UTC.
    """
    moment = "{}" if shows_utc else "CAST({} AS TIMESTAMP_NTZ)"
    for index, token in enumerate(tokens.tokens):
        kind, _, field = token.key.partition("_")
        if not tokens.is_call(index) or kind not in _LENGTHS:
            continue
        if not write.is_spark:
            raise errors.not_in(write.title, token.key, token.span)
        arguments = tokens.separated(index + 2, tokens.pairs[index + 1])
        if _is_table(tokens, arguments[0]):
            yield from _table_edits(tokens, index, arguments, moment)
        elif field not in _FIELDS or kind == "CUMULATE":
            raise errors.no_window_of_time(token.key, token.span)
        else:
            found = _window(tokens, index, arguments, moment)
            yield Edit(
                tokens.span(index, tokens.past(index + 1)), _FIELDS[field].format(found.text())
            )


def _is_table(tokens: TokenSequence, argument: Range) -> bool:
    return tokens.says(argument[0], "DATA", "=>") or tokens.key(argument[0]) in ("TABLE", "(")


def _table_edits(
    tokens: TokenSequence, index: int, arguments: Sequence[Range], moment: str
) -> Iterator[Edit]:
    """The rows of a table with the windows that they are in, as a subquery."""
    data, time, *lengths = (_value(tokens, one) for one in arguments)
    closing = tokens.pairs[index + 1]
    if tokens.key(index) == "SESSION" or not tokens.says(time[0], "DESCRIPTOR", "("):
        raise errors.no_table_of_windows(tokens.key(index), tokens[index].span)
    found = _window(tokens, index, ((time[0] + 2, time[1] - 1), *lengths), moment)
    columns = f"{found.text()}.start AS window_start, {found.end()} AS window_end"
    start, end = index, closing + 1
    if tokens.says(index - 2, "TABLE", "("):
        start, end = index - 2, tokens.pairs[index - 1] + 1
    first = data[0] + (tokens.key(data[0]) == "TABLE")
    yield Edit(
        Span(tokens[start].span.start, tokens[first].span.start),
        "(SELECT *, window_end - INTERVAL '0.001' SECOND AS window_time"
        f" FROM (SELECT *, {columns} FROM ",
    )
    yield Edit(Span(tokens[data[1] - 1].span.end, tokens[end - 1].span.end), "))")


def _value(tokens: TokenSequence, argument: Range) -> Range:
    """An argument without its name: `SIZE => INTERVAL '1' HOUR`."""
    start, end = argument
    return (start + 2, end) if tokens.key(start + 1) == "=>" else argument


def _window(tokens: TokenSequence, index: int, arguments: Sequence[Range], moment: str) -> _Window:
    """The window of a call. arguments: the time, and lengths. moment: what is made of the time."""
    time, *lengths = arguments
    kind = tokens.key(index).partition("_")[0]
    names = _LENGTHS[kind]
    needed = sum(name != "OFFSET" for name in names)
    if not needed <= len(lengths) <= len(names):
        raise errors.no_window_of_time(tokens.key(index), tokens[index].span)
    found = {name: _length(tokens, one) for name, one in zip(names, lengths, strict=False)}
    written = tokens.text_at(tokens.span(*time))
    column = f"`{written}`" if written.startswith("$") else written
    return _Window(kind, moment.format(column), found)


def _length(tokens: TokenSequence, interval: Range) -> str:
    """`INTERVAL '10' MINUTES` as Spark's functions want it, `10 MINUTES`."""
    start, end = interval
    amount = tokens[start + 1].text.strip("'")
    if tokens.key(start) != "INTERVAL" or end - start != 3 or not amount.strip().isdigit():
        raise errors.no_length_of_window(tokens.span(*interval))
    return f"{amount.strip()} {tokens.key(start + 2)}"
