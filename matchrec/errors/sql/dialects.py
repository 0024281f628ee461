"""Errors and notes about queries of other products."""

from matchrec.errors.kinds import MatchRecognizeParseError, MatchRecognizeUnsupportedError, as_note
from matchrec.source import Span


def _sql_of(product: str) -> str:
    """What a message calls the SQL of a product; some are called by it."""
    return product if product.endswith("SQL") else f"SQL of {product}"


def unreadable(product: str, reason: str, span: Span) -> MatchRecognizeParseError:
    """A fragment of a query that sqlglot cannot read in the product's dialect."""
    return MatchRecognizeParseError(
        f"cannot read this as {_sql_of(product)}", span, notes=(as_note(reason),)
    )


def cannot_say(product: str, reason: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A fragment of a query with something that the other product lacks; `reason` is sqlglot's."""
    return MatchRecognizeUnsupportedError(
        f"cannot say this in {_sql_of(product)}", span, notes=(as_note(reason),)
    )


def cannot_call(
    products: tuple[str, str], function: str, reason: str, span: Span
) -> MatchRecognizeUnsupportedError:
    """A call of a function that the other product lacks. products: that is read, and written."""
    read, write = products
    return MatchRecognizeUnsupportedError(
        f"cannot say this {function} in {_sql_of(write)}",
        span,
        notes=(as_note(reason),),
        hint=f"write what {_sql_of(write)} has for it: functions unknown to {read} are left as they"
        " are",
    )


def moved(product: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A fragment of a query whose parts come in another order in the other dialect."""
    return MatchRecognizeUnsupportedError(
        f"cannot translate this fragment to {_sql_of(product)}: its parts change places",
        span,
        hint="write the query around the clause as Spark SQL",
    )


def unknown_option(span: Span, known: str) -> MatchRecognizeUnsupportedError:
    """An option of the clause that is not known."""
    return MatchRecognizeUnsupportedError(
        "unknown option of MATCH_RECOGNIZE", span, hint=f"write {known} = TRUE, or remove it"
    )


def no_windows(product: str, span: Span) -> MatchRecognizeUnsupportedError:
    """PATTERN in a window, which the product does not have."""
    return MatchRecognizeUnsupportedError(
        f"{_sql_of(product)} has no PATTERN in windows",
        span,
        hint="write FROM t MATCH_RECOGNIZE (...)",
    )


def malformed_duration(span: Span) -> MatchRecognizeParseError:
    """LIMIT DURATION without a unit and a number."""
    return MatchRecognizeParseError(
        "malformed LIMIT DURATION", span, hint="write LIMIT DURATION (minute, 5)"
    )


def ordered_by_arrival(product: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A clause over events that are ordered by nothing that a table has."""
    return MatchRecognizeUnsupportedError(
        f"{product} orders events by the time at which they arrive, which a table does not say",
        span,
        hint="write TIMESTAMP BY and a column of the table after its name",
    )


def own_time(key: str, span: Span) -> MatchRecognizeUnsupportedError:
    """Events with a time of their own for each key, in one order with those of other keys."""
    return MatchRecognizeUnsupportedError(
        f"each `{key}` has a time of its own, but PARTITION BY has not this key",
        span,
        hint=f"add {key} to PARTITION BY, or leave OVER out",
    )


def no_window_of_time(name: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A function of Flink SQL's windows of time that Spark cannot say."""
    return MatchRecognizeUnsupportedError(
        f"no {name}, a window of time of Flink SQL",
        span,
        hint="write window(ts, '10 minutes') of Spark, as a column or in GROUP BY",
    )


def no_table_of_windows(name: str, span: Span) -> MatchRecognizeUnsupportedError:
    """`TABLE(SESSION(...))`, whose windows Spark knows in GROUP BY only."""
    return MatchRecognizeUnsupportedError(
        f"no table of {name} windows of Flink SQL",
        span,
        hint="write GROUP BY SESSION(ts, INTERVAL '10' MINUTE), with SESSION_START and SESSION_END",
    )


def no_length_of_window(span: Span) -> MatchRecognizeUnsupportedError:
    """The length of a window of time that is not a number of one unit."""
    return MatchRecognizeUnsupportedError(
        "the length of a window must be an interval of one unit",
        span,
        hint="write INTERVAL '90' MINUTE",
    )


def not_written(product: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A conversion to a product whose queries are only read."""
    return MatchRecognizeUnsupportedError(
        f"queries are read from {product}, not written for it", span
    )


def not_in(product: str, what: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A part of the clause that the other product does not have."""
    return MatchRecognizeUnsupportedError(f"{product} has no {what}", span)


def name_of_any_row(span: Span) -> MatchRecognizeUnsupportedError:
    """`.` in PATTERN beside Classifier(), of Azure Stream Analytics."""
    return MatchRecognizeUnsupportedError(
        "`.` in PATTERN has no name that Classifier() could give",
        span,
        hint="write a name that DEFINE does not mention",
    )


def divided_input(span: Span) -> MatchRecognizeUnsupportedError:
    """`FROM input PARTITION BY key` before a clause, of Azure Stream Analytics."""
    return MatchRecognizeUnsupportedError(
        "PARTITION BY of an input is not supported",
        span,
        hint="leave it out here, and write PARTITION BY in the clause",
    )


def time_of_step(span: Span) -> MatchRecognizeUnsupportedError:
    """TIMESTAMP BY in a query that no clause follows, of Azure Stream Analytics."""
    return MatchRecognizeUnsupportedError(
        "TIMESTAMP BY stands where no MATCH_RECOGNIZE follows",
        span,
        hint="write it right before MATCH_RECOGNIZE, as in FROM step TIMESTAMP BY time",
    )
