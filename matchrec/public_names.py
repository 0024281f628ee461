"""Let public classes and functions show their public names, such as `matchrec.Query`.

Python shows the module that defines a class in tracebacks, in `help` and in `repr`. Users import
public names from `matchrec` and should not see, or import, the modules that define them.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def public(value: T) -> T:
    """Decorate a public class or function so that its module is `matchrec`.

    Pickle finds it there: `matchrec` loads each public name when it is first used. The decorator
    comes before all other decorators.

    >>> @public
    ... class Query: ...
    >>> Query
    <class 'matchrec.Query'>
    """
    value.__module__ = "matchrec"
    return value
