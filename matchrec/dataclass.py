"""`dataclass` of the standard library, by which a frozen class is made in a quarter of the time.

The library writes and compiles up to six methods for each class, and two hundred classes are made
before a first query is planned. Only `__init__` is written here; the others know the names of the
fields, which is all in which they differ. A class means what the library's means, as type checkers
believe.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

Method = Callable[..., Any]
Fields = Sequence[Field[Any]]
Values = Callable[[Any], tuple[Any, ...]]

OF_FIELDS = {"slots", "kw_only"}


class _Made:
    """The default of a field with a factory, as the library's signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"


MADE = _Made()


def _dataclass(cls: type | None = None, /, **options: bool) -> Any:
    """What the library's function of this name gives for the same options."""
    is_plain = options.keys() <= OF_FIELDS | {"frozen", "repr", "eq"}
    if cls is None and options.get("frozen") and is_plain:
        return partial(_frozen, options=options)
    return dataclasses.dataclass(cls, **options)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 -- it is imported from here
else:
    dataclass = _dataclass


def _frozen(cls: type, options: Mapping[str, bool]) -> Any:
    """A frozen dataclass. What the class has itself stays."""
    cls.__doc__ = cls.__doc__ or cls.__name__  # else the library writes one, before `__init__`
    of_fields = {name: options[name] for name in OF_FIELDS & options.keys()}
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, **of_fields)(cls)
    fields = dataclasses.fields(made)
    methods = {"__init__": _initialiser(made, fields)}
    methods |= {"__setattr__": _refuse_to_assign, "__delattr__": _refuse_to_delete}
    if options.get("repr", True):
        methods["__repr__"] = _representation(fields)
    if options.get("eq", True):
        methods["__eq__"] = _equality(_reader([one for one in fields if one.compare]))
        methods["__hash__"] = _hash(_reader([one for one in fields if _is_hashed(one)]))
    if options.get("slots", False):
        methods |= _state(fields)
    for name, method in methods.items():
        if vars(made).get(name) is None:  # Python sets `__hash__` to None beside an `__eq__`
            setattr(made, name, method)
    return made


def _initialiser(made: type, fields: Fields) -> Method:
    """`__init__`, the only method whose parameters depend on the fields."""
    taken = [one for one in fields if one.init]
    by_place = [_parameter(one) for one in taken if not one.kw_only]
    by_name = [_parameter(one) for one in taken if one.kw_only]
    parameters = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])
    begun = [one for one in fields if one.init or _has_default(one)]
    body = [f" __assign__(self, {one.name!r}, {_value(one)})" for one in begun]
    body.append(" self.__post_init__()" if hasattr(made, "__post_init__") else " pass")
    known: dict[str, Any] = {
        "__assign__": object.__setattr__,
        "__MADE__": MADE,
        "__default__": {one.name: one.default for one in fields},
        "__make__": {one.name: one.default_factory for one in fields},
    }
    exec("\n".join([f"def __init__({parameters}):", *body]), known)
    method: Method = known["__init__"]
    method.__qualname__ = f"{made.__qualname__}.__init__"
    method.__annotations__ = {one.name: one.type for one in taken} | {"return": None}
    return method


def _has_default(one: Field[Any]) -> bool:
    return one.default is not MISSING or one.default_factory is not MISSING


def _is_hashed(one: Field[Any]) -> bool:
    return one.compare if one.hash is None else one.hash


def _parameter(one: Field[Any]) -> str:
    """A field among the parameters."""
    if one.default_factory is not MISSING:
        return f"{one.name}=__MADE__"
    return one.name if one.default is MISSING else f"{one.name}=__default__[{one.name!r}]"


def _value(one: Field[Any]) -> str:
    """What a field is at first."""
    if one.default_factory is MISSING:
        return one.name if one.init else f"__default__[{one.name!r}]"
    made = f"__make__[{one.name!r}]()"
    return f"{made} if {one.name} is __MADE__ else {one.name}" if one.init else made


def _reader(fields: Fields) -> Values:
    """The values of fields of an instance."""
    names = [one.name for one in fields]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple([getattr(one, name) for name in names])


def _equality(values: Values) -> Method:
    """Instances of one class are compared, by their values."""

    def equal(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return equal


def _hash(values: Values) -> Method:
    return lambda self: hash(values(self))


def _representation(fields: Fields) -> Method:
    """`C(a=1, b=2)`."""
    names = [one.name for one in fields if one.repr]

    @recursive_repr()
    def written(self: Any) -> str:
        values = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{self.__class__.__qualname__}({values})"

    return written


def _state(fields: Fields) -> dict[str, Method]:
    """What pickle asks for where there is no `__dict__` and nothing can be assigned."""
    values = _reader(fields)

    def kept(self: Any) -> tuple[Any, ...]:
        return values(self)

    def restore(self: Any, state: tuple[Any, ...]) -> None:
        for one, value in zip(fields, state, strict=True):
            object.__setattr__(self, one.name, value)

    return {"__getstate__": kept, "__setstate__": restore}


def _refuse_to_assign(_: Any, name: str, value: Any) -> None:  # noqa: ARG001 -- as Python calls it
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
