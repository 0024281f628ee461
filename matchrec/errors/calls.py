"""Errors about calls of the Python API: wrong arguments, options, parameters and results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from matchrec.errors.kinds import (
    MatchRecognizeError,
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
    add_code,
)
from matchrec.errors.language import current_surface, quote_for_python
from matchrec.errors.misspellings import find_nearest, find_nearest_choice
from matchrec.errors.wording import (
    SHORT,
    describe_value,
    find_frame_library,
    join_names,
    show_count,
    show_list,
)
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
        column: the column that the user named, which has no rows; None if the user named none.
        columns: the columns of the result.
        arrays: those that are arrays of structs.
    """
    sentence = "no column has the rows of a match"
    if column is not None:
        sentence = f"`{column}` is not a column with the rows of a match"
    hint = (
        "add MATCHED_ROWS() AS rows to MEASURES, or name the column that has the rows: "
        'explode_matches(df, "name")'
    )
    if len(arrays) == 1:
        hint = f'write explode_matches(df, "{arrays[0]}")'
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
    """Return the error for a column that the match and its rows have, with two types."""
    return MatchRecognizePlanError(
        f"column `{name}` has type {of_match} in the match and type {of_row} in its rows",
        hint=_advise_renaming(name),
        code="column-types-differ",
    )


def write_other_value_message(name: str) -> str:
    """Return the message for a column whose value differs between a match and one of its rows.

    It is a text, because Spark raises the error, by `raise_error` in a query.
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


def rule_versions_need_workers(*, reason: str) -> MatchRecognizeUnsupportedError:
    """Return the error for versions of rules with sort="engine"."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        f"rules with times are not supported if the engine sorts the rows: {reason}",
        notes=("the workers separate the rows of each version before they test its conditions",),
        hint=(
            f"leave out {surface.write_option('sort', 'engine')}, and compute what only the "
            "engine can compute as a column of the input"
        ),
        code="rule-versions-need-workers",
    )


def max_steps_with_event_selection() -> MatchRecognizeUnsupportedError:
    """Return the error for max_steps in a query with an event selection."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        f"{surface.name_option('max_steps')} is not supported for a query with event selection",
        notes=("steps are counted only if the rows of a match follow each other",),
        hint=f"leave out {surface.name_option('max_steps')}, and write WITHIN to bound the runs",
        code="max-steps-with-event-selection",
    )


def empty_order_by() -> MatchRecognizePlanError:
    """Return the error for an empty order_by."""
    surface = current_surface()
    return MatchRecognizePlanError(
        f"missing {surface.name_option('order_by')}, which sorts the events",
        hint=f"write {surface.write_option('order_by', 'ts')}, with the column of the order",
        code="empty-order-by",
    )


def several_expressions_in_one_text(span: Span, argument: str) -> MatchRecognizePlanError:
    """Return the error for several expressions, with commas between them, in one text."""
    surface = current_surface()
    name = surface.name_option(argument)
    example = f'{argument}=["a", "b"]' if surface.is_python else f"{name} a {name} b"
    return MatchRecognizePlanError(
        f"one text in {name} must be one expression",
        span,
        hint=f"write each expression on its own: {example}",
        code="several-expressions-in-one-text",
    )


def direction_in_order_by(span: Span, *, word: str, argument: str) -> MatchRecognizePlanError:
    """Return the error for ASC, DESC or NULLS in order_by or partition_by."""
    surface = current_surface()
    note = "events come in ascending order, NULL first"
    hint = f"remove {word}; for another order, sort by an expression, such as -rank"
    if argument == "partition_by":
        note = "partitions have no order"
        hint = f"remove {word}"
    return MatchRecognizePlanError(
        f"{word} is not allowed in {surface.name_option(argument)}",
        span,
        notes=(note,),
        hint=hint,
        code="direction-in-order-by",
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


def counters_not_readable(*, kind: str, text: str) -> MatchRecognizeError:
    """Return the error for counters whose Observation PySpark cannot read.

    Args:
        kind: the class of PySpark's error.
        text: the text of PySpark's error.
    """
    first_line = text.partition("\n")[0]
    return MatchRecognizeError(
        "the counters cannot be read",
        notes=(f"{kind}: {first_line}",),
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


def unknown_clause_parameter(*, name: str, parameters: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a name in the grid of a sweep that is not in the clause."""
    near = find_nearest(name, parameters)
    hint = f"write {near}, or :{name} in the clause" if near else f"write :{name} in the clause"
    return MatchRecognizePlanError(
        f"the clause has no parameter `:{name}`",
        notes=(
            show_list(
                "the clause has", [f":{parameter}" for parameter in parameters], "parameters"
            ),
        ),
        hint=f"{hint}, or leave {name} out",
        code="unknown-clause-parameter",
    )


