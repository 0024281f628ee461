"""Check the arguments of the functions that users call, before anything else is done.

    @check_arguments(df=DATAFRAME, clause=TEXT, dialect=DIALECT)
    def match_recognize(df, clause, *, dialect="spark"): ...

An `ArgumentKind` has a test of the values that an argument may have. For messages, it has a
description of these values, and advice on what to write instead of other values. Spark's objects
are recognized by their methods, because Classic, Connect and vendors have different classes.

The types of arguments (`Algorithm`, `SqlValue` and others) are for the signatures of these
functions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import wraps
from math import isfinite
from typing import Any, Literal, ParamSpec, Protocol, TypeAlias, TypeGuard, TypeVar

from matchrec.errors.arguments import option_as_argument, unknown_option_value, wrong_argument
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.quoting import quote_for_python
from matchrec.errors.wording import join_with_and, shorten

# The words that some arguments accept. Editors complete them, and type checkers know them.

Algorithm = Literal["auto", "backtracking", "breadth_first"]
Sort = Literal["auto", "engine", "worker", "ranges"]
Transport = Literal["auto", "arrow", "pandas"]
OnError = Literal["raise", "continue"]
TargetDialect = Literal[
    "spark", "standard", "databricks", "snowflake", "oracle", "trino", "flink", "bigquery"
]
DialectName = Literal[TargetDialect, "azure"]
SourceLanguage = DialectName | Literal["sase"]
AggregatePer = Literal["partition", "start", "end"]
SaseOutput = Literal["matches", "non_overlapping", "graph"]
PatternOutput = Literal["matches", "events"]
WindowKind = Literal["first_to_last", "previous_to_current"]

# The end of the hint of an argument that has a default. `ArgumentKind.require` removes this end.
LEAVE_OUT = ", or leave it out"

# The values that an argument may have. The protocols describe objects of PySpark, NumPy and pandas,
# so that type checkers know them although this module imports none of these libraries.


class ColumnLike(Protocol):
    """A Column of PySpark: of Classic, of Connect, or of a vendor."""

    def isNotNull(self) -> ColumnLike:  # noqa: N802 -- as PySpark calls it
        """Return a Column that is true for values that are not NULL."""


class NumpyValue(Protocol):
    """A value of NumPy, such as `numpy.int64(3)`."""

    def item(self) -> Any:
        """Return the value as an int, a float or another value of Python."""


class ArrayLike(Protocol):
    """An array of NumPy, or a Series of pandas."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the values."""

    def __len__(self) -> int:
        """Return the number of values."""

    def tolist(self) -> Any:
        """Return the values as a list."""


# A condition of a Pattern: SQL or a Column.
Condition: TypeAlias = str | ColumnLike

# A length of time, or a number in the unit of the ORDER BY column.
DurationLike: TypeAlias = str | int | float | timedelta

# A value that Spark has a literal for. An Enum stands for its value.
SqlValue: TypeAlias = (
    str
    | bool
    | int
    | float
    | Decimal
    | bytes
    | bytearray
    | date
    | time
    | timedelta
    | Enum
    | list[Any]
    | NumpyValue
    | ColumnLike
    | None
)

# A value of a PARTITION BY column, and one of an ORDER BY column.
KeyValue: TypeAlias = (
    str | bool | int | float | Decimal | bytes | bytearray | date | timedelta | NumpyValue | None
)
OrderValue: TypeAlias = str | bool | int | float | Decimal | date | timedelta | NumpyValue | None

# The values of `:name` parameters, or a list with a value for each `?`.
NamedArguments: TypeAlias = Mapping[str, SqlValue]
Arguments: TypeAlias = NamedArguments | list[Any]

# The candidates for each `:name` of `sweep`.
Grid: TypeAlias = Mapping[str, Sequence[SqlValue] | ArrayLike]

