"""Rewrite components that are not written as SEQ requires, for the help of errors.

    Shelf a -> Exit b      becomes      Shelf a, Exit b
    Shelf, Exit+           becomes      Shelf a, Exit+ b[]
    Shelf, !Exit           becomes      Shelf a, ~(Exit b)

The functions work on the text of the components, which the parser could not read.
"""

from __future__ import annotations

import re
from string import ascii_lowercase

# Components with variables, and commas between the components: `Shelf a, Exit+ b[]`, `Shelf a+`.
BARE_COMPONENTS = re.compile(r"\w+\+?\s+\w+(\[\]|\+)?(\s*,\s*\w+\+?\s+\w+(\[\]|\+)?)*")
# Event types, each with a variable, and a comma, `->`, `;` or only a blank between two components.
COMPONENTS_WITHOUT_COMMAS = re.compile(r"\s*\b\w+\s+\w+\b(\s*(,|->|;|\s)\s*\b\w+\s+\w+\b)*\s*")
# A component, which may lack its variable or have `+` in the wrong place.
COMPONENT = re.compile(
    r"""(?P<negation>[~!]\s*)?
        (?P<opening>\(\s*)?
        (?P<type>\w+|'[^']*'|`[^`]*`|\*)\s*
        (?P<plus>\+)?\s*
        (?P<name>\w+)?\s*
        (?P<brackets>\[\]|\+)?
        (?(opening)\s*\))""",
    re.VERBOSE,
)


# The variable of a component if no letter is free.
LAST_RESORT_NAME = "a1"


def are_bare_components(text: str) -> bool:
    """Return whether a text is only components, without SEQ: types with variables, and commas.

    >>> are_bare_components("Shelf a, Exit+ b[]"), are_bare_components("Shelf a+")
    (True, True)
    >>> are_bare_components("SEQ(Shelf a)"), are_bare_components("Shelf, Exit")
    (False, False)
    """
    return BARE_COMPONENTS.fullmatch(text) is not None


def add_commas(text: str) -> str:
    """Return components with commas between them, instead of blanks, arrows or semicolons.

    Return "" unless each component is a type and a variable.

    >>> add_commas("Shelf a Exit b"), add_commas("Shelf a -> Exit b"), add_commas("Shelf Exit b")
    ('Shelf a, Exit b', 'Shelf a, Exit b', '')
    """
    if not COMPONENTS_WITHOUT_COMMAS.fullmatch(text):
        return ""
    words = re.findall(r"\w+", text)
    pairs = zip(words[::2], words[1::2], strict=True)
    return ", ".join(f"{event_type} {name}" for event_type, name in pairs)


def add_missing_commas(text: str) -> str:
    """Return components with commas between them, whether or not they have variables.

    >>> add_missing_commas("Shelf a Exit b"), add_missing_commas("Shelf Exit+ Register")
    ('Shelf a, Exit b', 'Shelf, Exit+, Register')
    >>> add_missing_commas("Shelf a, Exit b")
    'Shelf a, Exit b'
    """
    if "," in text:
        return text
    return add_commas(text) or ", ".join(text.split())


def complete_components(text: str) -> str:
    """Return components as SEQ has them: with the variables and brackets that they lack.

    A new variable is the first letter that is not a variable yet. If a part of the text is not a
    component, no component is changed: only line breaks and several blanks become one blank.

    >>> complete_components("Shelf, Exit+"), complete_components("Shelf a+")
    ('Shelf a, Exit+ b[]', 'Shelf+ a[]')
    >>> complete_components("Shelf b, ~Register, Exit"), complete_components("Shelf, {Exit}")
    ('Shelf b, ~(Register a), Exit c', 'Shelf, {Exit}')
    """
    components = [COMPONENT.fullmatch(part.strip()) for part in text.split(",")]
    names = {component["name"] for component in components if component is not None}
    free_names = iter([letter for letter in ascii_lowercase if letter not in names])
    completed_components: list[str] = []
    for component in components:
        if component is None:
            return " ".join(text.split())
        name = component["name"] or next(free_names, LAST_RESORT_NAME)
        if component["negation"]:
            completed_components.append(f"~({component['type']} {name})")
        elif component["plus"] or component["brackets"]:
            completed_components.append(f"{component['type']}+ {name}[]")
        else:
            completed_components.append(f"{component['type']} {name}")
    return ", ".join(completed_components)
