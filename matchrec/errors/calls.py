"""Errors about calls of the Python API: options that do not fit the query, and wrong results.

`arguments` has the errors in the arguments of a call, `parameters` those in the parameters of its
query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matchrec.errors.kinds import (
    MatchRecognizeError,
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
    about_argument,
    add_code,
)
from matchrec.errors.quoting import quote_for_python
from matchrec.errors.surface import ProgramKind, current_surface
from matchrec.errors.wording import join_names, shorten
from matchrec.source import Span


def not_a_match_graph(*, columns: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a DataFrame without the columns of a graph of matches."""
    return MatchRecognizePlanError(
        f"this DataFrame is not a match graph: it has {join_names(columns)}",
        hint='pass the result of matchrec.match_sase(..., output="graph") with all its columns',
        code="not-a-match-graph",
    )


def no_matched_rows(
    column: str | None, columns: Iterable[str], arrays: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a result without a column that has the rows of a match.

    Args:
        column: the column that the user named, which has no rows; None if the user named no column.
        columns: the columns of the result.
        arrays: the columns that are arrays of structs.
    """
    sentence = "no column has the rows of a match"
    if column is not None:
        sentence = f"`{column}` is not a column with the rows of a match"
    hint = "add MATCHED_ROWS() AS rows to MEASURES"
    if len(arrays) == 1:
        hint = f"write explode_matches(df, {quote_for_python(arrays[0])})"
    elif arrays:
        hint = f"name one of them: explode_matches(df, {quote_for_python(arrays[0])})"
    return MatchRecognizePlanError(
        sentence,
        notes=(
            f"the DataFrame has: {join_names(columns)}",
            f"arrays of structs: {join_names(arrays)}" if arrays else "",
        ),
        hint=hint,
        code="no-matched-rows",
    )


def several_matched_rows(*, columns: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a result in which several columns have the rows of a match."""
    return MatchRecognizePlanError(
        f"several columns have rows of a match: {join_names(columns)}",
        hint=f"name one of them: explode_matches(df, {quote_for_python(columns[0])})",
        code="several-matched-rows",
    )


def _advise_renaming(name: str) -> str:
    """Return advice to rename a measure that has the name of a column of the rows."""
    new_name = quote_for_python(f"match_{name}")
    return (
        f"rename the measure first: result.withColumnRenamed({quote_for_python(name)}, {new_name})"
    )


def column_types_differ(*, name: str, of_match: str, of_row: str) -> MatchRecognizePlanError:
    """Return the error for a column that a match and its rows have with different types.

    Args:
        name: the column.
        of_match: the type of the column in the match.
        of_row: the type of the field in the rows.
    """
    return MatchRecognizePlanError(
        f"column `{name}` has type {of_match} in the match and type {of_row} in its rows",
        hint=_advise_renaming(name),
        code="column-types-differ",
    )


def write_other_value_message(name: str) -> str:
    """Return the message for a column whose value differs between a match and one of its rows.

    The result is a text, because Spark raises the error, by `raise_error` in a query.
    """
    error = MatchRecognizeRunError(
        f"column `{name}` has one value in the match and another in its rows",
        hint=_advise_renaming(name),
        code="column-values-differ",
    )
    return f"{add_code(error.message, error.code)}; {error.hint}"


def algorithm_not_possible(*, name: str, reason: str) -> MatchRecognizeUnsupportedError:
    """Return the error for an algorithm in the options that cannot run the query."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        f"algorithm `{name}` cannot run this query: {reason}",
        hint=f"write {surface.write_option('algorithm', 'auto')}",
        code="algorithm-not-possible",
    )


def worker_cannot_sort_rows(*, reason: str) -> MatchRecognizeUnsupportedError:
    """Return the error for sort="worker" if the workers cannot sort the rows."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        reason,
        hint=f"write {surface.write_option('sort', 'auto')}, so that the engine sorts the rows",
        code="worker-cannot-sort-rows",
    )