# The kinds of parameters that may be passed by position, and the kinds of `*name` and `**name`.
POSITIONAL_KINDS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
VARIADIC_KINDS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """A kind of argument: the values that it accepts, and the error for any other value."""

    # The description of its values, for messages: "a whole number from 1 to 10".
    description: str
    # Returns whether a value is of this kind.
    accepts: Callable[[Any], bool]
    # Advice for a user who passes another value. Messages replace `{argument}` by the name of the
    # argument, and `{value}` by the result of `show_argument_value`. Empty if there is nothing to
    # suggest.
    hint: str = ""
    # Returns the advice for a value that is not of this kind, or None for `hint`.
    find_hint: Callable[[Any], str | None] = lambda _: None
    # The words, if the argument is one of a few words; otherwise empty.
    words: tuple[str, ...] = ()
    # The names of the fields of the accepted objects, if users may pass a field as an argument by
    # mistake; otherwise empty.
    fields: tuple[str, ...] = ()
    # Converts the value that the user passed to the value that the function gets. The parameters
    # are the name of the argument and the value. None if the function gets the value unchanged.
    converter: Callable[[str, Any], Any] | None = None
    # The kind of each value, if the argument is a dict whose values have a kind; otherwise None.
    value_kind: ArgumentKind | None = None
    # The types of accepted values. If a value of such a type is not accepted, the type is right and
    # the value is wrong, so the message does not name the type.
    right_types: tuple[type, ...] = ()

    def check(self, quoted_call: str, argument: str, value: object) -> None:
        """Check that a value is of this kind.

        Args:
            quoted_call: the function as messages name it: "`sql`".
            argument: the name of the argument.
            value: the value that the user passed.

        Raises:
            MatchRecognizePlanError: the value is of another kind.
        """
        if self.accepts(value):
            return
        if self.words and isinstance(value, str):
            raise unknown_option_value(quoted_call, argument, value, self.words)
        if self.value_kind is not None and isinstance(value, Mapping):
            for name, inner_value in value.items():
                self.value_kind.check(quoted_call, f"{argument}[{name!r}]", inner_value)
        hint = self.find_hint(value) or self.hint
        hint = hint.replace("{argument}", argument).replace("{value}", show_argument_value(value))
        raise wrong_argument(
            quoted_call, argument, value, self.description, hint, right_types=self.right_types
        )

    def convert(self, quoted_call: str, argument: str, value: object) -> object:
        """Check a value, and return the value that the function gets for it.

        For the arguments and the error, see `check`.
        """
        self.check(quoted_call, argument, value)
        return value if self.converter is None else self.converter(argument, value)

    def allow_none(self) -> ArgumentKind:
        """Return this kind, with None accepted as well."""
        return replace(
            self,
            description=f"{self.description}, or None",
            accepts=lambda value: value is None or self.accepts(value),
        )

    def require(self) -> ArgumentKind:
        """Return this kind for an argument without a default: its hint cannot say to omit it."""
        return replace(self, hint=self.hint.removesuffix(LEAVE_OUT))


def show_argument_value(value: object) -> str:
    """Return a value as a hint shows it: a short number or text, or else an example, `3, 5, 8`."""
    # Python raises an error if it has to write an integer of thousands of digits.
    is_short_integer = isinstance(value, int) and abs(value) < 1 << 63
    if is_short_integer or isinstance(value, float | str):
        return shorten(repr(value))
    return "3, 5, 8"


def make_word_kind(words: tuple[str, ...], unlisted: tuple[str, ...] = ()) -> ArgumentKind:
    """Return the kind of an argument that is one of a few words.

    Messages list the words in this order.

    Args:
        words: the words.
        unlisted: words that messages do not list. They get an error of their own later.
    """
    return ArgumentKind(
        f"one of {', '.join(words)}",
        accepts=lambda value: isinstance(value, str) and value in (*words, *unlisted),
        hint=f"write {{argument}}={words[0]!r}",
        words=words,
    )


def check_arguments(**kinds: ArgumentKind) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that each call checks all of its arguments.

    A call that does not fit the signature raises Python's own TypeError. If an argument is missing
    because another argument is in its place, the error is about the other argument: in
    `match_recognize(clause)`, the clause is where the DataFrame should be.

    If the object of a method has a method `_find_error_context`, messages add its result after the
    name of the method: "`Pattern.where` at stage `down`". It gets the name of the method.

    Args:
        kinds: the kind of each parameter, by its name. For `**name`, the kind of each value.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        """Return the function with a check of its arguments before each call."""
        signature = inspect.signature(function)
        function_kinds = {
            name: kind.require() if is_required(signature, name) else kind
            for name, kind in kinds.items()
        }
        checked_signature = CheckedSignature(
            function_name=function.__qualname__.removesuffix(".__init__"),
            signature=signature,
            kinds=function_kinds,
        )
        unchecked = signature.parameters.keys() - kinds.keys() - {"self"}
        assert not unchecked, f"{function.__qualname__}: {sorted(unchecked)}"

        @wraps(function)
        def checked_function(*args: P.args, **kwargs: P.kwargs) -> R:
            """Check the arguments, then call the function."""
            arguments = checked_signature.bind(args, kwargs)
            return function(*arguments.args, **arguments.kwargs)

        # For `bind_call`.
        vars(checked_function)["checked_signature"] = checked_signature
        return checked_function

    return decorate


