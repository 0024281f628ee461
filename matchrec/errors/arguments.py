"""Errors of arguments that are not of the kind that a function takes."""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import Repr

from matchrec.dataclass import dataclass
from matchrec.errors.kinds import MatchRecognizePlanError, likeliest, listed


@dataclass(frozen=True, slots=True)
class Call:
    """A function or method, and what of its object the call is about: "stage `a`"."""

    function: str
    about: str = ""

    def __str__(self) -> str:
        return f"`{self.function}`" + (f" at {self.about}" if self.about else "")


def wrong_argument(
    call: Call | str, argument: str, value: object, expected: tuple[str, str]
) -> MatchRecognizePlanError:
    """An argument of another kind. expected: of which kind, and what to write."""
    kind, cure = expected
    return MatchRecognizePlanError(
        f"`{argument}` of {written(call)} is {shown(value)}",
        notes=(f"wanted: {kind}",),
        hint=cure or None,
    )


def unknown_word(
    call: Call | str, argument: str, value: str, known: Iterable[str]
) -> MatchRecognizePlanError:
    """An argument that is one of a few words, and not this one."""
    known = list(known)
    where = f" of {call}" if isinstance(call, Call) and call.about else ""
    near = likeliest(value, known)
    return MatchRecognizePlanError(
        f"unknown {argument} `{_SHORT.repr(value)[1:-1]}`{where}",
        notes=(f"known: {listed(known)}",),
        hint=f"write {argument}={near or known[0]!r}",
    )


def written(call: Call | str) -> str:
    """The call as a message names it."""
    return str(call if isinstance(call, Call) else Call(call))


def shown(value: object) -> str:
    """A value in a message: short, and never by the `repr` of a class that is not Python's own.

    >>> shown(3), shown(None), shown(dict), shown([object()])
    ('3, of type int', 'None', 'the class dict', '[<object>], of type list')
    """
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if type(value).__module__ != "builtins" or type(value) is object:
        return f"of type {type(value).__name__}"
    return f"{_SHORT.repr(value)}, of type {type(value).__name__}"


MOST_BITS = 1000


class _Short(Repr):
    """Values cut short; `repr` of a DataFrame may run a query, so others are named by type."""

    def repr_int(self, x: int, level: int) -> str:
        many = f"a number of {x.bit_length()} bits"  # Python does not write thousands of digits
        return super().repr_int(x, level) if x.bit_length() < MOST_BITS else many

    def repr_instance(self, x: object, level: int) -> str:
        del level
        plain = type(x).__module__ == "builtins" and type(x) is not object
        return repr(x)[: self.maxother] if plain else f"<{type(x).__name__}>"


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = 40
