"""Messages as records: templates of an error's texts, called with the values of their fields.

    unclosed = parse_error('''`{opening}` is not closed in PATTERN
        note: the group starts there
        add `{closing}`''')
    raise unclosed(span, opening="(", closing=")")

The modules of this package are a catalogue of such records, by topic. If a message has to look at
its values to find its words, it is a function next to the records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set, ValuesView
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from matchrec.errors import kinds
from matchrec.errors.kinds import MatchRecognizeRunError, find_nearest, join_names
from matchrec.errors.language import current_language, current_surface, name_part, uncapitalise
from matchrec.errors.run.place import RowLocation
from matchrec.source import Span


def name_sql(product: str) -> str:
    """Return how a message names the SQL of a product, such as "Oracle SQL" or "Databricks SQL"."""
    return product if product.endswith("SQL") else f"{product.removeprefix('the ')} SQL"


def in_backticks(text: str) -> str:
    """Return a name, or a text in quotes, as a name in backticks."""
    name = text.strip("'\"").replace("`", "``")
    return f"`{name}`"


def as_name(text: str) -> str:
    """Return a name as a query has it: in backticks if it needs them."""
    return text if text.isidentifier() else in_backticks(text)


# The class of the errors that a record makes.
E = TypeVar("E", bound=kinds.Located)

# A field of a template: see `Message`.
_FIELD = (
    r"\{(?:part\[(?P<part>[A-Z ]+)\]|word\.(?P<word>\w+)|here\.(?P<here>\w+)(?:\[(?P<of>\w+)\])?"
    r"|option\[(?P<option>\w+|\{\w+\})(?:=(?P<value>[^\]]+))?\]"
    r"|(?P<name>[a-z_]+)(?:\[(?P<index>\d)\])?(?P<form>:[a-z]+|:,)?)\}"
)

# How the value of a field is shown.
_FORMS: Mapping[str | None, Callable[..., str]] = {
    ":short": kinds.shorten,
    ":line": lambda text: " ".join(text.split()),
    ":note": uncapitalise,
    ":bare": lambda text: text.strip("`"),
    ":name": as_name,
    ":quoted": in_backticks,
    ":shown": kinds.describe_value,
    ":repr": repr,
    ":part": name_part,
    ":sql": name_sql,
    ":,": lambda number: f"{number:,}" if isinstance(number, int) else str(number),
}


@dataclass(frozen=True)
class Message(Generic[E]):
    """A message of the catalogue. Called with the values of its fields, it returns the error.

    The texts of a message are templates. A field is the name of a value in braces:

    - `{name}`: the value; several names are listed, and None is nothing. The values of a mapping
      are listed, and its keys are what `near` compares.
    - `{names[0]}`: the first of several names.
    - `{names:some}`: in a note, which is left out if there are no names.
    - `{text:short}`, `{text:line}`: the user's text in one line, cut off or whole.
    - `{text:quoted}`: a name in backticks; `{text:name}`: only if it needs them; `{text:bare}`:
      without them.
    - `{limit:,}`: a number with commas. `{value:shown}`: any Python value, with its type.
    - `{word.one}`, `{part[DEFINE]}`: words of the language that is being read.
    - `{option[sort=spark]}`, `{here.marker}`, `{here.parameter[name]}`: what one writes on the
      surface that is in use. Name and value of an option may be fields, and values may be
      separated by `|`. `{option[max_steps]}` is the option without a value.

    A hint or a note without words is left out. Other braces are braces.
    """

    # The class of the error.
    kind: type[E]
    sentence: str
    notes: tuple[str, ...] = ()
    hint: str | None = None
    # The hint if one of the names among the values is similar to `{name}`. It is `{near}`.
    near: str | None = None
    # Hints by the first value, in upper case.
    hints: Mapping[str, str] = field(default_factory=dict)
    # The field under whose value the carets are.
    culprit: str | None = None
    # The name that Databricks SQL gives to an error of this meaning.
    condition: str | None = None
    # The code of the error; None if it is made from the name of the record: see `give_codes`.
    code: str | None = None

    def __call__(self, *places: Span | tuple[Span | None, ...] | None, **values: object) -> E:
        """Return the error with these values in its fields.

        If one of the values is a `RowLocation`, a run-time error is about that row.

        Args:
            places: where the error is in the query's text; None if that is not known.
            values: a value for each field.
        """
        assert values.keys() == set(self.fields), (self.sentence, *values)
        reusable = {name: _make_reusable(values[name]) for name in self.fields}
        spans: list[Span | None] = []
        for span in places:
            spans += span if isinstance(span, tuple) else (span,)
        hint = _filled(self._hint(reusable) or "", reusable) or None
        notes = [_filled(note, reusable) for note in self.notes if _has_names(note, reusable)]
        error = self.kind(
            _filled(self.sentence, reusable),
            *spans,
            notes=tuple(note for note in notes if note),
            hint=hint,
        )
        if self.culprit is not None:
            error.culprit = str(reusable[self.culprit])
        if isinstance(error, kinds.MatchRecognizeError):
            error.condition = self.condition
            error.code = self.code
        if isinstance(error, MatchRecognizeRunError):
            for value in reusable.values():
                if isinstance(value, RowLocation):
                    error.at(value)
        return error

    def _hint(self, values: dict[str, Any]) -> str | None:
        """Return the template of the hint. Adds the most similar name to the values as `near`."""
        if self.near is not None:
            lists = [
                value for value in values.values() if isinstance(value, tuple | list | Mapping)
            ]
            values["near"] = find_nearest(
                values["name"], (name for names in lists for name in names)
            )
            if values["near"]:
                return self.near
        first = next(iter(values.values()), None)
        return self.hints.get(first.upper(), self.hint) if isinstance(first, str) else self.hint

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the values that the message needs, each once."""
        texts = (self.sentence, *self.notes, self.near or "", self.hint or "")
        names = dict.fromkeys(name for text in texts for name in _names(text))
        if self.near is not None:
            names.pop("near", None)  # which is found among the values
        return tuple(names)