def sweep_parameter_without_values(
    span: Span, *, name: str, parameters: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a parameter in the clause of a sweep whose grid has no values for it."""
    near = find_nearest(name, parameters)
    grid = current_surface().name_option("grid")
    hint = f"add values of {name} to {grid}, or write a value instead of :{name}"
    if near:
        hint = f"write :{near}, or add values of {name}"
    return MatchRecognizePlanError(
        f"missing values of parameter `:{name}`",
        span,
        notes=(
            f"there are values of: {join_names(parameters)}"
            if parameters
            else "there are no values",
        ),
        hint=hint,
        code="sweep-parameter-without-values",
    )


# Methods that users expect from other libraries, and the methods that do the same here.
METHODS_INSTEAD = {"execute": ("show", "to_df"), "run": ("show", "to_df"), "toDF": ("to_df",)}


def no_attribute(
    owner: object, name: str, frame: str = "", of_frames: type | None = None
) -> AttributeError:
    """Return the error for an attribute that an object of ours does not have.

    It suggests the most similar attribute. A name in camel case is similar, too: for `followedBy`
    of Flink it suggests `followed_by`.

    Args:
        owner: the object.
        name: the attribute.
        frame: how a DataFrame is made from the object, such as `to_df()`; "" if none can be made.
        of_frames: the class of that DataFrame, whose attributes are suggested, too.
    """
    near = None
    # Python and notebooks look for private names, such as `_repr_html_`: they get no suggestion
    if not name.startswith("_"):
        public_names = find_public_names(type(owner))
        near = find_nearest(name, public_names)
        methods = METHODS_INSTEAD.get(name, ())
        if methods and set(methods) <= set(public_names):
            near = " or .".join(f"{method}()" for method in methods)
        elif of_frames and hasattr(of_frames, name):
            near = f"{frame}.{name}"
        elif of_frames and near is None:
            frame_attribute = find_nearest(name, find_public_names(of_frames))
            near = frame_attribute and f"{frame}.{frame_attribute}"
    hint = f"; write .{near}" if near else ""
    return AttributeError(f"a {type(owner).__name__} has no `{name}`{hint}")


def find_public_names(class_: type) -> list[str]:
    """Return the attributes of a class whose names do not begin with an underscore."""
    return [name for name in dir(class_) if not name.startswith("_")]


def unknown_argument(
    name: str, arguments: Iterable[str], options: Iterable[str], in_braces: Iterable[str]
) -> MatchRecognizePlanError:
    """Return the error for `name=` if the function has no such argument and the query no {name}.

    Args:
        name: the name before `=`.
        arguments: the arguments of the function.
        options: the fields of `Options`.
        in_braces: the names in braces in the query for which nothing was passed.
    """
    argument = find_nearest(name, arguments)
    option = find_nearest(name, options)
    in_braces = list(in_braces)
    misspelt = find_nearest(name, in_braces)
    if misspelt is None and argument is None and option is None and len(in_braces) == 1:
        misspelt = in_braces[0]
    headline = f"`{name}` is not an argument, and the query has no {{{name}}}"
    if misspelt:
        headline = f"the query has {{{misspelt}}}, but the call passes {name}"
        hint = f"write {{{name}}} instead of {{{misspelt}}} in the query, or pass {misspelt}="
    elif argument:
        hint = f"write {argument}="
    elif option:
        hint = f"write options=matchrec.Options({option}=...)"
    else:
        hint = f"write {{{name}}} in the query, pass the value of :{name} in args, "
        hint += f"or leave {name}= out"
    return MatchRecognizePlanError(headline, hint=hint, code="unknown-argument")


def option_as_argument(*, name: str, call: str, argument: str) -> MatchRecognizePlanError:
    """Return the error for an option that is passed to a function as an argument.

    Args:
        call: the function.
        name: the option.
        argument: the argument that takes the options.
    """
    return MatchRecognizePlanError(
        f"`{name}` is an option, not an argument of {call}",
        hint=f"write {argument}=matchrec.Options({name}=...)",
        code="option-as-argument",
    )


def not_a_query(span: Span, *, word: str, call: str) -> MatchRecognizePlanError:
    """Return the error for a text that does not begin as a query of SQL.

    Args:
        span: the location in the text of the query.
        call: the call that takes a clause alone, such as match_recognize.
        word: the first word of the text.
    """
    surface = current_surface()
    return MatchRecognizePlanError(
        f"a SQL query does not begin with {word}",
        span,
        hint=(
            f"{surface.advice_on_clause.format(name=call)}, or write SELECT * FROM t "
            "MATCH_RECOGNIZE (...) around a clause"
        ),
        code="not-a-query",
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


def option_not_for_call(*, name: str, call: str) -> MatchRecognizePlanError:
    """Return the error for an option that has no meaning for a call."""
    return MatchRecognizePlanError(
        f"option `{name}` is not allowed in {call}",
        hint=f"remove {name}",
        code="option-not-for-call",
    )


def option_not_convertible(*, option: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a query with an option that other languages lack."""
    return MatchRecognizeUnsupportedError(
        f"a query with {option} cannot be converted",
        notes=("other languages write this differently, or not at all",),
        hint="remove it, and choose the matches in the other language",
        code="option-not-convertible",
    )


def wrong_number_of_values(
    args: str, count: int, *first_without_value: Span
) -> MatchRecognizePlanError:
    """Return the error for more or fewer values than the query has positional parameters (?).

    Only calls of Python pass values by position.

    Args:
        args: a description of the values, such as "has 2 values".
        count: the number of positional parameters in the query.
        first_without_value: the first of them without a value, if there is one.
    """
    if first_without_value and not current_surface().is_python:
        return positional_parameter_without_value(first_without_value[0])
    if count:
        parameters = show_count(count, "positional parameter")
        hint = "pass a list with one value for each ?, in their order"
    else:
        parameters = "no positional parameters"
        hint = 'write ? for each value, or :name and args={"name": value}, or leave args out'
    return MatchRecognizePlanError(
        f"the query has {parameters} (?), but args {args}",
        *first_without_value,
        hint=hint,
        code="wrong-number-of-values",
    )


def positional_parameter_without_value(span: Span) -> MatchRecognizePlanError:
    """Return the error for `?` in a text for a function that takes no list of values."""
    surface = current_surface()
    return MatchRecognizePlanError(
        "positional parameter `?` has no value",
        span,
        hint=f"write the value itself, or {surface.advice_on_positional_parameter}",
        code="positional-parameter-without-value",
    )


def unbound_parameter(
    span: Span | None, *, name: str, parameters: Collection[str]
) -> MatchRecognizePlanError:
    """Return the error for `:name` in a query whose args have no such name."""
    surface = current_surface()
    near = find_nearest(name, parameters)
    hint = f"{surface.advice_on_parameter.format(name=name)}, or write the value itself"
    if near:
        hint = f"write :{near}, or {surface.advice_on_parameter.format(name=name)}"
    note = ""
    if parameters:
        note = f"{surface.source_of_values} has: {join_names(parameters)}"
    elif surface.is_python:
        note = f"{surface.source_of_values} has no values"
    return MatchRecognizePlanError(
        f"parameter `:{name}` has no value",
        span,
        notes=(note,),
        hint=hint,
        code="parameter-without-value",
    )


def parameter_value_lost(span: Span | None, *, parameter: str) -> MatchRecognizePlanError:
    """Return the error for a parameter that the session replaces by nothing."""
    surface = current_surface()
    return MatchRecognizePlanError(
        f"this session ignores the value of {parameter} in {surface.source_of_values}",
        span,
        notes=(
            "spark.sql without a clause ignores it too; the cause is an extension such as Delta's",
        ),
        hint=(
            "write the value itself, or set "
            "spark.sql.legacy.parameterSubstitution.constantsOnly=true"
        ),
        code="parameter-value-lost",
    )


def unknown_parameter(*, name: str, parameters: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a value in args whose name the query does not have."""
    surface = current_surface()
    near = find_nearest(name, parameters)
    hint = (
        surface.advice_on_parameter.format(name=near)
        if near
        else f"leave {name} out of {surface.source_of_values}"
    )
    return MatchRecognizePlanError(
        f"the query has no `:{name}`",
        notes=(f"its parameters are: {join_names(parameters)}" if parameters else "",),
        hint=hint,
        code="unknown-parameter",
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


# Errors about arguments of a wrong type.

# For libraries of frames: how to make a DataFrame of Spark.
_FRAMES = {
    "pandas": "write spark.createDataFrame(...) around it; a Series has to_frame(), and groups are "
    "made by PARTITION BY",
    "Polars": "write spark.createDataFrame(...) around its to_pandas(); a LazyFrame has collect()",
    "pyarrow": "write spark.createDataFrame(...) around its to_pandas()",
    "pandas-on-Spark": "write .to_spark() after it",
}

# For other types that users pass instead of a DataFrame: what to write.
_NO_FRAMES = {
    **dict.fromkeys(("list", "dict", "ndarray"), "write pandas.DataFrame(...) around it"),
    "GroupedData": "pass the DataFrame itself: groups are made by PARTITION BY",
    "Pattern": "pass the DataFrame first, and then the Pattern",
    "SparkSession": "pass a DataFrame, such as spark.table(...); a query over the tables of the "
    "session goes to matchrec.sql(spark, query)",
}


def wrong_argument(
    call: str, argument: str, value: object, expected: str, hint: str
) -> MatchRecognizePlanError:
    """Return the error for an argument of a wrong type.

    Args:
        call: the function.
        argument: the argument.
        value: what the user passed.
        expected: the types that the argument can have, in words, such as "a DataFrame".
        hint: what to write, unless the type of the value shows something better.
    """
    if expected.startswith("a DataFrame"):
        hint = _NO_FRAMES.get(type(value).__name__, hint)
        if isinstance(value, str) and "PATTERN" in value.upper():
            hint = "pass the DataFrame first, and then this text"
    if "DataFrame" in expected:
        hint = _FRAMES.get(find_frame_library(value) or "", hint)
    return MatchRecognizePlanError(
        f"`{argument}` of {call} is {describe_value(value)}",
        notes=(f"it must be {expected}",),
        hint=hint,
        code="wrong-argument",
    )


def missing_query_text() -> MatchRecognizePlanError:
    """Return the error for a call of `query` with a DataFrame and nothing else."""
    return MatchRecognizePlanError(
        "missing clause, SASE+ text or Pattern in `query`",
        hint='write it after the DataFrame: matchrec.query(df, "ORDER BY ...")',
        code="missing-query-text",
    )


def unknown_option_value(
    call: str, argument: str, value: str, words: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for an argument that is none of the words that it can be.

    Args:
        call: the function.
        argument: the argument.
        value: the word that the user passed.
        words: the words that the argument can be.
    """
    surface = current_surface()
    near = find_nearest_choice(value, words)
    hint = f"write one of these, such as {surface.write_option(argument, words[0])}"
    if near:
        hint = f"write {surface.write_option(argument, near)}"
    if argument == "write" and value in ("sase", "pattern"):
        hint = "SASE+ and Patterns can be read, but not written"
    written = SHORT.repr(value)[1:-1]
    return MatchRecognizePlanError(
        f"unknown value `{written}` for `{surface.name_option(argument)}` of {call}",
        notes=(f"it must be one of {join_names(words)}",),
        hint=hint,
        code="unknown-option-value",
    )
