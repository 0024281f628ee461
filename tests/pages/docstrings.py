"""Extension of mkdocstrings: show arguments as a list, and examples as code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from griffe import Attribute, Class, Extension, Function, Object

ROOT = Path(__file__).parent.parent.parent


class Docstrings(Extension):
    """An extension that mkdocstrings calls for every class, function and property."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Replace a docstring by Markdown."""
        sys.path.insert(0, str(ROOT))
        from tests.pages.sections import Value, as_markdown

        sys.path.remove(str(ROOT))
        if obj.docstring is None or not isinstance(obj, Attribute | Class | Function):
            return
        values = {}
        if isinstance(obj, Function):
            for function in obj.overloads or [obj]:
                for parameter in function.parameters:
                    value = Value(
                        write_annotation(parameter.annotation), write_annotation(parameter.default)
                    )
                    values.setdefault(parameter.name, value)
        elif isinstance(obj, Class):
            for name, attribute in obj.attributes.items():
                values[name] = Value(
                    write_annotation(attribute.annotation), write_annotation(attribute.value)
                )
        obj.docstring.value = as_markdown(obj.docstring.value, values)


def write_annotation(expression: object) -> str | None:
    """Return an annotation or a default as the source writes it."""
    return None if expression is None else str(expression)
