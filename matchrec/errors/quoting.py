"""Write values as Python, a shell or a cell of a notebook reads them."""

from __future__ import annotations

import shlex
from json import dumps


def quote_for_python(value: object) -> str:
    """Return a value as Python writes it, a string in double quotes; `...` for any value."""
    if isinstance(value, str):
        return dumps(value, ensure_ascii=False)
    return "..." if value is ... else str(value)


def quote_for_shell(value: object) -> str:
    """Return a value as a shell takes it, in quotes if it needs them: `7`, `'a b'`, `NULL`."""
    text = write_plain_value(value)
    if is_safe_in_shell(text):
        return text
    return shlex.quote(text) if "'" in text else f"'{text}'"


def quote_setting(name: str, value: object) -> str:
    """Return NAME=VALUE as a shell and a cell take it: `sym=X`, `'my sym=a b'`.

    The quotes are around both, because a cell splits `sym='a b'` into two words.
    """
    setting = f"{name}={write_plain_value(value)}"
    if is_safe_in_shell(setting.replace("=", "", 1).replace("_", "")):
        return setting
    return shlex.quote(setting) if "'" in setting else f"'{setting}'"


def write_plain_value(value: object) -> str:
    """Return a value without quotes: NULL for None, and `...` for any value."""
    if value is None:
        return "NULL"
    return "..." if value is ... else str(value)


def is_safe_in_shell(text: str) -> bool:
    """Return whether a text needs no quotes: it has only letters, digits, hyphens and periods."""
    return text.replace("-", "").replace(".", "").isalnum()
