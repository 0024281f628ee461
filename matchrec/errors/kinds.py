"""The classes of error, and how an error or a warning prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import isroutine
from reprlib import Repr
from string import digits
from types import MappingProxyType

from typing_extensions import Self

from matchrec.errors.language import Language, reading
from matchrec.errors.run import origins
from matchrec.errors.run import place as carried
from matchrec.errors.run.place import RowPlace
from matchrec.source import Source, Span, printable


class Located(Exception):  # noqa: N818 -- what errors and warnings share
    """A message about a query: location, notes, hint.

    message: what is wrong, one sentence. spans: where, in the query's text; empty without a text.
    notes: what is known. hint: what to write instead. source: the query, once it is known.
    culprit: the name in the first span at which carets are to point, or None for the whole span.
    rule: the name of the rule of a set that it is about, or None.
    """

    culprit: str | None = None
    rule: str | None = None

    def __init__(
        self,
        message: str,
        *spans: Span | None,
        notes: tuple[str, ...] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.spans = tuple(span for span in spans if span is not None)
        self.notes = notes
        self.hint = hint
        self.source: Source | None = None

    @property
    def headline(self) -> str:
        """The first line of the message as it prints."""
        return self.message

    @property
    def span(self) -> Span | None:
        """Where it is, or None where there is no text."""
        return self.spans[0] if self.spans else None

    def located(self, source: Source) -> Self:
        """The error, which now can show its line; the innermost source wins."""
        self.source = self.source or source
        if self.culprit is not None and self.spans:
            self.spans = (self.source.find(self.culprit, self.spans[0]), *self.spans[1:])
            self.culprit = None
        self.spans = tuple(self.source.written(span)[1] for span in self.spans)
        self.source = self.source.author
        return self

    def under(self, culprit: str) -> Self:
        """The error with carets under a name in its span only."""
        self.culprit = culprit
        return self

    def __str__(self) -> str:
        excerpts = [self.source.excerpt(span) for span in self.spans] if self.source else []
        return printable("\n".join([self.headline, *excerpts, *self.labelled_lines()]))

    def labelled_lines(self) -> list[str]:
        """The notes, then the hint, each with its label."""
        lines = [labelled("note", note) for note in self.notes]
        if self.hint:
            lines.append(labelled("help", self.hint))
        return lines


def labelled(label: str, text: str) -> str:
    """A line of a message with its label; further lines of the text are indented below the first.

    >>> print(labelled("note", "some of them:\\nsym = X"))
      note: some of them:
            sym = X
    """
    first = f"  {label}: "
    return first + text.replace("\n", "\n" + " " * len(first))


def with_code(message: str, code: str | None) -> str:
    """A message with its code at the end of its first line.

    >>> with_code("unknown column `low` in DEFINE", "unknown-column")
    'unknown column `low` in DEFINE [unknown-column]'
    """
    first, line_break, rest = message.partition("\n")
    return message if code is None else f"{first} [{code}]{line_break}{rest}"


class MatchRecognizeError(Located, ValueError):
    """An error in a query or a call, with its location and what to write instead.

    Attributes:
        code: a stable name of the error, such as `unknown-column`. docs/reference/error_codes.md
            lists all codes.
        condition: the name that Databricks SQL gives to an error of this meaning, or None.

    >>> try:
    ...     matchrec.match_recognize(spark.range(3), "ORDER BY id PATTERN (A DEFINE A AS id > 1")
    ... except matchrec.MatchRecognizeError as error:
    ...     print(error)
    parenthesis of PATTERN is not closed [parenthesis-not-closed]
      line 1, column 21
          ORDER BY id PATTERN (A DEFINE A AS id > 1
                              ^
      note: `--` starts a comment, also in `{--` and `--}`
      help: add `)` where it ends
    """

    code: str | None = None
    condition: str | None = None

    @property
    def headline(self) -> str:
        return with_code(self.message, self.code)


class MatchRecognizeParseError(MatchRecognizeError):
    """The text of a query cannot be read: its syntax is wrong."""


class MatchRecognizePlanError(MatchRecognizeError):
    """The query or the call is wrong, for example because of an unknown name or a forbidden
    combination.
    """


class MatchRecognizeUnsupportedError(MatchRecognizeError):
    """The query asks for something that matchrec does not support."""


class MatchRecognizeRunError(MatchRecognizeError):
    """The query fails on its rows, so the error appears only when the query runs.

    Python workers raise it, so a program gets it inside an error of Spark: see `from_exception`.

    Attributes:
        partition: the partition values, by column name. Empty if there is only one partition, or if
            the partition does not matter.
        row_number: the number of the row in its partition, from 1, or None if it is not known.
    """

    partition: Mapping[str, object] = MappingProxyType({})
    row_number: int | None = None

    # All fields as one line of text, in an error on its way out of a worker; else None.
    _fields: str | None = None

    def at(self, place: RowPlace) -> Self:
        """The error, which is of a row now."""
        self.partition = place.partition
        self.row_number = None if place.relevant_only else place.row_number
        return self

    def with_fields(self) -> MatchRecognizeRunError:
        """The error for the way out of a worker: `from_exception` reads its last line."""
        names = ("message", "notes", "hint", "code", "row_number")
        fields = {name: getattr(self, name) for name in names}
        fields["partition"] = dict(self.partition)
        error = MatchRecognizeRunError(self.message, notes=self.notes, hint=self.hint)
        error.code = self.code
        error._fields = carried.written(fields)
        return error

    def labelled_lines(self) -> list[str]:
        lines = super().labelled_lines()
        return lines if self._fields is None else [*lines, f"  {self._fields}"]

    @classmethod
    def from_exception(cls, error: BaseException) -> MatchRecognizeRunError | None:
        """Return the error of matchrec inside an error of Spark, or None for any other error.

        A worker has raised it, or Spark has, in a condition or measure of a query of this process.
        Partition values of types that JSON lacks, such as dates, are strings.

        Args:
            error: the exception of an action, or the result of `StreamingQuery.exception()`. It
                becomes the cause of the result.

        >>> found = matchrec.match_recognize(spark.range(3), '''
        ...     ORDER BY id MEASURES COUNT(*) AS n PATTERN (A B+)
        ...     DEFINE B AS B.id > FIRST(A.id)
        ... ''', options=matchrec.Options(max_steps=1))
        >>> try:
        ...     found.collect()
        ... except Exception as error:
        ...     print(matchrec.MatchRecognizeRunError.from_exception(error).message)
        conditions that depend on the run were evaluated more than 1 times in a partition
        """
        for exception in chain_of(error):
            if isinstance(exception, MatchRecognizeRunError):
                return exception
            text = str(exception)
            found: MatchRecognizeRunError | None = getattr(exception, TOLD, None)
            if found is None and (fields := carried.read(text)) is not None:
                found = cls(fields["message"], notes=tuple(fields["notes"]), hint=fields["hint"])
                found.code = fields["code"]
                found.partition, found.row_number = fields["partition"], fields["row_number"]
            if found is None and (failure := origins.read(text)):
                found = cls.of_failure(failure)
            if found is not None:
                found.__cause__ = error
                return found
        return None

    @classmethod
    def of_failure(cls, failure: origins.Failure) -> MatchRecognizeRunError:
        found = cls(failure.message, failure.span, hint=failure.hint)
        found.code = NOT_COMPUTED
        return found if failure.text is None else found.located(Source(failure.text))


# The code of an error of the engine in SQL that matchrec made of a condition or measure.
NOT_COMPUTED = "expression-not-computed"

# The attribute of an engine's error that has ours, where a second look has found the place.
TOLD = "told_by_matchrec"


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """An error, then what led to it, each once."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in seen:
        yield one
        seen.append(one)
        one = one.__cause__ or one.__context__


def listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


LONGEST = 75  # characters of the user's text that a sentence repeats


def shortened(text: str) -> str:
    """Text of the user's as a sentence repeats it: in one line, and not beyond its beginning."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST].rstrip()}..."


def library_of(value: object) -> str | None:
    """The library of a frame that is no DataFrame of Spark, but may be called so."""
    libraries = {"pandas": "pandas", "polars": "Polars", "pyarrow": "pyarrow"}
    module = type(value).__module__
    is_on_spark = module.startswith("pyspark.pandas.")
    return "pandas-on-Spark" if is_on_spark else libraries.get(module.split(".")[0])


PYTHONS_OWN = ("builtins", "datetime", "decimal")


def shown(value: object) -> str:
    """A value in a message: short, and never by the `repr` of a class that is not Python's own.

    >>> shown(3), shown(None), shown(dict), shown([object()]), shown(lambda row: row > 3)
    ('3, of type int', 'None', 'the class dict', '[<object>], of type list', 'a function')
    """
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isroutine(value):
        return "a function"
    if library := library_of(value):
        return f"a {library} {type(value).__name__}"
    if type(value).__module__ not in PYTHONS_OWN or type(value) is object:
        return f"of type {type(value).__name__}"
    return f"{SHORT.repr(value)}, of type {type(value).__name__}"


MOST_BITS = 1000


class _Short(Repr):
    """Values cut short; `repr` of a DataFrame may run a query, so others are named by type."""

    def repr_int(self, x: int, level: int) -> str:
        many = f"a number of {x.bit_length()} bits"  # Python does not write thousands of digits
        return super().repr_int(x, level) if x.bit_length() < MOST_BITS else many

    def repr_instance(self, x: object, level: int) -> str:
        del level
        plain = type(x).__module__ in PYTHONS_OWN and type(x) is not object and not isroutine(x)
        return repr(x)[: self.maxother] if plain else f"<{type(x).__name__}>"


SHORT = _Short()
SHORT.maxstring = SHORT.maxother = 40

KEYWORDS = (
    "PARTITION BY",
    "ORDER BY",
    "MEASURES",
    "ONE ROW PER MATCH",
    "ALL ROWS PER MATCH",
    "AFTER MATCH SKIP",
    "PATTERN",
    "WITHIN",
    "SUBSET",
    "DEFINE",
)


def meant_keyword(word: str) -> str | None:
    """The part of the clause whose first word `word` was probably meant to be, or None.

    >>> meant_keyword("PARTITON"), meant_keyword("DEFIEN"), meant_keyword("price")
    ('PARTITION BY', 'DEFINE', None)
    """
    firsts = {part.split()[0]: part for part in KEYWORDS}
    return firsts.get(nearest(word, firsts) or "")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is probably a misspelling of, or None.

    A letter may be wrong, missing, too many or swapped with the next in a name of three or more,
    one in four of a longer one, or one name begins with the other, or they differ by the number at
    their ends; case does not count, and a hyphen is an underscore.

    >>> nearest("DWN", ["STRT", "DOWN", "UP"]), nearest("pirce", ["price"]), nearest("B", ["A"])
    ('DOWN', 'price', None)
    >>> nearest("P1", ["A", "P"])
    'P'
    """
    upper = name.upper().replace("-", "_")
    most = max(len(name) >= 3, len(name) // 4)
    distances = [(misspelt(upper, one.upper(), most), one) for one in known]
    near = [(wrong, one) for wrong, one in distances if wrong <= most or begins(upper, one.upper())]
    return min(near, key=lambda item: item[0])[1] if near else None


def begins(left: str, right: str) -> bool:
    """Whether one begins with the other, of three letters or more, or only last numbers differ."""
    if left.rstrip(digits) == right.rstrip(digits) != "":
        return True
    return min(len(left), len(right)) >= 3 and (left.startswith(right) or right.startswith(left))


def misspelt(written: str, meant: str, most: int) -> int:
    """How many letters are wrong, missing, too many or swapped; `most` + 1 if more than `most`."""
    if abs(len(written) - len(meant)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, letter in enumerate(written):
        before, last, row = row, before, [i + 1]
        for j, other in enumerate(meant):
            wrong = min(before[j] + (letter != other), before[j + 1] + 1, row[j] + 1)
            if i and j and (letter, other) == (meant[j - 1], written[i - 1]):
                wrong = min(wrong, last[j - 1] + 1)
            row.append(wrong)
    return min(row[-1], most + 1)


@contextmanager
def shown_in(source: Source, language: Language | None = None) -> Iterator[None]:
    """Errors raised inside show their lines of `source`, unless they have a text already.

    language: of the text; None is that of the text around it.
    """
    try:
        with reading(language), origins.reading(source):
            yield
    except MatchRecognizeError as error:
        error.located(source)
        raise
