"""Find constructs of a query that have another meaning after sqlglot's translation.

The table `differences.txt` has a row for each construct. A query with such a construct gets a
warning that points at it, or an error if the row says `refused`. If the query is converted to a
product other than Spark, it gets a note.

>>> from matchrec.dialects.products import PRODUCTS
>>> from matchrec.syntax.tokenize import read_tokens
>>> tokens = read_tokens("SELECT SPLIT_PART(x, ',', 2) FROM t")
>>> for row, span in find_differences(tokens, PRODUCTS["trino"], PRODUCTS["spark"]):
...     print(span.start, row.sentence)
7 a missing part is NULL in Trino, and an empty string in Spark
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from sys import maxsize
from typing import NamedTuple

from matchrec.dialects.products import Product
from matchrec.source import Span, read_package_table
from matchrec.syntax.tokens import TokenSequence


@dataclass(frozen=True, slots=True)
class Difference:
    """A row of the table: a construct whose meaning differs between products."""

    # The products whose queries the row is about: `trino` if they are read, `>trino` if they are
    # written, `spark>trino` if a query of Spark is written for Trino.
    products: frozenset[str]
    # The words of the construct. For a call, these are the name of the function and `(`.
    words: tuple[str, ...]
    # A regular expression that must match somewhere in the arguments of the call, or in the text
    # after the words. None if every such text counts.
    required_text: re.Pattern[str] | None
    # The numbers of arguments that the call may have.
    argument_counts: range
    # Whether the construct is an error, as opposed to a warning.
    is_rejected: bool
    # The sentence that says what differs.
    sentence: str
    # What to write instead; "" if there is nothing.
    replacement: str
    # The construct as the reference page shows it; "" if the page can make it from `words`.
    form: str = ""

    @property
    def name(self) -> str:
        """Return the name of the construct in messages."""
        return " ".join(self.words).removesuffix(" (")

    @property
    def hint(self) -> str | None:
        """Return the sentence that says what to write instead; None if there is nothing."""
        return f"write {self.replacement}" if self.replacement else None

    @property
    def depends_on_written_product(self) -> bool:
        """Return whether the row is only about queries that are written for some products."""
        return any(">" in name for name in self.products)

    @property
    def is_call(self) -> bool:
        """Return whether the construct is a call of a function."""
        return len(self.words) == 2 and self.words[1] == "("

    def find_span(self, tokens: TokenSequence, index: int) -> Span | None:
        """Return the span of the construct that starts at a token; None if none starts there."""
        end = index + len(self.words)
        words = [find_word(tokens, position) for position in range(index, end)]
        if words != list(self.words):
            return None
        if not self.is_call:
            text_after = tokens.text_at(tokens.span(end, len(tokens))) if end < len(tokens) else ""
            return tokens.span(index, end) if self._allows_text(text_after) else None
        closing = tokens.pairs.get(end - 1)
        if closing is None or not tokens.is_call(index):
            return None
        arguments = ""
        count = 0
        if closing > end:
            arguments = tokens.text_at(tokens.span(end, closing))
            count = len(tokens.split_at_commas(end, closing))
        if count in self.argument_counts and self._allows_text(arguments):
            return tokens.span(index, closing + 1)
        return None

    def _allows_text(self, text: str) -> bool:
        """Return whether the arguments, or the text after the words, have the required text."""
        return self.required_text is None or self.required_text.search(text) is not None


class LocatedDifference(NamedTuple):
    """A row of the table, and its construct in a query."""

    row: Difference
    # Where the construct is in the query.
    span: Span


def find_word(tokens: TokenSequence, index: int) -> str:
    """Return the word of a token as the table has it: its key, or the text of a string."""
    if index < len(tokens) and tokens[index].is_string:
        return tokens[index].text
    return tokens.key(index)


def find_differences(
    tokens: TokenSequence, read: Product, write: Product
) -> Iterator[LocatedDifference]:
    """Yield the constructs of the table that a query has, in the order of the query's text.

    Args:
        tokens: the tokens of the query.
        read: the product whose SQL it is.
        write: the product that is written.
    """
    names = _find_names_in_table(read, write)
    if not names:
        return
    rows_by_word: dict[str, list[Difference]] = {}
    for row in read_differences():
        if not names.isdisjoint(row.products):
            rows_by_word.setdefault(row.words[0], []).append(row)
    for index in range(len(tokens)):
        for row in rows_by_word.get(find_word(tokens, index), ()):
            span = row.find_span(tokens, index)
            if span is not None:
                yield LocatedDifference(row, span)


def _find_names_in_table(read: Product, write: Product) -> frozenset[str]:
    """Return the entries in the first column of the table that are about a translation.

    For a translation from Trino to Spark, they are `trino` and `others`.
    """
    read_names: set[str] = set()
    if not read.has_spark_functions:
        read_names = {read.name, "others"}
    written_names: set[str] = set()
    if not write.has_spark_functions:
        written_names = {f">{write.name}", ">others"}
    from_spark: set[str] = set()
    if read.has_spark_functions:
        from_spark = {f"spark{name}" for name in written_names}
    return frozenset(read_names | written_names | from_spark)


@cache
def read_differences() -> tuple[Difference, ...]:
    """Return all rows of the table."""
    rows = read_package_table("matchrec.dialects", "differences.txt")
    return tuple(_read_row(cells) for cells in rows)


def _read_row(cells: list[str]) -> Difference:
    """Return a row of the table, given its cells.

    The third cell is the required text, or a number of arguments: `=2` for two, `3+` for three or
    more.
    """
    products, words, requirement, severity, sentence, replacement, *form = cells
    argument_counts = range(maxsize)
    number = requirement.strip("=+")
    if number.isdigit():
        least = int(number)
        is_exact = requirement.startswith("=")
        argument_counts = range(least, least + 1 if is_exact else maxsize)
        requirement = ""
    required_text = re.compile(requirement, re.IGNORECASE | re.DOTALL) if requirement else None
    return Difference(
        products=frozenset(products.split()),
        words=tuple(words.split()),
        required_text=required_text,
        argument_counts=argument_counts,
        is_rejected=severity == "refused",
        sentence=sentence,
        replacement=replacement,
        form="".join(form),
    )
