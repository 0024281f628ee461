"""Names in a plan: rename its variables, and write its columns without needless quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from matchrec.dialects.reserved_names import UNQUOTED_NAME
from matchrec.plan import change_expressions
from matchrec.plan.clauses import Absence, Subset
from matchrec.plan.expression import Aggregate, Classifier, ColumnReference, MatchValue, Reference
from matchrec.plan.match_plan import MatchPlan, map_plan_references
from matchrec.plan.pattern import Negation, RowPattern, Variable, replace_children
from matchrec.plan.text import quote_name, unquote_name
from matchrec.plan.words import is_reserved

# Returns the new name of a variable.
Renaming = Callable[[str], str]

# A part of the path of a column, with or without quotes, and the path.
_PART = re.compile(r"\w+|`(?:[^`]|``)*`")
_PATH = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")


def is_path(text: str) -> bool:
    """Return whether a text is a column, or a field of one, and no other expression."""
    return _PATH.fullmatch(text) is not None


def split_path(path: str) -> tuple[str, ...]:
    """Return the names of a column and of its fields, without quotes.

    >>> split_path("`loc`.x"), split_path("`loc.x`")
    (('loc', 'x'), ('loc.x',))
    """
    return tuple(unquote_name(part) for part in _PART.findall(path))


def remove_needless_quotes(text: str) -> str:
    """Return a column with quotes only around the parts that need them.

    Other expressions stay as they are. The column comes after a variable.

    >>> remove_needless_quotes("`price`"), remove_needless_quotes("`from`")
    ('price', '`from`')
    """
    if not is_path(text):
        return text
    parts: list[str] = _PART.findall(text)
    return ".".join(quote_column(unquote_name(part)) if part[0] == "`" else part for part in parts)


def quote_column(name: str) -> str:
    """Return the name of a column, with quotes if it needs them."""
    return name if UNQUOTED_NAME.fullmatch(name) and not is_reserved(name) else quote_name(name)


def rename_variables(plan: MatchPlan, names: Mapping[str, str]) -> MatchPlan:
    """Return the plan with other names for some of its variables.

    Args:
        plan: the plan. Neither AFTER MATCH nor its windows may name one of these variables.
        names: the new names, by the old ones.
    """

    def rename(name: str) -> str:
        """Return the new name of a variable, or its old name if it keeps it."""
        return names.get(name, name)

    renamed = map_plan_references(plan, lambda reference: rename_in_reference(reference, rename))
    definitions = [
        replace(definition, variable=rename(definition.variable))
        for definition in renamed.definitions
    ]
    return replace(
        renamed,
        pattern=rename_in_pattern(plan.pattern, rename),
        subsets=tuple(_rename_in_subset(subset, rename) for subset in plan.subsets),
        definitions=tuple(definitions),
        absences=tuple(_rename_in_absence(absence, rename) for absence in plan.absences),
    )


def _rename_in_subset(subset: Subset, rename: Renaming) -> Subset:
    """Return a subset with other names for its union variable and its members."""
    members = tuple(rename(member) for member in subset.members)
    return replace(subset, name=rename(subset.name), members=members)


def _rename_in_absence(absence: Absence, rename: Renaming) -> Absence:
    """Return an absence with other names for its variables."""
    after = None if absence.after is None else tuple(rename(name) for name in absence.after)
    before = None if absence.before is None else tuple(rename(name) for name in absence.before)
    return replace(absence, variable=rename(absence.variable), after=after, before=before)


def rename_in_reference(reference: Reference, rename: Renaming) -> Reference:
    """Return a reference with another variable, also in the references inside an aggregate.

    Args:
        reference: the reference.
        rename: returns the new name of a variable.
    """
    match reference:
        case ColumnReference(navigation=navigation) | Classifier(navigation=navigation):
            if navigation.variable is None:
                return reference
            renamed = replace(navigation, variable=rename(navigation.variable))
            return replace(reference, navigation=renamed)
        case Aggregate():
            aggregate = change_expressions.map_inputs(
                reference,
                lambda term: change_expressions.map_references(
                    term, lambda inner: rename_in_reference(inner, rename)
                ),
            )
            if aggregate.variable is None:
                return aggregate
            return replace(aggregate, variable=rename(aggregate.variable))
        case MatchValue():
            return reference


def rename_in_pattern(pattern: RowPattern, rename: Renaming) -> RowPattern:
    """Return a row pattern with other names for its variables."""
    match pattern:
        case Variable():
            return replace(pattern, name=rename(pattern.name))
        case Negation(names):
            return replace(pattern, names=tuple(rename(name) for name in names))
        case _:
            return replace_children(pattern, lambda part: rename_in_pattern(part, rename))
