"""`FrontEnd`: the interface between `Query` and the languages of queries.

    class                           what it parses
    sql_texts.SqlText               a query in SQL
    sql_texts.ClauseText            a clause over a DataFrame
    sase_query.SaseFrontEnd         a SASE+ text over events
    pattern_query.PatternFrontEnd   a Pattern over events

`resolve_options` checks the argument `options` that the calls in all languages have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pyspark.sql import SparkSession

from matchrec.api.evaluate import ParsedQuery
from matchrec.errors import arguments as errors
from matchrec.spark.request import NO_OPTIONS, Options

if TYPE_CHECKING:
    from matchrec.dialects.writing.convert import Conversion

# The words by which messages call a query, one for each language. `Query.language` has them, too.
QueryKind = Literal["SQL", "a clause", "SASE+", "a Pattern"]


class FrontEnd(ABC):
    """The arguments of a query in one of the languages: its text or Pattern, its rows, its values.

    Each language has a subclass, which knows how to parse the text and how to write it as SQL.
    """

    @property
    @abstractmethod
    def session(self) -> SparkSession:
        """Return the session that runs the query."""

    @abstractmethod
    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        """Parse the text or lower the Pattern.

        Args:
            dialect: the product whose SQL it is. SASE+ and Patterns have no dialects.
            options: how the query runs.

        Raises:
            MatchRecognizeError: the text has a mistake.
        """

    @abstractmethod
    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        """Return the query in the SQL of a product, as `Query.to_sql` does.

        Args:
            dialect: the product whose SQL the text is.
            write: the product whose SQL is written.
            events: the name of the table with the rows, for a query without FROM.

        Raises:
            MatchRecognizeError: the query cannot be read, or a part of it cannot be written.
        """


def resolve_options(
    call: str, options: Options | None, *, unsupported: Sequence[str] = ()
) -> Options:
    """Return the options of a call, or the defaults if the user passed none.

    Args:
        call: the name of the called function, for the error.
        options: the options that the user passed, or None.
        unsupported: the names of the options that this function does not have.

    Raises:
        MatchRecognizePlanError: one of the unsupported options is set.
    """
    if options is None:
        return NO_OPTIONS
    for name in unsupported:
        if getattr(options, name) != getattr(NO_OPTIONS, name):
            raise errors.option_not_for_call(name=name, call=call)
    return options
