"""Errors in the arguments of a call: unknown names, wrong types and wrong values.

`parameters` has the errors in values that a call passes for parameters of the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import isroutine

from matchrec.errors.kinds import MatchRecognizePlanError, about_argument
from matchrec.errors.misspellings import find_nearest, find_nearest_choice
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import SHORT, describe_value, find_frame_library, join_names
from matchrec.source import Span


def empty_order_by() -> MatchRecognizePlanError:
    """Return the error for an empty order_by."""
    surface = current_surface()
    return MatchRecognizePlanError(
        f"missing {surface.name_option('order_by')}, which sorts the events",
        hint=f"write {surface.write_option('order_by', 'ts')}, with the column of the order",
        code="empty-order-by",
    )


def several_expressions_in_one_text(span: Span, argument: str) -> MatchRecognizePlanError:
    """Return the error for several expressions, with commas between them, in one text.

    Args:
        span: the comma in the text.
        argument: order_by or partition_by.
    """
    surface = current_surface()
    name = surface.name_option(argument)
    example = f'{argument}=["a", "b"]' if surface.has_python_calls else f"{name} a {name} b"
    return MatchRecognizePlanError(
        f"one text in {name} must be one expression",
        span,
        hint=f"write each expression on its own: {example}",
        code="several-expressions-in-one-text",
    )


def direction_in_order_by(
    span: Span, *, word: str, key: str, argument: str
) -> MatchRecognizePlanError:
    """Return the error for ASC, DESC or NULLS in order_by or partition_by.

    Args:
        span: the word.
        word: the word, in upper case.
        key: the text before the word: the column or expression that sorts.
        argument: the argument that has the word.
    """
    surface = current_surface()
    note = "events come in ascending order, NULL first"
    hint = f"remove {word}"
    if word == "DESC":
        negative = f"-{key}" if key.isidentifier() else f"-({key})"
        hint = (
            f"remove DESC, or write {negative} if {key} is a number, or -unix_micros({key}) if it "
            "is a timestamp"
        )
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


# Methods that users expect from other libraries, and the methods that do the same here.
METHODS_INSTEAD = {
    "execute": ("show", "to_df"),
    "run": ("show", "to_df"),
    "toDF": ("to_df",),
    "then": ("followed_by", "next"),
}

# Values of options that have no meaning, and the value that is probably meant: for example, the
# engine sorts with sort="engine", and not with its name.
_MEANT_VALUES = {("sort", "spark"): "engine", ("sort", "sail"): "engine", ("sort", "none"): None}


def operation_not_supported(*, owner: str, operation: str, call: str) -> TypeError:
    """Return the error for an operation of DataFrames, lists or dicts on an object of matchrec.

    Args:
        owner: the object, with its article, such as "a Query".
        operation: the operation, such as `len(query)`.
        call: what to write instead.

    >>> error = operation_not_supported(
    ...     owner="a Query", operation="len(query)", call="query.count()"
    ... )
    >>> print(error)
    a Query does not support len(query); write query.count()
    """
    return TypeError(f"{owner} does not support {operation}; write {call}")


def no_attribute(
    owner: object, name: str, frame: str = "", frame_class: type | None = None
) -> AttributeError:
    """Return the error for an attribute that an object of matchrec does not have.

    The message suggests the most similar attribute, such as `followed_by` for `followedBy` of
    Flink. If no attribute is similar, the user may mean a column of the DataFrame.

    Args:
        owner: the object.
        name: the attribute.
        frame: the call or attribute of the object that returns a DataFrame, such as `to_df()`; ""
            if the object has none.
        frame_class: the class of this DataFrame, whose attributes the message suggests as well;
            None if `frame` is "".
    """
    near = None
    # Python and notebooks look for private names, such as `_repr_html_`: they get no suggestion
    if not name.startswith("_"):
        public_names = find_public_names(type(owner))
        near = find_public_attribute(name, type(owner))
        methods = METHODS_INSTEAD.get(name, ())
        if methods and set(methods) <= set(public_names):
            near = " or .".join(f"{method}()" for method in methods)
        elif frame_class and hasattr(frame_class, name):
            near = f"{frame}.{write_attribute(name, frame_class)}"
        elif frame_class and near is None:
            frame_attribute = find_public_attribute(name, frame_class)
            near = f"{frame}.{frame_attribute}" if frame_attribute else None
            near = near or f"{frame}[{name!r}] for a column"
    hint = f"; write .{near}" if near else ""
    return AttributeError(f"a {type(owner).__name__} has no `{name}`{hint}")


def no_class_attribute(owner: type, name: str) -> AttributeError:
    """Return the error for an attribute that a public class does not have.

    The message suggests the most similar attribute, such as `AfterMatch.NO_SKIP` for `noSkip()` of
    Flink.

    Args:
        owner: the class.
        name: the attribute.
    """
    near = None if name.startswith("_") else find_public_attribute(name, owner)
    if name == "start" and "begin" in find_public_names(owner):
        near = "begin(...)"
    hint = f"; write {owner.__name__}.{near}" if near else ""
    return AttributeError(f"{owner.__name__} has no `{name}`{hint}")


def find_public_attribute(name: str, class_: type) -> str | None:
    """Return the public attribute of a class most similar to a name, as a program writes it.

    None if none is similar.
    """
    near = find_nearest(name, find_public_names(class_))
    return None if near is None else write_attribute(near, class_)


def write_attribute(name: str, class_: type) -> str:
    """Return an attribute of a class as a program writes it, a method with parentheses.

    >>> write_attribute("upper", str), write_attribute("real", int)
    ('upper()', 'real')
    """
    return f"{name}()" if isroutine(getattr(class_, name)) else name


def find_public_names(class_: type) -> list[str]:
    """Return the attributes of a class whose names do not begin with an underscore."""
    return [name for name in dir(class_) if not name.startswith("_")]


def unknown_argument(
    name: str, arguments: Iterable[str], options: Iterable[str], braces: Mapping[str, Span]
) -> MatchRecognizePlanError:
    """Return the error for `name=` if the function has no such argument and the query no {name}.

    Args:
        name: the name before `=`.
        arguments: the arguments of the function.
        options: the fields of `Options`.
        braces: the location of each name in braces in the query for which the call passes nothing,
            by the name.
    """
    argument = find_nearest(name, arguments)
    option = find_nearest(name, options)
    misspelt = find_nearest(name, sorted(braces))
    if misspelt is None and argument is None and option is None and len(braces) == 1:
        (misspelt,) = braces
    headline = f"`{name}` is not an argument, and the query has no {{{name}}}"
    if misspelt:
        headline = f"the query has {{{misspelt}}}, but the call passes {name}"
        hint = f"write {{{name}}} instead of {{{misspelt}}} in the query, or pass {misspelt}="
    elif argument:
        hint = f"write {argument}="
    elif option:
        hint = f"write options=matchrec.Options({option}=...)"
    else:
        headline = f"the query has no {{{name}}} for the argument {name}="
        hint = f"write {{{name}}} in the query, pass the value of :{name} in args, "
        hint += f"or leave {name}= out"
    span = braces[misspelt] if misspelt else None
    return MatchRecognizePlanError(headline, span, hint=hint, code="unknown-argument")


def option_as_argument(*, name: str, call: str, argument: str) -> MatchRecognizePlanError:
    """Return the error for an option that is passed to a function as an argument.

    Args:
        name: the option.
        call: the function.
        argument: the argument of the function that takes the options.
    """
    return MatchRecognizePlanError(
        f"`{name}` is an option, not an argument of {call}",
        hint=f"write {argument}=matchrec.Options({name}=...)",
        code="option-as-argument",
    )


def option_not_for_call(*, name: str, call: str) -> MatchRecognizePlanError:
    """Return the error for an option that has no meaning for a call."""
    return MatchRecognizePlanError(
        f"option `{name}` is not allowed in {call}",
        hint=f"remove {name}",
        code="option-not-for-call",
    )


# Errors about arguments of a wrong type.

# For libraries of frames: how to make a DataFrame of Spark.
_FRAMES = {
    "pandas": "pass spark.createDataFrame(frame)",
    "Polars": "pass spark.createDataFrame(frame.to_pandas()); a LazyFrame has collect()",
    "pyarrow": "pass spark.createDataFrame(table.to_pandas())",
    "pandas-on-Spark": "pass frame.to_spark()",
}

# For other types that users pass instead of a DataFrame: what to write.
_NO_FRAMES = {
    "list": "pass pandas.DataFrame([...], columns=[...])",
    "dict": "pass pandas.DataFrame({...})",
    "ndarray": "pass pandas.DataFrame(array)",
    "Series": "pass series.to_frame()",
    "DataFrameGroupBy": "pass the frame itself: PARTITION BY makes the groups",
    "GroupedData": "pass the DataFrame itself: PARTITION BY makes the groups",
    "Pattern": "pass the DataFrame first, and then the Pattern",
    "SparkSession": "pass a DataFrame, such as spark.table(...); a query over the tables of the "
    "session goes to matchrec.sql(spark, query)",
}


def wrong_argument(  # noqa: PLR0913 -- the parts of one sentence
    call: str,
    argument: str,
    value: object,
    expected: str,
    hint: str,
    *,
    right_types: tuple[type, ...] = (),
) -> MatchRecognizePlanError:
    """Return the error for an argument that has a wrong type or a wrong value.

    Args:
        call: the function.
        argument: the argument.
        value: what the user passed.
        expected: the values that the argument can have, in words, such as "a DataFrame".
        hint: what to write, unless the type of the value shows something better.
        right_types: the types whose values are wrong only for another reason, so that the message
            does not name them.
    """
    if "DataFrame" in expected:
        hint = _FRAMES.get(find_frame_library(value) or "", hint)
    if expected.startswith("a DataFrame"):
        hint = _NO_FRAMES.get(type(value).__name__, hint)
        if isinstance(value, str) and "PATTERN" in value.upper():
            hint = "pass the DataFrame first, and then this text"
    shown = SHORT.repr(value) if type(value) in right_types else describe_value(value)
    return MatchRecognizePlanError(
        f"`{argument}` of {call} must be {expected}, but is {shown}",
        hint=hint,
        code="wrong-argument",
    )


def empty_grid(grid: object, *, parameters: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a sweep without values for any parameter.

    Args:
        grid: what the user passed, an empty dict.
        parameters: the names of the parameters in the clause, as often as they are in it.
    """
    names = list(dict.fromkeys(parameters))
    values = ", ".join(f'"{name}": [1, 2]' for name in names)
    hint = f"write grid={{{values}}}, with your values"
    if not names:
        hint = 'write :n instead of a value in the clause, and pass grid={"n": [1, 2]}'
    return wrong_argument(
        "`sweep`",
        "grid",
        grid,
        "a dict with values for at least one parameter",
        hint,
        right_types=(dict,),
    )