def partitions_cannot_be_cut(*, reason: str) -> MatchRecognizeUnsupportedError:
    """Return the error for sort="ranges" if partitions cannot be cut into ranges."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        f"the partitions of this query cannot be cut into ranges: {reason}",
        hint=(
            f"write {surface.write_option('sort', 'auto')}, so that one task searches each "
            "partition"
        ),
        code="partitions-cannot-be-cut",
    )


def rule_versions_need_workers(
    *, reason: str, user_chose_engine: bool
) -> MatchRecognizeUnsupportedError:
    """Return the error for versions of rules if the workers cannot or may not sort the rows.

    Args:
        reason: why they do not sort.
        user_chose_engine: whether the user has written sort="engine".
    """
    if user_chose_engine:
        hint = f"leave out {current_surface().write_option('sort', 'engine')}"
    else:
        hint = (
            "add a column to the input that has this value, or one that sorts in the same way, "
            "and use this column instead"
        )
    return MatchRecognizeUnsupportedError(
        f"versions of rules are not supported if the engine sorts the rows: {reason}",
        notes=("the workers separate the rows of each version before they test its conditions",),
        hint=hint,
        code="rule-versions-need-workers",
    )


def max_steps_with_event_selection() -> MatchRecognizeUnsupportedError:
    """Return the error for max_steps in a query with an event selection."""
    option = current_surface().name_option("max_steps")
    return about_argument(
        MatchRecognizeUnsupportedError(
            f"{option} is not supported for a query with event selection",
            notes=("steps are counted only if the rows of a match follow each other",),
            hint=f"leave out {option}, and write WITHIN to bound the runs",
            code="max-steps-with-event-selection",
        ),
        "max_steps",
    )


def counters_without_values() -> MatchRecognizePlanError:
    """Return the error for counters that are read before a query has filled them."""
    return MatchRecognizePlanError(
        "the counters have no values, because no action on the result of their query has finished",
        hint=(
            "pass them to one query, options=matchrec.Options(counters=counters), and run an "
            "action on its result"
        ),
        code="counters-without-values",
    )


def counters_not_readable(*, class_name: str, text: str) -> MatchRecognizeError:
    """Return the error for counters whose Observation PySpark cannot read.

    Args:
        class_name: the class of PySpark's error.
        text: the text of PySpark's error.
    """
    first_line = text.partition("\n")[0]
    return MatchRecognizeError(
        "the counters cannot be read",
        notes=(f"{class_name}: {first_line}",),
        hint="pass new counters to the query, and run an action on its result",
        code="counters-not-readable",
    )


def column_altered_by_pandas(*, column: str, type_name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for transport="pandas" with a column whose values pandas would change."""
    return MatchRecognizeUnsupportedError(
        f"transport `pandas` would alter column {column} of type {type_name}",
        hint='write transport="arrow", or leave it out',
        code="column-altered-by-pandas",
    )


def too_many_combinations(*, count: int, limit: int) -> MatchRecognizeUnsupportedError:
    """Return the error for a sweep with too many combinations of values."""
    return MatchRecognizeUnsupportedError(
        f"{count:,} combinations of values are too many",
        hint=(
            f"pass fewer values, or run several sweeps, each with at most {limit:,} combinations"
        ),
        code="too-many-combinations",
    )


def not_a_query(span: Span, *, is_sase: bool) -> MatchRecognizePlanError:
    """Return the error for a clause or a text of SASE+ where a query of SQL belongs.

    Args:
        span: the first word of the text.
        is_sase: whether the text is SASE+.
    """
    surface = current_surface()
    call = 'match_sase(df, text, order_by="...")' if is_sase else "match_recognize(df, clause)"
    advice_on_query = "write SELECT * FROM t MATCH_RECOGNIZE (...) around it"
    match surface.program:
        case ProgramKind.GATEWAY:
            translate = "translate it to SQL: matchrec transpile FILE.sase --order-by ts"
            hint = translate if is_sase else advice_on_query
        case ProgramKind.PYTHON:
            hint = f"pass it to matchrec.{call}" + ("" if is_sase else f", or {advice_on_query}")
        case ProgramKind.CELL if not is_sase:
            hint = f"{surface.advice_on_clause}, or {advice_on_query}"
        case _:
            hint = surface.advice_on_clause if is_sase else advice_on_query
    return MatchRecognizePlanError(
        f"{'SASE+' if is_sase else 'a clause of MATCH_RECOGNIZE'} is not a SQL query",
        span,
        hint=hint,
        code="not-a-query",
    )


