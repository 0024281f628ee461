"""Messages as records: what an error says, in words with fields, and what fills them.

    unclosed = parse_error('''`{opening}` is not closed in PATTERN
        note: the group starts there
        add `{closing}`''')
    raise unclosed(span, opening="(", closing=")")

The modules of this room are a catalogue of such records, by topic. What has to look at its values
to find its words is a function beside them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set, ValuesView
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from matchrec.errors import kinds
from matchrec.errors.kinds import MatchRecognizeRunError, listed, nearest
from matchrec.errors.language import as_note, current, current_surface, part
from matchrec.errors.run.place import RowPlace
from matchrec.source import Span


def sql_of(product: str) -> str:
    """What a message calls the SQL of a product; some are called by it."""
    return product if product.endswith("SQL") else f"{product.removeprefix('the ')} SQL"


def in_backticks(text: str) -> str:
    """A name, or a text in quotes, as a name in backticks."""
    name = text.strip("'\"").replace("`", "``")
    return f"`{name}`"


def as_name(text: str) -> str:
    """A name as a query has it: in backticks where it needs them."""
    return text if text.isidentifier() else in_backticks(text)


E = TypeVar("E", bound=kinds.Located)
_FIELD = (
    r"\{(?:part\[(?P<part>[A-Z ]+)\]|word\.(?P<word>\w+)|here\.(?P<here>\w+)(?:\[(?P<of>\w+)\])?"
    r"|option\[(?P<option>\w+|\{\w+\})(?:=(?P<value>[^\]]+))?\]"
    r"|(?P<name>[a-z_]+)(?:\[(?P<index>\d)\])?(?P<form>:[a-z]+|:,)?)\}"
)
_FORMS: Mapping[str | None, Callable[..., str]] = {
    ":short": kinds.shortened,
    ":line": lambda text: " ".join(text.split()),
    ":note": as_note,
    ":bare": lambda text: text.strip("`"),
    ":name": as_name,
    ":quoted": in_backticks,
    ":shown": kinds.shown,
    ":repr": repr,
    ":part": part,
    ":sql": sql_of,
    ":,": lambda number: f"{number:,}" if isinstance(number, int) else str(number),
}


@dataclass(frozen=True)
class Message(Generic[E]):
    """One message of the catalogue, which called with its values is an error, or a warning.

    A field is the name of a value in braces: of one that is several names, these are listed, and
    `{names[0]}` is the first of them; `{text:short}` is one line of the user's text, `{text:line}`
    all of it in one line, `{text:quoted}` a name in backticks, `{near:name}` one in those that it
    needs, `{limit:,}` a number with commas, `{value:shown}` any value of Python's. `{word.one}` and
    `{part[DEFINE]}` are words of the language that is being read, `{option[sort=spark]}` and
    `{here.marker}` what one writes on the surface that is in use; name and value of an option may
    have fields, and the value be one of several with `|` between them. `{option[max_steps]}` is the
    name alone. None is nothing, and a hint or a note without words is left out. Other braces are
    braces. A note with `{names:some}` is left out where there are no names. Names that are listed
    as they are written are the keys of a mapping.

    near: the hint where one of the names among the values is like `name`; it is `{near}`. hints: by
    the first value in upper case. culprit: the field under whose value the carets are. condition:
    the name that Databricks SQL gives to an error of this meaning. code: the error's code, where
    the name of the record does not say it; see `give_codes`.
    """

    kind: type[E]
    sentence: str
    notes: tuple[str, ...] = ()
    hint: str | None = None
    near: str | None = None
    hints: Mapping[str, str] = field(default_factory=dict)
    culprit: str | None = None
    condition: str | None = None
    code: str | None = None

    def __call__(self, *places: Span | tuple[Span | None, ...] | None, **values: object) -> E:
        """The error of the values of its fields, at those places that are known.

        One with the place of a row among its values is of that row.
        """
        assert values.keys() == set(self.fields), (self.sentence, *values)
        named = {name: _kept(values[name]) for name in self.fields}
        spans = [span for one in places for span in (one if isinstance(one, tuple) else (one,))]
        hint = _filled(self._hint(named) or "", named) or None
        filled = (_filled(note, named) for note in self.notes if _has_names(note, named))
        notes = tuple(note for note in filled if note)
        error = self.kind(_filled(self.sentence, named), *spans, notes=notes, hint=hint)
        if self.culprit is not None:
            error.culprit = str(named[self.culprit])
        if isinstance(error, kinds.MatchRecognizeError):
            error.condition, error.code = self.condition, self.code
        for place in named.values():
            if isinstance(error, MatchRecognizeRunError) and isinstance(place, RowPlace):
                error.at(place)
        return error

    def _hint(self, named: dict[str, Any]) -> str | None:
        """What to write instead, a template; the nearest of the known names becomes a value."""
        if self.near is not None:
            lists = (one for one in named.values() if isinstance(one, tuple | list | Mapping))
            named["near"] = nearest(named["name"], (name for names in lists for name in names))
            if named["near"]:
                return self.near
        first = next(iter(named.values()), None)
        return self.hints.get(first.upper(), self.hint) if isinstance(first, str) else self.hint

    @property
    def fields(self) -> tuple[str, ...]:
        texts = (self.sentence, *self.notes, self.near or "", self.hint or "")
        found = dict.fromkeys(name for text in texts for name in _names(text))
        return tuple(one for one in found if one != "near" or self.near is None)


def _names(template: str) -> Iterator[str]:
    for one in re.finditer(_FIELD, template):
        yield from _names(f"{one['option']}{one['value'] or ''}")
        if name := one["name"] or one["of"]:
            yield name


def _has_names(note: str, named: Mapping[str, object]) -> bool:
    """Whether there is what a note lists, if it is only for names."""
    lists = (one["name"] for one in re.finditer(_FIELD, note) if one["form"] == ":some")
    return all(named[name] for name in lists)


def _kept(value: object) -> object:
    """A value that may be asked for several times; a frame, which can be iterated, stays whole."""
    return tuple(value) if isinstance(value, Iterator | Set | ValuesView) else value


def worded(template: str) -> str:
    """A template without values, with the words that are in use in their places.

    >>> worded("unix_date({word.one}), {option[dialect=oracle]}")
    'unix_date(LAST(A.x)), dialect="oracle"'
    """
    return _filled(template, {})


def _filled(template: str, named: Mapping[str, object]) -> str:
    """A template with words and values in the places of its fields."""

    def fill(field: re.Match[str]) -> str:
        if field["part"]:
            return part(field["part"])
        if field["word"]:
            return str(getattr(current(), field["word"]))
        if field["here"]:
            words = str(getattr(current_surface(), field["here"]))
            return words.format(name=_text_of(named[field["of"]])) if field["of"] else words
        if field["option"]:
            name = _filled(field["option"], named)
            if field["value"] is None:
                return current_surface().name_of_option(name)
            chosen = _filled(field["value"], named).split("|")
            values = (int(one) if one.isdigit() else one for one in chosen)
            return current_surface().option(name, *values)
        value: Any = named[field["name"]]
        if field["index"]:
            value = value[int(field["index"])]
        if field["form"] in _FORMS:
            return _FORMS[field["form"]](value)
        return _text_of(value)

    return re.sub(_FIELD, fill, template)


def _text_of(value: object) -> str:
    """Return a value as a message shows it: several names are listed, and None is nothing."""
    if isinstance(value, Mapping):
        return listed(value.values())
    if isinstance(value, tuple | list):
        return listed(value)
    return "" if value is None else str(value)


MARKS = ("near", "culprit", "condition", "code")


def record(kind: type[E], text: str, notes: tuple[str, ...] = (), **others: Any) -> Message[E]:
    """Make a message of a text that looks as it prints.

    Its first line is the sentence. Lines below it with the mark `note:` are notes; the line without
    a mark is the hint. `near:`, `culprit:`, `condition:` and `code:` set these fields, and `case A
    | B:` is the hint for these values. A line that is indented further continues the one above.

    notes, others: what is put together of several texts.
    """
    sentence, *lines = (" ".join(line.split()) for line in re.split(r"\n {4}(?! )", text))
    hints: dict[str, str] = others.pop("hints", {})
    for line in lines:
        mark, _, rest = line.partition(": ")
        if mark == "note":
            notes = (*notes, rest)
        elif mark.startswith("case "):
            hints |= dict.fromkeys(mark.removeprefix("case ").split(" | "), rest)
        else:
            name, words = (mark, rest) if mark in MARKS else ("hint", line)
            assert name not in others, (sentence, name)
            others[name] = words
    return Message(kind, sentence, notes, hints=hints, **others)


def of(kind: type[E]) -> Callable[..., Message[E]]:
    return partial(record, kind)


def give_codes(names: Mapping[str, object]) -> None:
    """Give each record among the names of a module its code, for which it is called.

    `unknown_column` becomes `unknown-column`; a record with a code of its own keeps it. Warnings
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