# The end of the names of the classes of warnings.
_WARNING = "Warning"


def _find_nearest_choice(value: str, choices: Sequence[str]) -> str | None:
    """Return the choice that a value probably means, or None.

    Names of warnings are compared without the word that all of them have.

    >>> _find_nearest_choice("NoOrders", ["NoOrderWarning", "TiesWarning"])
    'NoOrderWarning'
    >>> _find_nearest_choice("FooWarning", ["NextRowWarning", "TiesWarning"])
    """
    if not all(choice.endswith(_WARNING) for choice in choices):
        return find_nearest_choice(value, choices)
    stems = [choice.removesuffix(_WARNING) for choice in choices]
    stem = find_nearest(value.removesuffix(_WARNING), [stem for stem in stems if stem])
    return None if stem is None else f"{stem}{_WARNING}"


def unknown_option_value(
    call: str, argument: str, value: str, choices: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for an argument whose value is not one of its choices.

    Args:
        call: the function.
        argument: the argument.
        value: the value that the user passed.
        choices: the values that the argument can have.
    """
    surface = current_surface()
    if (argument, value.lower()) in _MEANT_VALUES:
        near = _MEANT_VALUES[argument, value.lower()]
    else:
        near = _find_nearest_choice(value, choices)
    hint = f"write {surface.write_option(argument, near)}" if near else None
    if argument == "write" and value in ("sase", "pattern"):
        hint = "SASE+ and Patterns can be read, but not written"
    written = SHORT.repr(value)[1:-1]
    # Users of other surfaces do not know the functions of Python, but the commands of a shell.
    is_known_call = surface.has_python_calls or call.startswith("`matchrec ")
    owner = f" of {call}" if is_known_call else ""
    return about_argument(
        MatchRecognizePlanError(
            f"unknown value `{written}` for `{surface.name_option(argument)}`{owner}",
            notes=(f"it must be one of {join_names(choices)}",),
            hint=hint,
            code="unknown-option-value",
        ),
        argument,
    )
