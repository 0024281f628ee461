"""A class that our `dataclass` makes means what the library's does."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from functools import partial
from typing import Any, ClassVar

import pytest

from matchrec.dataclass import dataclass


def classes(made: Callable[..., Any], **options: bool) -> list[Any]:
    """Classes of all the forms in which ours are written, by a function like `dataclass`."""

    @made(frozen=True, **options)
    class Nothing:
        """No fields."""

    @made(frozen=True, **options)
    class One:
        """One field."""

        a: int

    @made(frozen=True, **options)
    class Several:
        """Fields with defaults and without."""

        a: int
        b: str = "b"
        c: list[int] = field(default_factory=list, compare=False)
        d: int = field(default=7, repr=False)
        e: int = field(default=8, init=False)
        f: list[int] = field(default_factory=list, init=False, compare=False)
        kind: ClassVar[str] = "several"

    @made(frozen=True, kw_only=True, **options)
    class Named(Several):
        """Some that are called by name, a computed one, and those of another class."""

        g: int
        h: int = 1
        i: int = field(init=False, hash=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "i", self.g + self.h)

    @made(frozen=True, **options)
    class Own:  # noqa: PLW1641 -- its hash is made
        """Methods of its own."""

        a: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self))

    @made(frozen=True, **options)
    class Hashed:
        """A hash of its own."""

        a: int

        def __hash__(self) -> int:
            return 17

    return [Nothing, One, Several, Named, Own, Hashed]


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((2,), {}),
    ((1, "b"), {"d": 7}),
    ((1, "x", [3]), {}),
    ((1,), {"g": 2}),
    ((1,), {"g": 2, "h": 3}),
    ((1, "b", [], 7, 8), {}),
    ((1,), {"z": 1}),
]


def outcome(do: Callable[[], Any]) -> object:
    """What comes of it, in words where it is an error."""
    try:
        return do()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error)


def told_by_class(one: Any) -> list[object]:
    """What can be asked of a class."""
    fields = dataclasses.fields(one)
    return [str(inspect.signature(one)), one.__match_args__, [each.name for each in fields]]


def told(one: Any) -> list[object]:
    """What can be asked of an instance."""
    names = [each.name for each in dataclasses.fields(one)]
    return [
        repr(one),
        outcome(partial(hash, one)),
        [outcome(partial(setattr, one, name, 5)) for name in names],
        [outcome(partial(delattr, one, name)) for name in names],
        dataclasses.astuple(one),
        outcome(lambda: repr(dataclasses.replace(one, a=9))),
        repr(copy.copy(one)),
        repr(copy.deepcopy(one)),
        hasattr(one, "__dict__"),
    ]


@pytest.mark.parametrize("options", [{}, {"slots": True}])
def test_what_the_library_says_of_a_class_and_its_instances(options: dict[str, bool]) -> None:
    makers = (dataclass, dataclasses.dataclass)
    for own, librarys in zip(*(classes(one, **options) for one in makers), strict=True):
        assert told_by_class(own) == told_by_class(librarys)
        ours, theirs = (
            [outcome(partial(one, *places, **names)) for places, names in CALLS]
            for one in (own, librarys)
        )
        for one, other in zip(ours, theirs, strict=True):
            assert told(one) == told(other) if isinstance(one, own) else one == other
        equal = [[[one == two for two in those] for one in those] for those in (ours, theirs)]
        assert equal[0] == equal[1]


@pytest.mark.parametrize("without", ["repr", "eq"])
def test_what_is_not_asked_for_is_not_made(without: str) -> None:
    one = classes(dataclass, **{without: False})[1]
    first, second = one(1), one(1)
    assert (one.__repr__ is object.__repr__) is (without == "repr")
    assert (first == second) is (hash(first) == hash(second)) is (without != "eq")


@dataclass(frozen=True, slots=True)
class Kept:
    """A class that pickle finds."""

    a: int
    b: object = None


@dataclass(frozen=True, slots=True)
class Further(Kept):
    """A class of one field more."""

    c: int = 3


@dataclass(frozen=True)
class Open:
    """A class whose instances have a `__dict__`."""

    a: object


def test_instances_survive_pickling() -> None:
    for one in (Kept(1, Kept(2)), Further(1, None, 4), Open(Kept(1))):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(one, protocol)) == one
    assert Kept(1) != Further(1)


def test_an_instance_within_itself_is_shown() -> None:
    held: list[object] = []
    held.append(Kept(1, held))
    assert repr(held[0]) == "Kept(a=1, b=[...])"


def test_what_is_abstract_stays_abstract() -> None:
    @dataclass(frozen=True)
    class Shape(ABC):
        a: int

        @abstractmethod
        def area(self) -> int: ...

    @dataclass(frozen=True)
    class Square(Shape):
        def area(self) -> int:
            return self.a**2

    with pytest.raises(TypeError, match="abstract"):
        Shape(1)
    assert Square(3).area() == 9


def test_other_classes_are_made_by_the_library() -> None:
    @dataclass
    class Counter:
        n: int = 0

    @dataclass(slots=True)
    class Slotted:
        n: int = 0

    @dataclass(frozen=True, order=True)
    class Ordered:
        n: int = 0

    counter, slotted = Counter(), Slotted()
    counter.n = slotted.n = 1
    assert counter == Counter(1)
    assert slotted == Slotted(1)
    assert Ordered(1) < Ordered(2)
    with pytest.raises(FrozenInstanceError):
        Ordered(1).n = 2
