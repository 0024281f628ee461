"""Errors that Spark's own analysis of a part of the query brings up."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.dataclass import dataclass
from matchrec.errors.kinds import MatchRecognizePlanError, listed, nearest
from matchrec.errors.language import part
from matchrec.errors.sql.foreign_names import cure_of, cure_of_arguments, or_dialect
from matchrec.source import Span

BEFORE_THE_MATCH = ("PARTITION BY", "ORDER BY", "WITHIN")
_CALLS = ("MATCH_NUMBER", "CLASSIFIER", "MATCH_ROW_NUMBER", "MATCHED_ROWS")


@dataclass(frozen=True, slots=True)
class Names:
    """What an expression could have meant: the input's columns, variables of PATTERN, measures.

    keys: names that PARTITION BY gives to columns of the result. call: of the function
    around the expression, up to there, or with which it is compared. example: the column that a
    cure names. over_window: whether the function is one over a row pattern window.
    """

    columns: tuple[str, ...]
    variables: tuple[str, ...]
    measures: tuple[str, ...]
    keys: tuple[str, ...] = ()
    call: str = ""
    example: str = "x"
    over_window: bool = False


PRINTED_QUOTES = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}


def unknown_column(
    name: str, clause: str, known: Names, span: Span | None
) -> MatchRecognizePlanError:
    """A name that is neither a column of the input nor qualified by a pattern variable."""
    qualifier, _, column = name.rpartition(".")
    if qualifier and clause in BEFORE_THE_MATCH and qualifier.upper() in known.variables:
        return _variable_before_the_match(qualifier, column, clause, span)
    if qualifier and qualifier.upper() in known.variables:
        not_there = _variable_over_window if known.over_window else _variable_not_read
        return not_there(qualifier, span)
    if qualifier and column in known.columns:
        return _unknown_qualifier(qualifier, column, clause, known, span)
    near = nearest(column, known.columns)
    notes: tuple[str, ...] = ()
    hint = f"write {near}" if near else "write one of these"
    if name.upper() in _CALLS:
        hint = f"write {name}()"
        if name.upper() == "CLASSIFIER":
            hint = or_dialect(hint, "snowflake")
    elif name.upper() in known.variables:
        notes = (f"`{name}` is a pattern variable, which stands for rows",)
        hint = _instead_of_variable(name, known)
    elif name in known.measures:
        notes = (f"`{name}` is a measure; measures cannot read one another",)
        hint = f"repeat its expression, or compute with {name} in the SELECT around the clause"
    elif name in known.keys:
        notes = (f"`{name}` is a name that PARTITION BY gives to a column of the result",)
        hint = f"repeat the expression that stands before AS {name}"
    return MatchRecognizePlanError(
        f"unknown column `{name}` in {part(clause)}",
        span,
        notes=(*notes, f"the input has: {listed(known.columns)}"),
        hint=hint,
    ).under(name)


def _instead_of_variable(name: str, known: Names) -> str:
    """What to write for a variable where a value should stand."""
    match known.call:
        case "":
            return f"write a column of its row: {name}.{known.example}"
        case "CLASSIFIER(":
            return f"write its name as a string: CLASSIFIER() = '{name.upper()}'"
        case "COUNT(":
            return f"write COUNT({name}.*) for the number of its rows"
        case call:
            return f"write a column of its rows: {call}{name}.{known.example})"


def unknown_type_column(name: str, columns: Iterable[str]) -> MatchRecognizePlanError:
    """type_column= is no column of the DataFrame."""
    columns = tuple(columns)
    near = nearest(name, columns)
    return MatchRecognizePlanError(
        f"unknown column `{name}` in type_column",
        notes=(f"the input has: {listed(columns)}",),
        hint=f"write type_column={near!r}" if near else "write one of these",
    )


def _variable_before_the_match(
    qualifier: str, column: str, clause: str, span: Span | None
) -> MatchRecognizePlanError:
    return MatchRecognizePlanError(
        f"pattern variable `{qualifier}` cannot stand in {part(clause)}",
        span,
        notes=(f"{part(clause)} is evaluated before the match, on each row by itself",),
        hint=f"write {column}",
    ).under(qualifier)


def _variable_not_read(qualifier: str, span: Span | None) -> MatchRecognizePlanError:
    """AVG(A.x, B.x), of which only the first is known to be an argument."""
    return MatchRecognizePlanError(
        f"a column of pattern variable `{qualifier}` where none is read",
        span,
        hint="look how many arguments the function takes",
    ).under(qualifier)


def _variable_over_window(qualifier: str, span: Span | None) -> MatchRecognizePlanError:
    """sum(A.x) OVER w, where A is a variable of the window's pattern and no relation."""
    return MatchRecognizePlanError(
        f"pattern variable `{qualifier}` in a function over a window",
        span,
        notes=("outside of MEASURES, functions know the rows of the match, but no variables",),
        hint="write it as a measure of the window: MEASURES ... AS m, then m OVER w",
    ).under(qualifier)


