"""What the functions that users call take: each argument's kind, checked before anything else.

    @checked(df=DATAFRAME, clause=TEXT, dialect=DIALECT)
    def match_recognize(df, clause, *, dialect="spark"): ...

A kind says what is wanted in words, how to tell it, and what to write instead. Spark's own objects
are told by what they can do: Classic and Connect have classes of their own, and so have vendors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from math import isfinite
from typing import Any, Literal, ParamSpec, TypeGuard, TypeVar

from matchrec.errors.calls import field_as_argument, unknown_word, wrong_argument
from matchrec.errors.kinds import nearest

# The words that arguments may be, which an editor completes and a type checker knows.

Algorithm = Literal["auto", "backtracking", "breadth_first"]
Sort = Literal["auto", "spark", "worker", "ranges"]
Transport = Literal["auto", "arrow", "pandas"]
OnError = Literal["raise", "keep"]
WrittenDialect = Literal[
    "spark", "standard", "databricks", "snowflake", "oracle", "trino", "flink", "bigquery"
]
DialectName = Literal[WrittenDialect, "azure"]
ReadLanguage = DialectName | Literal["sase"]
Per = Literal["partition", "start", "end"]
SaseOutput = Literal["matches", "non_overlapping", "graph"]
PatternOutput = Literal["matches", "events"]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """What an argument may be. wanted: as a message says it. cure: what to write, if one can say.

    In the cure, `{argument}` is the argument's name. words: of a kind that is one of a few, these.
    fields: what such an object is made of, which callers take for arguments. take: what the
    function gets, by the argument's name and by what is given; None for what is given.
    """

    wanted: str
    accepts: Callable[[Any], bool]
    cure: str = ""
    words: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    take: Callable[[str, Any], Any] | None = None

    def check(self, call: str, argument: str, given: object) -> None:
        """Raises MatchRecognizePlanError, which names the call, unless `given` is of this kind."""
        if not self.accepts(given):
            if self.words and isinstance(given, str):
                raise unknown_word(call, argument, given, self.words)
            cure = self.cure.replace("{argument}", argument)
            raise wrong_argument(call, argument, given, self.wanted, cure)

    def taken(self, call: str, argument: str, given: object) -> object:
        """What the function gets for `given`. Raises MatchRecognizePlanError as `check` does."""
        self.check(call, argument, given)
        return given if self.take is None else self.take(argument, given)

    def or_none(self) -> ArgumentKind:
        return replace(
            self,
            wanted=f"{self.wanted}, or None",
            accepts=lambda given: given is None or self.accepts(given),
        )


def one_of(words: tuple[str, ...]) -> ArgumentKind:
    """One of a few words; their order is that of the message."""
    return ArgumentKind(
        f"one of {', '.join(words)}",
        lambda given: isinstance(given, str) and given in words,
        f"write {{argument}}={words[0]!r}",
        words,
    )


def checked(**kinds: ArgumentKind) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function whose every argument is checked when it is called, by the kind of its name.

    Of `**name`, each value is. What does not fit the signature is Python's own TypeError, unless
    what is there is wrong: of `sql(query)`, the query stands where the session should. The object
    of a method may say in `_about` what the call is about.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        called = function.__qualname__.removesuffix(".__init__")
        unchecked = signature.parameters.keys() - kinds.keys() - {"self"}
        assert not unchecked, f"{function.__qualname__}: {sorted(unchecked)}"

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            found = bind(signature, kinds, called, args, kwargs)
            return function(*found.args, **found.kwargs)

        vars(call)["kinds"] = kinds
        return call

    return decorated


def bound(
    function: Callable[..., Any], call: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a checked function by parameter, with defaults. Errors name the `call`."""
    found = bind(inspect.signature(function), vars(function)["kinds"], call, args, kwargs)
    found.apply_defaults()
    return found.arguments