def _names(template: str) -> Iterator[str]:
    """Return the names of the values in a template, also those within an option."""
    for hole in re.finditer(_FIELD, template):
        yield from _names(f"{hole['option']}{hole['value'] or ''}")
        name = hole["name"] or hole["of"]
        if name:
            yield name


def _has_names(note: str, values: Mapping[str, object]) -> bool:
    """Return whether the lists in a note that may not be empty, `{names:some}`, have names."""
    lists = (hole["name"] for hole in re.finditer(_FIELD, note) if hole["form"] == ":some")
    return all(values[name] for name in lists)


def _make_reusable(value: object) -> object:
    """Return a value that can be iterated several times.

    Other iterables stay as they are: a DataFrame, which can be iterated, must be shown as such.
    """
    return tuple(value) if isinstance(value, Iterator | Set | ValuesView) else value


def fill_words(template: str) -> str:
    """Return a template without values, with the words of the language and surface in use.

    >>> fill_words("unix_date({word.one}), {option[dialect=oracle]}")
    'unix_date(LAST(A.x)), dialect="oracle"'
    """
    return _filled(template, {})


def _filled(template: str, values: Mapping[str, object]) -> str:
    """Return a template with words and values instead of its fields."""

    def fill(field: re.Match[str]) -> str:
        """Return the text of one field."""
        if field["part"]:
            return name_part(field["part"])
        if field["word"]:
            return str(getattr(current_language(), field["word"]))
        if field["here"]:
            words = str(getattr(current_surface(), field["here"]))
            return words.format(name=_text_of(values[field["of"]])) if field["of"] else words
        if field["option"]:
            return fill_option(field)
        value: Any = values[field["name"]]
        if field["index"]:
            value = value[int(field["index"])]
        if field["form"] in _FORMS:
            return _FORMS[field["form"]](value)
        return _text_of(value)

    def fill_option(field: re.Match[str]) -> str:
        """Return the text of `{option[name]}` or `{option[name=value|value]}`."""
        option = _filled(field["option"], values)
        if field["value"] is None:
            return current_surface().name_of_option(option)
        texts = _filled(field["value"], values).split("|")
        option_values = [int(text) if text.isdigit() else text for text in texts]
        return current_surface().option(option, *option_values)

    return re.sub(_FIELD, fill, template)


def _text_of(value: object) -> str:
    """Return a value as a message shows it: several names are listed, and None is nothing."""
    if isinstance(value, Mapping):
        return join_names(value.values())
    if isinstance(value, tuple | list):
        return join_names(value)
    return "" if value is None else str(value)


# The fields that a line of a message's text can set.
MARKS = ("near", "culprit", "condition", "code")


def record(kind: type[E], text: str, notes: tuple[str, ...] = (), **others: Any) -> Message[E]:
    """Make a message from a text that looks as it prints.

    Its first line is the sentence. Lines below it with the mark `note:` are notes; the line without
    a mark is the hint. `near:`, `culprit:`, `condition:` and `code:` set these fields, and `case A
    | B:` is the hint for these values. A line that is indented further continues the one above.

    Args:
        kind: the class of the errors.
        text: the text.
        notes: notes that come before those in the text, such as ones put together from parts.
        others: other fields of the record.
    """
    sentence, *lines = (" ".join(line.split()) for line in re.split(r"\n {4}(?! )", text))
    hints: dict[str, str] = others.pop("hints", {})
    for line in lines:
        mark, _, words = line.partition(": ")
        if mark == "note":
            notes = (*notes, words)
        elif mark.startswith("case "):
            hints |= dict.fromkeys(mark.removeprefix("case ").split(" | "), words)
        else:
            name = mark if mark in MARKS else "hint"
            assert name not in others, (sentence, name)
            others[name] = words if mark in MARKS else line
    return Message(kind, sentence, notes, hints=hints, **others)


def of(kind: type[E]) -> Callable[..., Message[E]]:
    """Return a function that makes messages of a class of errors: see `record`."""
    return partial(record, kind)


def give_codes(names: Mapping[str, object]) -> None:
    """Give each record among the names of a module its code, for which it is called.

    `unknown_column` becomes `unknown-column`; a record that already has a code keeps it. Warnings
    have no code: Python prints the name of their class.
    """
    for name, value in names.items():
        if isinstance(value, Message) and issubclass(value.kind, kinds.MatchRecognizeError):
            code = value.code or name.strip("_").lower().replace("_", "-")
            object.__setattr__(value, "code", code)  # the record is frozen for everything else


parse_error = of(kinds.MatchRecognizeParseError)
plan_error = of(kinds.MatchRecognizePlanError)
unsupported = of(kinds.MatchRecognizeUnsupportedError)
run_error = of(MatchRecognizeRunError)
refused = of(kinds.MatchRecognizeError)
