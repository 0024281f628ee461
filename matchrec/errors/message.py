"""Messages as records: what an error says, in words with fields, and what fills them.

    unclosed = parse_error("`{opening}` is not closed in PATTERN", hint="add `{closing}`")
    raise unclosed("(", ")", span)

The modules of this room are a catalogue of such records, by topic. What has to look at its values
to find its words is a function beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from matchrec.dataclass import dataclass
from matchrec.errors.kinds import (
    MatchRecognizeError,
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
    listed,
    shortened,
)
from matchrec.errors.language import current, part
from matchrec.errors.run.place import RowPlace
from matchrec.errors.surface import here
from matchrec.source import Span

E = TypeVar("E", bound=MatchRecognizeError)
Value: TypeAlias = "str | int | Iterable[str] | RowPlace | Span | tuple[Span | None, ...] | None"
_FIELD = (
    r"\{(?:part\[(?P<part>[A-Z ]+)\]|word\.(?P<word>\w+)|here\.(?P<here>\w+)"
    r"|option\[(?P<option>\w+)=(?P<value>\w+)\]|(?P<name>[a-z_]+)(?P<form>:short|:,)?)\}"
)


@dataclass(frozen=True)
class Message(Generic[E]):
    """One message of the catalogue, which called with its values is an error.

    A field is the name of a value in braces: of one that is several names, these are listed;
    `{text:short}` is one line of the user's text, `{limit:,}` a number with commas. `{word.one}`
    and `{part[DEFINE]}` are words of the language that is being read, `{option[sort=spark]}` and
    `{here.marker}` what one writes on the surface that is in use. Other braces are braces.
    order: of the values, where sentence, notes and hint do not name them in it.
    """

    kind: type[E]
    sentence: str
    notes: tuple[str, ...] = ()
    hint: str | None = None
    order: str = ""

    def __call__(self, *values: Value) -> E:
        """The error of some values in their order, and of spans, which stand where one likes.

        One with the place of a row among its values is of that row.
        """
        spans = [span for one in values if _is_place(one) for span in _spans(one)]
        plain = [one for one in values if not _is_place(one)]
        named = dict(zip(self.fields, plain, strict=True))
        error = self.kind(
            _filled(self.sentence, named),
            *spans,
            notes=tuple(_filled(note, named) for note in self.notes),
            hint=None if self.hint is None else _filled(self.hint, named),
        )
        for place in plain:
            if isinstance(error, MatchRecognizeRunError) and isinstance(place, RowPlace):
                error.at(place)
        return error

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its values."""
        texts = (self.sentence, *self.notes, self.hint or "")
        found = (one["name"] for text in texts for one in re.finditer(_FIELD, text))
        return tuple(self.order.split() or dict.fromkeys(one for one in found if one))


def _is_place(value: object) -> bool:
    """Whether a value is where something was written: a span, several, or None for no text."""
    several = value if isinstance(value, tuple) and value else (value,)
    return all(one is None or isinstance(one, Span) for one in several)


def _spans(place: object) -> list[Span]:
    """The spans of a place."""
    several = place if isinstance(place, tuple) else (place,)
    return [one for one in several if isinstance(one, Span)]


def _filled(template: str, named: Mapping[str, object]) -> str:
    """A template with words and values in the places of its fields."""

    def fill(field: re.Match[str]) -> str:
        if field["part"]:
            return part(field["part"])
        if field["word"]:
            return str(getattr(current(), field["word"]))
        if field["here"]:
            return str(getattr(here(), field["here"])())
        if field["option"]:
            return here().option(field["option"], field["value"])
        value = named[field["name"]]
        if isinstance(value, int):
            return f"{value:,}" if field["form"] == ":," else str(value)
        if isinstance(value, str):
            return shortened(value) if field["form"] == ":short" else value
        return listed(value) if isinstance(value, Iterable) else str(value)

    return re.sub(_FIELD, fill, template)


def _message(
    kind: type[E],
    sentence: str,
    *,
    notes: tuple[str, ...] = (),
    hint: str | None = None,
    order: str = "",
) -> Message[E]:
    return Message(kind, sentence, notes, hint, order)


parse_error = partial(_message, MatchRecognizeParseError)
plan_error = partial(_message, MatchRecognizePlanError)
unsupported = partial(_message, MatchRecognizeUnsupportedError)
run_error = partial(_message, MatchRecognizeRunError)
refused = partial(_message, MatchRecognizeError)
