"""Find, check and fill the `:name` parameters in a text, without parsing the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from matchrec.errors.kinds import locate_errors
from matchrec.errors.parameters import unknown_clause_parameter, unknown_parameter
from matchrec.errors.rule_sets import unbound_rule_parameter
from matchrec.source import Source, Span
from matchrec.syntax.named_parameters import find_parameters, find_parameters_with_at_sign

# A name after `:` or `@`, also in a comment or a string.
_POSSIBLE_PARAMETER = re.compile(r"[:@]\s*([^\W\d]\w*)")

# The end of a text that ends with a name, perhaps in backticks.
_ENDS_WITH_NAME = re.compile(r"[\w`]$")


def find_clause_parameters(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the name and the location of each `:name` of a clause that stands for a value.

    The type of a field of a struct, as in `a:INT`, is not a parameter.

    >>> text = "x > :low AND CAST(y AS STRUCT<a:INT, b: INT>).a < :high"
    >>> [name for name, _ in find_clause_parameters(text)]
    ['low', 'high']
    """
    for name, span in find_parameters(text):
        has_space = text[span.start + 1 : span.end] != name
        follows_name = _ENDS_WITH_NAME.search(text[: span.start]) is not None
        if not has_space and not follows_name:
            yield name, span


def check_parameter_names(text: str, names: Iterable[str]) -> None:
    """Check that a clause has a parameter with each of these names.

    Raises:
        MatchRecognizePlanError: the clause lacks such a parameter.
    """
    parameter_names = tuple(dict.fromkeys(name for name, _ in find_clause_parameters(text)))
    for name in names:
        if name not in parameter_names:
            raise unknown_clause_parameter(name=name, parameters=parameter_names)


def find_possible_parameters(text: str) -> tuple[str, ...]:
    """Return the names after `:` and `@` in a text of any language, also inside its strings."""
    return tuple(dict.fromkeys(_POSSIBLE_PARAMETER.findall(text)))


def reject_unused_values(text: str, values: Mapping[str, object]) -> None:
    """Check that every value has a parameter in the text. Only the command line calls this check.

    `sql` accepts unused values, as PySpark does, because one dict may serve several queries. It
    rejects them if the text uses none of them: see `reject_values_without_parameters`.

    If a parameter has no value, nothing is checked here: a later check reports it with its
    location. So does a check of `{name}`, which a user of Python may write instead of `:name`.

    Raises:
        MatchRecognizePlanError: the name of a value is not in the text.
    """
    if any(name not in values for name, _ in find_clause_parameters(text)):
        return
    possible_names = find_possible_parameters(text)
    for name in values:
        is_in_braces = re.search(rf"{{\s*{re.escape(name)}\s*}}", text) is not None
        if name not in possible_names and not is_in_braces:
            # Not `possible_names`: a word after a colon in a comment would be confusing.
            raise unknown_parameter(name=name, parameters=find_certain_parameters(text))


def find_unused_values(text: str, values: object) -> tuple[str, ...]:
    """Return the names of all values if the text uses none of them; otherwise nothing.

    A name after `:`, `@` or `{` counts as used, also in a comment or a string, and in upper or
    lower case. The result is empty if the text has a `?`. If that is a parameter by position, it
    has no value, and a later error says so better than one about the names.

    Args:
        text: a query or a clause, in any dialect.
        values: the argument `args`. Only a dict has names.

    >>> find_unused_values("id > :low", {"high": 9}), find_unused_values("id > :low", {"low": 1})
    (('high',), ())
    >>> find_unused_values("id > :low", {"low": 1, "high": 9})
    ()
    """
    if not isinstance(values, Mapping) or "?" in text:
        return ()
    names = tuple(values)
    for name in names:
        if re.search(rf"[:@{{]\s*`?{re.escape(name)}\b", text, re.IGNORECASE):
            return ()
    return names


def reject_values_without_parameters(text: str, values: object) -> None:
    """Check that a text uses at least one of the named values that are passed for it.

    If the text has a parameter without a value, nothing is checked here: a later check reports it
    with its location.

    Raises:
        MatchRecognizePlanError: the text uses none of the values.
    """
    names = find_unused_values(text, values)
    if names and not find_certain_parameters(text):
        raise unknown_parameter(name=names[0], parameters=())


def find_certain_parameters(text: str) -> tuple[str, ...]:
    """Return the names of the parameters `:name` and `@name` outside of comments and strings.

    >>> find_certain_parameters("SELECT 'a:b' AS x /* falls: the */ WHERE y > :low + @high")
    ('low', 'high')
    """
    names = [name for name, _ in find_clause_parameters(text)]
    return tuple(dict.fromkeys((*names, *find_parameters_with_at_sign(text))))


def fill_parameters(source: Source, values: Mapping[str, str]) -> Source:
    """Return a clause with values instead of its parameters.

    Args:
        source: the clause.
        values: the values as SQL, by the names of their parameters.

    Raises:
        MatchRecognizePlanError: a parameter has no value, or a value has no parameter.
    """
    from matchrec.dialects.edits import Edit, apply_edits

    with locate_errors(source):
        edits = []
        for name, span in find_clause_parameters(source.text):
            if name not in values:
                raise unbound_rule_parameter(span, name=name, parameters=tuple(values))
            edits.append(Edit(span, values[name]))
        check_parameter_names(source.text, values)
    return apply_edits(source.text, edits).make_source(source) if edits else source
