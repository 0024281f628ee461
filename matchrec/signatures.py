"""Signatures that people can read: of the public functions and classes, in `help` and in notebooks.

`inspect` shows an annotation that Python has not evaluated as a string in quotes, and a signature
of any length in one line:

    (spark: 'SparkSession', query: 'str', args: 'Arguments | None' = None, *, dialect: ...

`simplify_signatures` gives a function a signature that prints as in its source:

    (
        spark: SparkSession,
        query: str,
        args: Arguments | None = None,
        *,
        dialect: ...
    )
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from inspect import Parameter, Signature
from types import FunctionType, SimpleNamespace
from typing import TypeVar

from typing_extensions import get_overloads, override

T = TypeVar("T")

# A signature with more characters has a line for each parameter.
WIDTH = 72


class Annotation(str):
    """The text of a type, which prints without quotes."""

    __slots__ = ()

    @override
    def __repr__(self) -> str:
        return str(self)


class ReadableSignature(Signature):
    """A signature that prints with a line for each parameter if it is long.

    The signature of a function with overloads prints as all overloads, each after the name of the
    function. It has the parameters of the first overload, unless the function has a signature of
    its own with the parameters of all overloads, which editors complete.
    """

    __slots__ = ("name", "overloads")
    name: str
    overloads: tuple[ReadableSignature, ...]

    @override
    def __str__(self) -> str:
        first, *others = getattr(self, "overloads", (self,))
        return "\n".join([first._write(), *(f"{self.name}{other}" for other in others)])

    def _write(self) -> str:
        """Return the parameters and the type of the result, without other overloads."""
        items = list(list_items(self))
        end = ""
        if self.return_annotation is not self.empty:
            end = f" -> {inspect.formatannotation(self.return_annotation)}"
        line = f"({', '.join(items)}){end}"
        if len(line) <= WIDTH:
            return line
        return "(\n" + "".join(f"    {item},\n" for item in items) + f"){end}"

    def format(self, **_: object) -> str:
        """Return the signature. `help` of Python 3.13 calls this, with the width of its lines."""
        return str(self)


def list_items(signature: Signature) -> Iterator[str]:
    """Yield the parameters as they are written between the parentheses, `/` and `*` included.

    >>> list(list_items(inspect.signature(lambda a, /, b, *, c=3: 0)))
    ['a', '/', 'b', '*', 'c=3']
    """
    previous_kind = None
    for parameter in signature.parameters.values():
        kind = parameter.kind
        if previous_kind is Parameter.POSITIONAL_ONLY and kind is not Parameter.POSITIONAL_ONLY:
            yield "/"
        follows_star = previous_kind in (Parameter.VAR_POSITIONAL, Parameter.KEYWORD_ONLY)
        if kind is Parameter.KEYWORD_ONLY and not follows_star:
            yield "*"
        yield str(parameter)
        previous_kind = kind
    if previous_kind is Parameter.POSITIONAL_ONLY:
        yield "/"


def simplify_signatures(value: T, *, is_made_by_users: bool = True) -> T:
    """Give a public function, or a class and its methods, signatures that people can read.

    Args:
        value: the function or class, which is returned. Any other value is not changed.
        is_made_by_users: False for a class whose instances functions return. `help` then does not
            show how to call it.
    """
    if isinstance(value, FunctionType):
        set_signature(value)
    elif isinstance(value, type):
        for method in find_methods(value):
            set_signature(method)
        if is_made_by_users:
            call = make_readable(inspect.signature(value))
        else:
            call = ReadableSignature()
            for class_ in value.__mro__:
                hide_arguments(class_)
        type.__setattr__(value, "__signature__", call)
    return value


def find_methods(class_: type) -> Iterator[FunctionType]:
    """Yield the methods and static methods of a class, also those from base classes of matchrec."""
    for base in class_.__mro__:
        is_from_matchrec = f"{base.__module__}.".startswith("matchrec.")
        if not is_from_matchrec:
            continue
        for member in vars(base).values():
            function = member.__func__ if isinstance(member, staticmethod) else member
            if isinstance(function, FunctionType):
                yield function


def hide_arguments(class_: type) -> None:
    """Let `help` show `__init__` of a class without its arguments, which are private."""
    initializer = vars(class_).get("__init__")
    if isinstance(initializer, FunctionType):
        this = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
        vars(initializer)["__signature__"] = ReadableSignature([this])


def set_signature(function: FunctionType) -> None:
    """Give a function a readable signature, if it has none yet."""
    signature = inspect.signature(function)
    if isinstance(signature, ReadableSignature):
        return
    original = inspect.unwrap(function)
    overloads = [make_readable(inspect.signature(form)) for form in find_overloads(original)]
    if overloads and not hasattr(original, "__signature__"):
        signature = overloads[0]
    readable = make_readable(signature)
    if overloads:
        readable.name = function.__name__
        readable.overloads = tuple(overloads)
    vars(function)["__signature__"] = readable


def find_overloads(function: FunctionType) -> Sequence[Callable[..., object]]:
    """Return the overloads of a function, also if `public` has changed its module.

    Python finds overloads by the module and the name of the function.
    """
    defined = SimpleNamespace(
        __module__=function.__globals__["__name__"], __qualname__=function.__qualname__
    )
    return get_overloads(defined)  # type: ignore[arg-type]


def make_readable(signature: Signature) -> ReadableSignature:
    """Return a signature whose annotations print without quotes.

    >>> def search(rows: list[str], limit: int = 5) -> str | None: ...
    >>> inspect.signature(search)
    <Signature (rows: 'list[str]', limit: 'int' = 5) -> 'str | None'>
    >>> make_readable(inspect.signature(search))
    <ReadableSignature (rows: list[str], limit: int = 5) -> str | None>
    """
    parameters = [
        parameter.replace(annotation=unquote(parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    return ReadableSignature(parameters, return_annotation=unquote(signature.return_annotation))


def unquote(annotation: object) -> object:
    """Return an annotation that prints without quotes."""
    return Annotation(annotation) if isinstance(annotation, str) else annotation