def _unknown_qualifier(
    qualifier: str, column: str, clause: str, known: Names, span: Span | None
) -> MatchRecognizePlanError:
    near = nearest(qualifier, known.variables)
    return MatchRecognizePlanError(
        f"unknown pattern variable `{qualifier}` in {part(clause)}",
        span,
        notes=(f"{part('PATTERN')} has: {listed(known.variables)}",),
        hint=f"write {near}.{column}"
        if near
        else f"write {column}, or add {qualifier} to {part('PATTERN')}",
    ).under(qualifier)


def ambiguous_column(name: str, clause: str, span: Span | None) -> MatchRecognizePlanError:
    """A name that several columns of the input have."""
    return MatchRecognizePlanError(
        f"column `{name}` in {part(clause)} is ambiguous",
        span,
        notes=("several columns of the input have this name",),
        hint="rename them in a subquery before the clause: SELECT a.x, b.x AS x2 FROM ...",
    ).under(name)


def unknown_function(
    name: str, clause: str, known: Iterable[str], span: Span | None
) -> MatchRecognizePlanError:
    """A call of what is neither a function of Spark's nor a registered one."""
    near = nearest(name, (one for one in known if _similar(name, one)))
    own = f"if {name} is a function of your own, register it with spark.udf.register"
    return MatchRecognizePlanError(
        f"unknown function `{name}` in {part(clause)}",
        span,
        hint=cure_of(name) or (f"write {near}" if near else own),
    ).under(name)


def _similar(name: str, function: str) -> bool:
    """Whether a function may be meant: a short name is like too many to have a wrong letter."""
    swapped = sorted(name.upper()) == sorted(function.upper())
    longer = len(function) - len(name)
    return -2 <= longer <= 2 and (len(name) > 4 or swapped or longer == 1)


def not_sortable(clause: str, type_name: str, span: Span | None) -> MatchRecognizePlanError:
    """A key of a type that has no order."""
    sortable = "CAST(x AS STRING)" if type_name == "interval" else "to_json(x)"
    return MatchRecognizePlanError(
        f"{part(clause)} has a key of type {type_name}, which Spark cannot sort",
        span,
        notes=(f"rows are sorted by both, {part('PARTITION BY')} and {part('ORDER BY')}",),
        hint=f"write an expression of another type, such as {sortable}",
    )


def refused_by_spark(
    clause: str, sentence: str, span: Span | None, function: str = ""
) -> MatchRecognizePlanError:
    """An expression that Spark's analyzer does not accept, in its own words.

    function: what it says it about, where that is the call of a function.
    """
    return MatchRecognizePlanError(
        f"Spark refuses an expression in {part(clause)}: {sentence}",
        span,
        hint=cure_of_quotes(sentence) or _OF_WORDS.get(sentence) or cure_of_arguments(function),
    )


_OF_WORDS = {
    "Syntax error at or near 'NULL'": "write IS NULL or IS NOT NULL",
    "Syntax error at or near '!'": "write <> for what is not equal, NOT for what is not true",
}


def cure_of_quotes(sentence: str) -> str | None:
    """What to write where a word processor has put its own quotes, or None.

    >>> cure_of_quotes("Syntax error at or near '‘'"), cure_of_quotes("Syntax error")
    ("write ' for ‘", None)
    """
    found = next((one for one in PRINTED_QUOTES if one in sentence), None)
    return None if found is None else f"write {PRINTED_QUOTES[found]} for {found}"


def cure_of_typed_literal(type_name: str) -> str | None:
    """What to write where Spark takes a word for the type of a literal, as in `IN (SELECT 'a')`.

    >>> cure_of_typed_literal('"SELECT"')
    "give the text a name: SELECT 'a' AS name"
    """
    is_query = type_name.strip('"').upper() == "SELECT"
    return "give the text a name: SELECT 'a' AS name" if is_query else None
