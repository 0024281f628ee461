"""What sqlglot's translation means otherwise: one table, and where a query uses a row of it.

The table is `differences.txt`. A query that uses a row is warned of, with the place, or refused by
the name of what it uses; where it is converted to a product that is not Spark, it gets a note.

>>> from matchrec.dialects.products import PRODUCTS
>>> from matchrec.syntax.tokens import read_tokens
>>> tokens = read_tokens("SELECT SPLIT_PART(x, ',', 2) FROM t")
>>> for row, span in found_differences(tokens, PRODUCTS["trino"], PRODUCTS["spark"]):
...     print(span.start, row.sentence)
7 a missing part is NULL in Trino, and the empty text in Spark
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from sys import maxsize

from matchrec.dialects.products import Product
from matchrec.source import Span, read_table
from matchrec.syntax.tokens import TokenSequence


@dataclass(frozen=True, slots=True)
class Difference:
    """A row of the table.

    products: that are read or, after `>`, written. words: that follow each other in a query; after
    the name of a function stands its parenthesis. where: an expression for what stands in the call,
    or after the words. counts: how many arguments the call may have. cure: what to write instead,
    nothing where there is none.
    """

    products: frozenset[str]
    words: tuple[str, ...]
    where: re.Pattern[str] | None
    counts: range
    is_refused: bool
    sentence: str
    cure: str

    @property
    def name(self) -> str:
        return " ".join(self.words).removesuffix(" (")

    @property
    def hint(self) -> str | None:
        return f"write {self.cure}" if self.cure else None

    def span_in(self, tokens: TokenSequence, index: int) -> Span | None:
        """The characters that use it at a token, None where it is not used."""
        end = index + len(self.words)
        if any(word_at(tokens, place) != word for place, word in enumerate(self.words, index)):
            return None
        if len(self.words) != 2 or self.words[1] != "(":  # of no function
            rest = tokens.text_at(tokens.span(end, len(tokens))) if end < len(tokens) else ""
            return tokens.span(index, end) if self._holds(rest) else None
        closing = tokens.pairs.get(end - 1)
        if closing is None or not tokens.is_call(index):
            return None
        count = len(tokens.separated(end, closing)) if closing > end else 0
        inside = tokens.text_at(tokens.span(end, closing)) if closing > end else ""
        holds = count in self.counts and self._holds(inside)
        return tokens.span(index, closing + 1) if holds else None

    def _holds(self, text: str) -> bool:
        return self.where is None or self.where.search(text) is not None


def word_at(tokens: TokenSequence, index: int) -> str:
    """What the table calls a token: its key, or the text of a string."""
    is_string = index < len(tokens) and tokens[index].is_string
    return tokens[index].text if is_string else tokens.key(index)


def found_differences(
    tokens: TokenSequence, read: Product, write: Product
) -> Iterator[tuple[Difference, Span]]:
    """What a query uses, in the order of its text. tokens: as the product that is read has them."""
    # what rows of a translation say in their first column
    of_read = set() if read.has_functions_of_spark else {read.name, "others"}
    of_write = set() if write.has_functions_of_spark else {f">{write.name}", ">others"}
    of_both = {f"spark{one}" for one in of_write} if read.has_functions_of_spark else set()
    keys = of_read | of_write | of_both
    rows: dict[str, list[Difference]] = {}
    for row in table() if keys else ():
        if not keys.isdisjoint(row.products):
            rows.setdefault(row.words[0], []).append(row)
    for index in range(len(tokens)):
        for row in rows.get(word_at(tokens, index), ()):
            if span := row.span_in(tokens, index):
                yield row, span


@cache
def table() -> tuple[Difference, ...]:
    return tuple(map(_row, read_table("matchrec.dialects", "differences.txt")))


def _row(cells: list[str]) -> Difference:
    products, words, where, answer, sentence, cure = cells
    counts, number = range(maxsize), where.strip("=+")
    if number.isdigit():  # =2, 3+
        counts = range(int(number), int(number) + 1 if where[0] == "=" else maxsize)
        where = ""
    expression = re.compile(where, re.IGNORECASE | re.DOTALL) if where else None
    of, said = frozenset(products.split()), tuple(words.split())
    return Difference(of, said, expression, counts, answer == "refused", sentence, cure)
