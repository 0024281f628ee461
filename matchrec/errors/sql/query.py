"""Errors in the query around a MATCH_RECOGNIZE clause."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    as_note,
    listed,
)
from matchrec.errors.sql.syntax import name_in_double_quotes
from matchrec.source import Span


def misspelt_clause(text: str, span: Span) -> MatchRecognizeParseError:
    """MATCH RECOGNIZE, MATCH_RECOGNISE."""
    return MatchRecognizeParseError(
        f"unexpected `{text}` with a PATTERN", span, hint="write MATCH_RECOGNIZE"
    )


def clause_without_relation(span: Span) -> MatchRecognizeParseError:
    """FROM MATCH_RECOGNIZE (...)."""
    return MatchRecognizeParseError(
        "MATCH_RECOGNIZE without a relation before it",
        span,
        hint="write FROM t MATCH_RECOGNIZE (...)",
    )


def clause_in_wrong_place(span: Span) -> MatchRecognizeParseError:
    """The clause follows something that is no relation in FROM."""
    return MatchRecognizeParseError(
        "MATCH_RECOGNIZE cannot stand here",
        span,
        notes=("it follows one relation in FROM: a table, a subquery, VALUES or a function",),
        hint=(
            "wrap what precedes it in a subquery: FROM (SELECT * FROM ...) MATCH_RECOGNIZE (...)"
        ),
    )


def unreadable_query(reason: str, span: Span) -> MatchRecognizeParseError:
    """The query around the clause is no SQL that the parser knows; `reason` is the parser's."""
    return MatchRecognizeParseError(
        "cannot read the query around MATCH_RECOGNIZE",
        span,
        notes=(as_note(reason),),
        hint=(
            "if Spark knows this syntax, make a temporary view of the MATCH_RECOGNIZE query "
            "and use the view here"
        ),
    )


def clause_in_clause(inner: Span) -> MatchRecognizeUnsupportedError:
    """MATCH_RECOGNIZE in a subquery of MEASURES or DEFINE."""
    return MatchRecognizeUnsupportedError(
        "MATCH_RECOGNIZE in an expression of another MATCH_RECOGNIZE is not supported",
        inner,
        hint="name its result: WITH c AS (SELECT ... MATCH_RECOGNIZE (...)), and query c instead",
    )


def changed_relation(word: str, span: Span) -> MatchRecognizeParseError:
    """DELETE FROM t MATCH_RECOGNIZE (...)."""
    return MatchRecognizeParseError(
        f"MATCH_RECOGNIZE on the table of {word}",
        span,
        notes=(f"the clause gives new rows, and {word} changes those of a table",),
        hint=f"write the clause in a subquery of its condition: {word} ... WHERE x IN (SELECT ...)",
    )


def lateral_relation(span: Span) -> MatchRecognizeUnsupportedError:
    """LATERAL (...) MATCH_RECOGNIZE."""
    return MatchRecognizeUnsupportedError(
        "MATCH_RECOGNIZE after a LATERAL relation is not supported",
        span,
        notes=("its input is matched once, not once for each row of another relation",),
        hint="remove LATERAL, or join the relations in a subquery and match its result",
    )


def correlated_relation(name: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A relation that uses a column of a query around it."""
    return MatchRecognizeUnsupportedError(
        f"input of MATCH_RECOGNIZE depends on `{name}` of the query around it",
        span,
        notes=("its input is matched once, not once for each row of another relation",),
        hint="join the relations in a subquery, match its result, and add the key to PARTITION BY",
    )


def recursive_relation(name: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A clause in the definition of a recursive CTE that uses itself."""
    return MatchRecognizeUnsupportedError(
        f"MATCH_RECOGNIZE in the recursive definition of `{name}` is not supported",
        span,
        hint=f"match the finished rows instead: SELECT * FROM {name} MATCH_RECOGNIZE (...)",
    )


def stored_text(kind: str, span: Span) -> MatchRecognizeUnsupportedError:
    """A permanent view or function, of which Spark would store the text."""
    return MatchRecognizeUnsupportedError(
        f"MATCH_RECOGNIZE in {kind} is not supported",
        span,
        notes=("Spark stores the text, and cannot run the clause without matchrec",),
        hint="write CREATE TEMPORARY VIEW, once in each session, or CREATE TABLE ... AS to keep the"
        " rows",
    )


def global_view(span: Span) -> MatchRecognizeUnsupportedError:
    """CREATE GLOBAL TEMPORARY VIEW."""
    return MatchRecognizeUnsupportedError(
        "MATCH_RECOGNIZE in the text of a global temporary view is not supported",
        span,
        notes=("Spark stores the text, and other sessions have not what stands in it for clauses",),
        hint='make it of the result: spark.sql("SELECT ...").createGlobalTempView("name")',
    )


def clause_in_script(span: Span) -> MatchRecognizeUnsupportedError:
    """BEGIN ... END where one query is wanted."""
    return MatchRecognizeUnsupportedError(
        "MATCH_RECOGNIZE in a script, BEGIN ... END, is not supported here",
        span,
        notes=("matchrec.sql runs one in Spark's SQL, and so does spark.sql after install",),
        hint="pass the statement with the clause by itself",
    )


def control_in_script(word: str, span: Span) -> MatchRecognizeUnsupportedError:
    """DECLARE, IF, WHILE and the like in a script with a clause."""
    return MatchRecognizeUnsupportedError(
        f"{word} in a script with MATCH_RECOGNIZE is not supported",
        span,
        notes=("the statements of such a script run one after the other, each by itself",),
        hint="write this part in Python around spark.sql; for a variable DECLARE VARIABLE before"
        " the script, and SET VAR in it",
    )


def unknown_frame(name: str, frames: Iterable[str], span: Span) -> MatchRecognizePlanError:
    """`{name}` that no argument of the call gives."""
    return MatchRecognizePlanError(
        f"no DataFrame is passed for `{{{name}}}`",
        span,
        notes=(f"passed: {listed(frames)}",),
        hint=f"pass it by name: {name}=dataframe",
    )


def alias_in_double_quotes(text: str, span: Span) -> MatchRecognizeParseError:
    """`MATCH_RECOGNIZE (...) AS "m"`, where Spark reads a string."""
    return name_in_double_quotes("alias of MATCH_RECOGNIZE in double quotes", text, span)