def sase_read_as_sql(span: Span) -> MatchRecognizePlanError:
    """Return the error for a text of SASE+ that is to be converted as SQL.

    Args:
        span: the first word of the text.
    """
    return MatchRecognizePlanError(
        "a text of SASE+ is read as SQL",
        span,
        hint=f"write {current_surface().write_option('read', 'sase')}",
        code="sase-read-as-sql",
    )


def file_name_as_query(span: Span, *, path: str) -> MatchRecognizePlanError:
    """Return the error for the name of a file instead of the text of a query.

    Args:
        span: the whole text.
        path: the name.
    """
    return MatchRecognizePlanError(
        f"`{shorten(path)}` is the name of a file, and not a query",
        span,
        hint=current_surface().advice_on_query_file.format(name=path),
        code="file-name-as-query",
    )


def order_by_with_clause(span: Span) -> MatchRecognizePlanError:
    """Return the error for `query(df, clause, order_by=...)`.

    Args:
        span: the first word of the clause.
    """
    return MatchRecognizePlanError(
        "`order_by` is not allowed with a clause of MATCH_RECOGNIZE",
        span,
        notes=("a clause has its own ORDER BY; order_by is for SASE+ and a Pattern",),
        hint="leave order_by out, and write ORDER BY in the clause",
        code="order-by-with-clause",
    )


def sase_without_pattern(span: Span, *, word: str, call: str) -> MatchRecognizePlanError:
    """Return the error for a text of SASE+ that begins with SEQ instead of PATTERN.

    Args:
        span: the location of SEQ in the text of the query.
        word: SEQ as it is written.
        call: the call that takes a text of SASE+.
    """
    return MatchRecognizePlanError(
        f"missing PATTERN before {word}, with which a text of SASE+ begins",
        span,
        hint=f"write PATTERN {word}(...); {current_surface().advice_on_clause.format(name=call)}",
        code="sase-without-pattern",
    )


def option_not_convertible(*, option: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a query with an option that other languages lack."""
    return MatchRecognizeUnsupportedError(
        f"a query with {option} cannot be converted",
        notes=("other languages write this differently, or not at all",),
        hint="remove it, and choose the matches in the other language",
        code="option-not-convertible",
    )


def no_equivalent_in_sql(
    span: Span | None, *, what: str, hint: str | None
) -> MatchRecognizeUnsupportedError:
    """Return the error for a query that cannot be converted to MATCH_RECOGNIZE.

    Args:
        span: the location in the text of the query.
        what: the part of the query that has no equivalent.
        hint: what to write instead; None if that is not known.
    """
    return MatchRecognizeUnsupportedError(
        f"MATCH_RECOGNIZE has no equivalent of {what}", span, hint=hint, code="no-equivalent-in-sql"
    )


def pattern_as_text() -> MatchRecognizePlanError:
    """Return the error for `read` with a Pattern, which is an object and not a text."""
    return MatchRecognizePlanError(
        "a Pattern is converted as an object, without read=",
        hint=(
            'write matchrec.transpile(matchrec.Pattern.begin("a"), write="spark", order_by="time")'
        ),
        code="pattern-as-text",
    )


def missing_query_text() -> MatchRecognizePlanError:
    """Return the error for a call of `query` with a DataFrame and nothing else."""
    return MatchRecognizePlanError(
        "missing clause, SASE+ text or Pattern in `query`",
        hint='write it after the DataFrame: matchrec.query(df, "ORDER BY ...")',
        code="missing-query-text",
    )
