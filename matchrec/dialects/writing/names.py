"""Names of a plan: other ones for its variables, columns without needless quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from matchrec.plan import expression
from matchrec.plan.clauses import Absence, Subset
from matchrec.plan.expression import Aggregate, Classifier, ColumnReference, MatchValue, Reference
from matchrec.plan.match_plan import MatchPlan, with_each
from matchrec.plan.pattern import Negation, RowPattern, Variable, replace_children
from matchrec.plan.text import is_reserved, quoted, unquoted

WORD = re.compile(r"[^\W\d]\w*")
_PART = re.compile(r"\w+|`(?:[^`]|``)*`")
_PATH = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")


def normalize_expression(text: str) -> str:
    """A column without quotes, any other expression without needless blanks.

    >>> plain("`loc`.x"), plain("x  + 1")
    ('loc.x', 'x + 1')
    """
    if _PATH.fullmatch(text):
        return ".".join(unquoted(part) for part in _PART.findall(text))
    return " ".join(text.split())


def remove_needless_quotes(text: str) -> str:
    """A column behind a variable, with quotes where it needs them.

    >>> tidy("`price`"), tidy("`from`"), tidy("`a b`")
    ('price', '`from`', '`a b`')
    """
    if not _PATH.fullmatch(text):
        return text
    parts: list[str] = _PART.findall(text)
    return ".".join(quote_column(unquoted(part)) if part[0] == "`" else part for part in parts)


def quote_column(name: str) -> str:
    """The name of a column, with quotes where it needs them."""
    return name if WORD.fullmatch(name) and not is_reserved(name) else quoted(name)


def rename_variables(plan: MatchPlan, names: Mapping[str, str]) -> MatchPlan:
    """The plan with other names for some variables, which neither its skip nor its windows name."""

    def subset(one: Subset) -> Subset:
        return replace(one, name=new(one.name), members=tuple(map(new, one.members)))

    def absence(one: Absence) -> Absence:
        after, before = (names and tuple(map(new, names)) for names in (one.after, one.before))
        return replace(one, variable=new(one.variable), after=after, before=before)

    def new(name: str) -> str:
        return names.get(name, name)

    changed = with_each(plan, lambda each: rename_in_reference(each, new))
    return replace(
        changed,
        pattern=rename_in_pattern(plan.pattern, new),
        subsets=tuple(map(subset, plan.subsets)),
        definitions=tuple(replace(d, variable=new(d.variable)) for d in changed.definitions),
        absences=tuple(map(absence, plan.absences)),
    )


def rename_in_reference(reference: Reference, name: Callable[[str], str]) -> Reference:
    """The reference to another variable, those inside of an aggregate too."""
    match reference:
        case ColumnReference(navigation=navigation) | Classifier(navigation=navigation):
            if navigation.variable is None:
                return reference
            moved = replace(navigation, variable=name(navigation.variable))
            return replace(reference, navigation=moved)
        case Aggregate():
            inside = expression.with_terms(
                reference,
                lambda term: expression.with_references(
                    term, lambda one: rename_in_reference(one, name)
                ),
            )
            of = inside.variable
            return inside if of is None else replace(inside, variable=name(of))
        case MatchValue():
            return reference


def rename_in_pattern(pattern: RowPattern, name: Callable[[str], str]) -> RowPattern:
    match pattern:
        case Variable():
            return replace(pattern, name=name(pattern.name))
        case Negation(names):
            return replace(pattern, names=tuple(map(name, names)))
        case _:
            return replace_children(pattern, lambda part: rename_in_pattern(part, name))
