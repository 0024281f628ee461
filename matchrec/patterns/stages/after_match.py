"""`AfterMatch`: where the search of a `Pattern` resumes after a match.

Source: Flink CEP, "The Pattern API", "After Match Skip Strategy".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from matchrec import arguments
from matchrec.arguments import ArgumentKind, check_arguments, make_class_test
from matchrec.errors import stages as errors
from matchrec.errors.arguments import no_class_attribute
from matchrec.plan.clauses import SkipTo
from matchrec.public_names import public

# The kinds of the arguments of `AfterMatch`.

SKIP_TARGET = ArgumentKind(
    "a place to skip to, or None",
    lambda value: value is None or isinstance(value, SkipTo),
    'write AfterMatch.SKIP_TO_NEXT, or AfterMatch.skip_to_first("stage")',
)
NO_STAGE = ArgumentKind(
    "None", make_class_test(type(None)), 'write AfterMatch.skip_to_first("stage")'
)


class PublicClass(type):
    """The class of the public classes whose objects users build by calls.

    An unknown attribute of such a class suggests a similar one. It is a metaclass because Python
    looks up `Pattern.start` in the class of `Pattern`: a `__getattr__` of `Pattern` itself would
    only see attributes of its instances.

    A public method that is called on the class, as in `Pattern.next("a")`, says how to begin. The
    method `begin` is allowed only on the class.
    """

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> PublicClass:
        """Return a class whose public methods reject a call on the class."""
        checked_namespace = {}
        for key, value in namespace.items():
            if isinstance(value, FunctionType) and not key.startswith("_"):
                checked_namespace[key] = reject_call_on_class(value, name)
            elif isinstance(value, staticmethod) and key == "begin":
                checked_namespace[key] = BeginMethod(value.__func__)
            else:
                checked_namespace[key] = value
        return super().__new__(cls, name, bases, checked_namespace)

    # A type checker knows the attributes itself, and must not see that every name is allowed.
    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> NoReturn:
            """Raise an error that suggests an attribute."""
            raise no_class_attribute(cls, name)


def reject_call_on_class(method: Callable[..., Any], class_name: str) -> Callable[..., Any]:
    """Return a method that raises an error if its first argument is not an object of its class.

    Args:
        method: a public method of the class, as it is written there.
        class_name: the name of its class, whose class is `PublicClass`.
    """

    @wraps(method)
    def checked_method(*args: Any, **kwargs: Any) -> Any:
        """Check that the method is called on an object, then call it."""
        if not args or type(args[0]).__name__ != class_name:
            raise errors.called_on_class(class_name=class_name, method=method.__name__)
        return method(*args, **kwargs)

    return checked_method


class BeginMethod(staticmethod):  # type: ignore[type-arg]  # its type parameters do not matter
    """A static method that raises an error if it is called on an object, not on the class."""

    def __get__(self, instance: object, owner: type | None = None, /) -> Callable[..., Any]:
        """Return the method of the class, or one that raises the error."""
        return super().__get__(instance, owner) if instance is None else reject_begin


def reject_begin(*_: object, **__: object) -> NoReturn:
    """Raise the error for `begin` on a pattern."""
    raise errors.begin_on_pattern()


# No public class has slots: `help` would show the methods that dataclasses add for pickling them.
@public
@dataclass(frozen=True)
class AfterMatch(metaclass=PublicClass):
    """A skip strategy: where the search resumes after a match, and so which matches are dropped.

    Except with NO_SKIP, the result has the matches in the order of their first events.

    - `NO_SKIP` returns all matches.
    - `SKIP_TO_NEXT` returns one match for each first event.
    - `SKIP_PAST_LAST_EVENT` drops matches that start before the last match has ended.
    - `skip_to_first(stage)` and `skip_to_last(stage)` drop matches that start before the first, or
      last, event of that stage in the last match.

    >>> AfterMatch.skip_to_last("b").throw_on_miss()
    AfterMatch.skip_to_last('b').throw_on_miss()
    """

    # Private to users. The modules that lower and write a Pattern read these fields.
    # The row to skip to; None for NO_SKIP.
    _to: SkipTo | None = None
    # The name of the stage, for skip_to_first and skip_to_last.
    _stage: str | None = None
    # Whether `throw_on_miss` was called.
    _throws: bool = False
    # For the message about a strategy that is passed to another method, as `begin` of Flink takes
    # it: see `arguments.explain_positional_arguments`.
    _method_that_takes_it: ClassVar[str] = "after_match"

    NO_SKIP: ClassVar[AfterMatch]
    SKIP_TO_NEXT: ClassVar[AfterMatch]
    SKIP_PAST_LAST_EVENT: ClassVar[AfterMatch]

    def __post_init__(self) -> None:
        """Check the types of the fields, and that `throw_on_miss` has a stage."""
        SKIP_TARGET.check("`AfterMatch`", "to", self._to)
        needs_stage = self._to in (SkipTo.FIRST, SkipTo.LAST)
        stage_kind = arguments.TEXT if needs_stage else NO_STAGE
        stage_kind.check("`AfterMatch`", "stage", self._stage)
        arguments.FLAG.check("`AfterMatch`", "throws", self._throws)
        if self._throws and self._stage is None:
            raise errors.throw_without_stage(strategy=repr(self))

    @staticmethod
    @check_arguments(stage=arguments.TEXT)
    def skip_to_first(stage: str) -> AfterMatch:
        """Drop matches that start before the first event of `stage` in the last match.

        A last match without such an event drops no other match, as with NO_SKIP.

        >>> AfterMatch.skip_to_first("b")
        AfterMatch.skip_to_first('b')
        """
        return AfterMatch(SkipTo.FIRST, stage)

    @staticmethod
    @check_arguments(stage=arguments.TEXT)
    def skip_to_last(stage: str) -> AfterMatch:
        """Drop matches that start before the last event of `stage` in the last match.

        A last match without such an event drops no other match, as with NO_SKIP.

        >>> AfterMatch.skip_to_last("b")
        AfterMatch.skip_to_last('b')
        """
        return AfterMatch(SkipTo.LAST, stage)

    def throw_on_miss(self) -> AfterMatch:
        """Raise an error if a match has no event to skip to, or if that is its first event.

        >>> AfterMatch.skip_to_first("b").throw_on_miss()
        AfterMatch.skip_to_first('b').throw_on_miss()
        """
        return replace(self, _throws=True)

    def __repr__(self) -> str:
        if self._stage is None:
            return f"AfterMatch.{CONSTANT_NAMES[self._to]}"
        function = "skip_to_first" if self._to is SkipTo.FIRST else "skip_to_last"
        suffix = ".throw_on_miss()" if self._throws else ""
        return f"AfterMatch.{function}({self._stage!r}){suffix}"


# The names of the strategies without a stage.
CONSTANT_NAMES = {
    None: "NO_SKIP",
    SkipTo.NEXT_ROW: "SKIP_TO_NEXT",
    SkipTo.PAST_LAST_ROW: "SKIP_PAST_LAST_EVENT",
}
AfterMatch.NO_SKIP = AfterMatch()
AfterMatch.SKIP_TO_NEXT = AfterMatch(SkipTo.NEXT_ROW)
AfterMatch.SKIP_PAST_LAST_EVENT = AfterMatch(SkipTo.PAST_LAST_ROW)