def is_required(signature: inspect.Signature, name: str) -> bool:
    """Return whether a function has a parameter of this name without a default."""
    parameter = signature.parameters.get(name)
    if parameter is None or parameter.kind in VARIADIC_KINDS:
        return False
    return parameter.default is parameter.empty


def bind_call(
    function: Callable[..., Any], function_name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a checked function by parameter, defaults included.

    A default is not converted: the function gets it as it is in the signature.

    Args:
        function: a function that `check_arguments` has decorated.
        function_name: the name of the function in messages.
        args: positional arguments.
        kwargs: keyword arguments.

    Raises:
        MatchRecognizePlanError: an argument is wrong.
        TypeError: the arguments do not fit the signature.
    """
    checked_signature: CheckedSignature = vars(function)["checked_signature"]
    arguments = replace(checked_signature, function_name=function_name).bind(args, kwargs)
    arguments.apply_defaults()
    return arguments.arguments


@dataclass(frozen=True)
class CheckedSignature:
    """The signature of a function that `check_arguments` has decorated."""

    # The name of the function in messages.
    function_name: str
    signature: inspect.Signature
    # The kind of each parameter, by its name. For `**name`, the kind of each value.
    kinds: Mapping[str, ArgumentKind]

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """Return the arguments of a call as the function gets them.

        Args:
            args: positional arguments.
            kwargs: keyword arguments.

        Raises:
            MatchRecognizePlanError: an argument is wrong.
            TypeError: the arguments do not fit the signature.
        """
        self.check_fields(kwargs)
        try:
            arguments = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            problem = self.explain_misfit(str(error), args, kwargs)
            raise TypeError(f"{self.function_name}() {problem}") from None
        quoted_call = f"`{self.function_name}`"
        find_context = getattr(arguments.arguments.get("self"), "_find_error_context", None)
        error_context = "" if find_context is None else find_context(self.function_name)
        if error_context:
            quoted_call = f"{quoted_call} at {error_context}"
        convert_arguments(arguments, self.kinds, quoted_call)
        return arguments

    def explain_misfit(
        self, problem: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> str:
        """Return the message about a call that does not fit the signature, after the function.

        Args:
            problem: the message of Python about the call.
            args: positional arguments.
            kwargs: keyword arguments.

        Raises:
            MatchRecognizePlanError: an argument is missing because another argument, which the
                error is about, is in its place.
        """
        if len(args) > len(list_positional_names(self.signature)):
            return explain_positional_arguments(self.signature, self.kinds, args)
        if problem.startswith("multiple values"):
            return f"got {problem}"
        unknown_names = find_unknown_names(self.signature, kwargs)
        if not unknown_names:
            if args:
                bound_arguments = self.signature.bind_partial(*args, **kwargs)
                convert_arguments(bound_arguments, self.kinds, f"`{self.function_name}`")
            return problem + self.suggest_missing_argument(args, kwargs)
        if problem.startswith("missing"):
            # The misspelt argument is probably the missing one, so the message is about it.
            problem = f"got an unexpected keyword argument {unknown_names[0]!r}"
        return problem + suggest_known_name(self.signature, unknown_names[0])

    def check_fields(self, kwargs: Mapping[str, object]) -> None:
        """Check that no field of an argument is passed as an argument: `sql(..., algorithm=...)`.

        Raises:
            MatchRecognizePlanError: a field is passed as an argument. The error names the argument
                that has this field.
        """
        unknown_names = find_unknown_names(self.signature, kwargs)
        for argument in self.kinds.keys() & self.signature.parameters.keys():
            for name in unknown_names:
                if name in self.kinds[argument].fields:
                    quoted_call = f"`{self.function_name}`"
                    raise option_as_argument(call=quoted_call, name=name, argument=argument)

    def suggest_missing_argument(self, args: Sequence[object], kwargs: Mapping[str, object]) -> str:
        """Return the end of a message about a missing argument, which says what to write.

        The end is empty if there is nothing to suggest.

        >>> kind = ArgumentKind("a column", bool, 'write {argument}="ts"')
        >>> signature = inspect.signature(lambda *, order_by: 0)
        >>> CheckedSignature("f", signature, {"order_by": kind}).suggest_missing_argument((), {})
        '; write order_by="ts"'

        Args:
            args: the positional arguments of a call that lacks a required argument.
            kwargs: the keyword arguments of this call.
        """
        parameters = self.signature.parameters.values()
        passed_names = {*list_positional_names(self.signature)[: len(args)], *kwargs}
        for parameter in parameters:
            name = parameter.name
            if is_required(self.signature, name) and name not in passed_names:
                hint = self.kinds[name].hint.replace("{argument}", name)
                return f"; {hint}" if hint else ""
        return ""


def find_unknown_names(signature: inspect.Signature, kwargs: Mapping[str, object]) -> list[str]:
    """Return the names of the keyword arguments that a function does not have.

    A function with `**name` accepts any name, so the list is empty.
    """
    parameters = signature.parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return []
    return [name for name in kwargs if name not in signature.parameters]


def list_positional_names(signature: inspect.Signature) -> list[str]:
    """Return the names of the parameters that may be passed by position, `self` included."""
    parameters = signature.parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind in POSITIONAL_KINDS]


def explain_positional_arguments(
    signature: inspect.Signature, kinds: Mapping[str, ArgumentKind], args: Sequence[object]
) -> str:
    """Return the message about a call with too many positional arguments, after the function.

    The message suggests the keyword to which the first argument that is too many belongs. If
    several could have this value, it lists all keywords.

    >>> kinds = {"df": TEXT, "sort": make_word_kind(("auto", "engine"))}
    >>> explain_positional_arguments(
    ...     inspect.signature(lambda df, *, sort: 0), kinds, ("t", "engine"))
    'takes df by position, and nothing else; write sort="engine"'

    Args:
        signature: the signature of the function.
        kinds: the kinds of its parameters.
        args: the positional arguments of the call.
    """
    positional_names = list_positional_names(signature)
    value = args[len(positional_names)]
    shown_names = [name for name in positional_names if name != "self"]
    problem = "takes no arguments by position"
    if shown_names:
        problem = f"takes {join_with_and(shown_names)} by position, and nothing else"
    # A class of matchrec may name the method that takes its objects, such as `after_match`.
    method = getattr(type(value), "_method_that_takes_it", None)
    if method is not None:
        return f"{problem}; write .{method}({value!r})"
    keywords = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    candidates = [name for name in keywords if value is not None and kinds[name].accepts(value)]
    required = [name for name in candidates if is_required(signature, name)]
    if len(candidates) == 1 or required:
        text = quote_for_python(value if isinstance(value, str | int) else ...)
        return f"{problem}; write {(required or candidates)[0]}={text}"
    return f"{problem}{list_names(keywords)}"


def suggest_known_name(signature: inspect.Signature, unknown_name: str) -> str:
    """Return the end of a message about an argument that a function does not have.

    It suggests the most similar name. If none is similar, it lists all names.

    >>> suggest_known_name(inspect.signature(lambda df, order_by: 0), "orderBy")
    '; write order_by='

    Args:
        signature: the signature of the function.
        unknown_name: the name that the call has for the argument.
    """
    names = [name for name in signature.parameters if name != "self"]
    similar_name = find_nearest(unknown_name, names)
    return f"; write {similar_name}=" if similar_name else list_names(names)


def list_names(names: Sequence[str]) -> str:
    """Return the end of a message that lists names of arguments; "" if there are none."""
    return f"; it takes {', '.join(f'{name}=' for name in names)}" if names else ""


def convert_arguments(
    arguments: inspect.BoundArguments, kinds: Mapping[str, ArgumentKind], quoted_call: str
) -> None:
    """Check the arguments of a call, and replace each in place by the value that the function gets.

    Each value of `**name` is an argument, with its own name.

    Raises:
        MatchRecognizePlanError: an argument is wrong.
    """
    for name, value in arguments.arguments.items():
        if name == "self":
            continue
        argument_kind = kinds[name]
        if arguments.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            arguments.arguments[name] = {
                inner_name: argument_kind.convert(quoted_call, inner_name, inner_value)
                for inner_name, inner_value in value.items()
            }
        else:
            arguments.arguments[name] = argument_kind.convert(quoted_call, name, value)


# Tests of values.


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer. True and False are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Return whether a value is a finite number. True and False are not."""
    return is_whole(value) or (isinstance(value, float) and isfinite(value))


def make_method_test(*names: str) -> Callable[[object], bool]:
    """Return a test of whether a value is an object, not a class, with all of these methods."""

    def has_all(value: object) -> bool:
        """Return whether a value is an object that has all of the methods."""
        if isinstance(value, type):
            return False
        return all(callable(getattr(value, name, None)) for name in names)

    return has_all


def make_class_test(*classes: type) -> Callable[[object], bool]:
    """Return a test of whether a value is an instance of one of these classes."""
    return lambda value: isinstance(value, classes)


def make_dict_test(accepts: Callable[[object], bool]) -> Callable[[Any], bool]:
    """Return a test of whether a value is a dict from texts to values that pass a test."""

    def is_accepted_dict(value: object) -> bool:
        """Return whether a value is a dict whose keys are texts and whose values are accepted."""
        if not isinstance(value, Mapping):
            return False
        return all(isinstance(key, str) and accepts(inner) for key, inner in value.items())

    return is_accepted_dict


def make_list_test(accepts: Callable[[object], bool]) -> Callable[[object], bool]:
    """Return a test of whether a value, or each element of a list or tuple, passes a test."""

    def has_accepted_elements(value: object) -> bool:
        """Return whether a value, or each element of a list or tuple, is accepted."""
        elements = value if isinstance(value, list | tuple) else (value,)
        return all(accepts(element) for element in elements)

    return has_accepted_elements


is_session = make_method_test("sql", "createDataFrame", "stop")
is_dataframe = make_method_test("select", "selectExpr", "mapInArrow")
is_column = make_method_test("isNotNull", "alias", "cast")

# The classes of tables of other libraries, by the library.
FOREIGN_TABLES = {
    "pandas": ("DataFrame",),
    "polars": ("DataFrame", "LazyFrame"),
    "pyarrow": ("Table",),
}


def find_library(value: object) -> str:
    """Return the name of the library that a value's class is from, without importing it."""
    return type(value).__module__.split(".")[0]


def find_table_library(value: object) -> str | None:
    """Return the library of a frame of pandas or Polars, or of a table of Arrow.

    The value's class may be derived from the library's class. None for any other value. No library
    is imported.
    """
    for base in type(value).__mro__:
        library = base.__module__.split(".")[0]
        if base.__name__ in FOREIGN_TABLES.get(library, ()):
            return library
    return None


def is_foreign_table(value: object) -> bool:
    """Return whether a value is a frame of pandas or Polars, or a table of Arrow."""
    return find_table_library(value) is not None


# Kinds that several functions share.

SESSION = ArgumentKind("a SparkSession", is_session, "pass the session: matchrec.session()")
DATAFRAME = ArgumentKind(
    "a DataFrame of Spark",
    is_dataframe,
    "pass a DataFrame, such as spark.table(...) or spark.read...",
)
TEXT = ArgumentKind("a string", make_class_test(str))
# The dots are not the name of a column, so that nobody takes the example as it is.
COLUMNS_HINT = 'write {argument}="...", or {argument}=["...", "..."], with names of columns'
TEXTS = ArgumentKind(
    "a string, or a list of strings", make_list_test(make_class_test(str)), COLUMNS_HINT
)
TERMS = ArgumentKind(
    "a string of SQL or a Column, or a list of these",
    make_list_test(lambda value: isinstance(value, str) or is_column(value)),
    COLUMNS_HINT,
)
# The greatest INT of Spark.
MAX_COUNT = 2**31 - 1
COUNT = ArgumentKind(
    f"a whole number from 1 to {MAX_COUNT}",
    lambda value: is_whole(value) and 1 <= value <= MAX_COUNT,
    f"write {{argument}}=1{LEAVE_OUT}",
    right_types=(int,),
)
FLAG = ArgumentKind("True or False", make_class_test(bool), f"write {{argument}}=True{LEAVE_OUT}")