def bind(
    signature: inspect.Signature,
    kinds: Mapping[str, ArgumentKind],
    called: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> inspect.BoundArguments:
    call, parameters = f"`{called}`", signature.parameters
    unknown = kwargs.keys() - parameters.keys()
    if unknown and not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        for argument in kinds.keys() & parameters.keys():
            for name in unknown.intersection(kinds[argument].fields):
                raise field_as_argument(call=call, name=name, argument=argument)
    try:
        found = signature.bind(*args, **kwargs)
    except TypeError as error:
        cure = cure_of_names(signature, kwargs, error)
        if args and not cure and not unknown:
            take_all(signature.bind_partial(*args, **kwargs), kinds, call)
        raise TypeError(f"{called}() {error}{cure}") from None
    if about := getattr(found.arguments.get("self"), "_about", ""):
        call = f"{call} at {about}"
    take_all(found, kinds, call)
    return found


def cure_of_names(
    signature: inspect.Signature, kwargs: Mapping[str, object], error: TypeError
) -> str:
    """What to write for an argument that a function lacks: the nearest of its own, or one of all;
    and for one without a name, where it must have one.

    >>> cure_of_names(inspect.signature(lambda df, order_by: 0), {"orderBy": "ts"}, TypeError())
    '; write order_by='
    """
    known = [one for name, one in signature.parameters.items() if name != "self"]
    names = [one.name for one in known]
    unknown = next((name for name in kwargs if name not in names), None)
    if unknown is not None and (near := nearest(unknown, names)):
        return f"; write {near}="
    if unknown is None:
        names = [one.name for one in known if one.kind is one.KEYWORD_ONLY]
        if not names or not str(error).startswith("too many"):
            return ""
    return f"; it takes {', '.join(f'{name}=' for name in names)}"


def take_all(found: inspect.BoundArguments, kinds: Mapping[str, ArgumentKind], call: str) -> None:
    """Checks the arguments of a call; what the function gets stands in their place afterwards."""
    for name, given in found.arguments.items():
        if name == "self":
            continue
        if found.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            taken: Any = {key: kinds[name].taken(call, key, one) for key, one in given.items()}
        else:
            taken = kinds[name].taken(call, name, given)
        found.arguments[name] = taken


def is_whole(given: object) -> TypeGuard[int]:
    """A whole number; True and False are none."""
    return isinstance(given, int) and not isinstance(given, bool)


def is_number(given: object) -> bool:
    """A finite number; True and False are none."""
    return is_whole(given) or (isinstance(given, float) and isfinite(given))


def can(*methods: str) -> Callable[[object], bool]:
    """Whether something has all of these methods, and is no class."""
    return lambda given: (
        not isinstance(given, type)
        and all(callable(getattr(given, method, None)) for method in methods)
    )


def instance_of(*kinds: type) -> Callable[[object], bool]:
    return lambda given: isinstance(given, kinds)


def by_name(kind: Callable[[object], bool]) -> Callable[[Any], bool]:
    """Whether something is a dict by texts, of values that are of a kind."""
    return lambda given: (
        isinstance(given, dict)
        and all(map(instance_of(str), given))
        and all(map(kind, given.values()))
    )


def one_or_several(kind: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda given: all(map(kind, given if isinstance(given, list | tuple) else (given,)))


is_session = can("sql", "createDataFrame", "stop")
is_dataframe = can("select", "selectExpr", "mapInArrow")
is_column = can("isNotNull", "alias", "cast")

FRAMES = {"pandas": ("DataFrame",), "polars": ("DataFrame", "LazyFrame"), "pyarrow": ("Table",)}


def library_of(given: object) -> str:
    """Which one something is of, which is not loaded for that."""
    return type(given).__module__.split(".")[0]


def is_frame(given: object) -> bool:
    """A frame of pandas or Polars, or a table of Arrow."""
    return type(given).__name__ in FRAMES.get(library_of(given), ())


SESSION = ArgumentKind("a SparkSession", is_session, "pass the session: matchrec.session()")
DATAFRAME = ArgumentKind(
    "a DataFrame of Spark", is_dataframe, "pass one, such as spark.table(...) or spark.read..."
)
TEXT = ArgumentKind("a text", instance_of(str))
TEXTS = ArgumentKind(
    "SQL text, or a list of texts",
    one_or_several(instance_of(str)),
    'write {argument}="name", or {argument}=["name", "another"]',
)
TERMS = ArgumentKind(
    "SQL text or a Column, or a list of these",
    one_or_several(lambda one: isinstance(one, str) or is_column(one)),
    'write {argument}="name", or {argument}=["name", "another"]',
)
COUNT = ArgumentKind(
    "a whole number from 1",
    lambda given: is_whole(given) and 1 <= given < 2**31,
    "write {argument}=4, or leave it out",
)
FLAG = ArgumentKind("True or False", instance_of(bool), "write {argument}=True, or leave it out")
