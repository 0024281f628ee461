"""`PublicClass`: errors that help users who call `Pattern` and `AfterMatch` in a wrong way.

For example:

    Pattern.next("a")                 the error says to begin with Pattern.begin("name")
    Pattern.begin("a").begin("b")     the error says to add a stage by another method
    Pattern.start("a")                the error suggests Pattern.begin
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from matchrec.errors import stages as errors
from matchrec.errors.arguments import no_class_attribute


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
