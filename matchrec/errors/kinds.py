"""The classes of errors, and how an error or a warning prints.

unknown column `prise` in DEFINE [unknown-column]       headline: message and code
  line 3, column 21                                     the excerpt of each span
      DEFINE DOWN AS prise < PREV(price)
                     ^^^^^
  note: the input has: sym, ts, price                   notes
  help: write price                                     hint
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import isroutine
from reprlib import Repr
from string import digits
from types import MappingProxyType

from typing_extensions import Self

from matchrec.errors.language import Language, reading_language
from matchrec.errors.run import origins
from matchrec.errors.run import place as carried
from matchrec.errors.run.place import RowLocation
from matchrec.source import Source, Span, printable


class Located(Exception):  # noqa: N818 -- what errors and warnings share
    """A message about a query: what errors and warnings have in common.

    Args:
        message: what is wrong, one sentence.
        spans: where it is in the query's text, the main one first; empty if there is no text.
        notes: facts that explain it.
        hint: what to write instead.
    """

    # The name in the first span that the carets point at; None for the whole span.
    culprit: str | None = None
    # The name of the rule, in a set of rules, that the message is about.
    rule: str | None = None

    def __init__(
        self,
        message: str,
        *spans: Span | None,
        notes: tuple[str, ...] = (),
        hint: str | None = None,
    ) -> None:
        """See the class."""
        super().__init__(message)
        self.message = message
        self.spans = tuple(span for span in spans if span is not None)
        self.notes = notes
        self.hint = hint
        # The text of the query, once it is known: see `located`.
        self.source: Source | None = None

    @property
    def headline(self) -> str:
        """The first line of the message as it prints."""
        return self.message

    @property
    def span(self) -> Span | None:
        """The main location in the query's text; None if there is none."""
        return self.spans[0] if self.spans else None

    def located(self, source: Source) -> Self:
        """Return this error with the text of its query, so that it can show the lines it is about.

        If it has a text already, that one is kept: the innermost text is the right one. Spans in a
        text that was made from another one are moved to that one.
        """
        self.source = self.source or source
        if self.culprit is not None and self.spans:
            self.spans = (self.source.find(self.culprit, self.spans[0]), *self.spans[1:])
            self.culprit = None
        self.spans = tuple(self.source.written(span)[1] for span in self.spans)
        self.source = self.source.author
        return self

    def under(self, culprit: str) -> Self:
        """Return this error with carets under one name in its first span, not under all of it."""
        self.culprit = culprit
        return self

    def __str__(self) -> str:
        """Return the message as it prints, see the module."""
        excerpts = [self.source.excerpt(span) for span in self.spans] if self.source else []
        return printable("\n".join([self.headline, *excerpts, *self.labelled_lines()]))

    def labelled_lines(self) -> list[str]:
        """Return the notes and the hint, each with its label."""
        lines = [labelled("note", note) for note in self.notes]
        if self.hint:
            lines.append(labelled("help", self.hint))
        return lines


def labelled(label: str, text: str) -> str:
    """Return a line of a message with its label. Other lines of the text are indented to match.

    >>> print(labelled("note", "some of them:\\nsym = X"))
      note: some of them:
            sym = X
    """
    first = f"  {label}: "
    return first + text.replace("\n", "\n" + " " * len(first))


def with_code(message: str, code: str | None) -> str:
    """Return a message with its code at the end of the first line.

    >>> with_code("unknown column `low` in DEFINE", "unknown-column")
    'unknown column `low` in DEFINE [unknown-column]'
    """
    first, line_break, other_lines = message.partition("\n")
    return message if code is None else f"{first} [{code}]{line_break}{other_lines}"


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
        """The first line of the message as it prints, with the code."""
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

    # All fields as one line of text, for an error that a worker raises; else None.
    _fields: str | None = None

    def at(self, place: RowLocation) -> Self:
        """Return this error with the partition and the number of the row that it is about."""
        self.partition = place.partition
        self.row_number = None if place.relevant_only else place.row_number
        return self

    def with_fields(self) -> MatchRecognizeRunError:
        """Return the error for a worker to raise: `from_exception` reads its last line.

        Spark passes only the text of an exception from a worker to the driver.
        """
        names = ("message", "notes", "hint", "code", "row_number")
        fields = {name: getattr(self, name) for name in names}
        fields["partition"] = dict(self.partition)
        error = MatchRecognizeRunError(self.message, notes=self.notes, hint=self.hint)
        error.code = self.code
        error._fields = carried.written(fields)
        return error

    def labelled_lines(self) -> list[str]:
        """Return the notes and the hint, and last the fields if a worker raises the error."""
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
            run_error = (
                getattr(exception, TOLD, None)
                or cls._from_fields(str(exception))
                or cls._from_sql(str(exception))
            )
            if run_error is not None:
                run_error.__cause__ = error
                return run_error
        return None

    @classmethod
    def _from_fields(cls, text: str) -> MatchRecognizeRunError | None:
        """Return the error whose fields a worker has put into a text; None if there are none."""
        fields = carried.read(text)
        if fields is None:
            return None
        error = cls(fields["message"], notes=tuple(fields["notes"]), hint=fields["hint"])
        error.code = fields["code"]
        error.partition = fields["partition"]
        error.row_number = fields["row_number"]
        return error

    @classmethod
    def _from_sql(cls, text: str) -> MatchRecognizeRunError | None:
        """Return the error of an expression that Spark could not compute.

        None if the text shows no SQL that matchrec has made.
        """
        failure = origins.read(text)
        return None if failure is None else cls.of_failure(failure)

    @classmethod
    def of_failure(cls, failure: origins.Failure) -> MatchRecognizeRunError:
        """Return the error of an expression that could not be computed."""
        error = cls(failure.message, failure.span, hint=failure.hint)
        error.code = NOT_COMPUTED
        return error if failure.text is None else error.located(Source(failure.text))


# The code of an error that the engine raises in SQL that matchrec made from the user's expressions.
NOT_COMPUTED = "expression-not-computed"

# The attribute of an engine's error that holds ours, if `spark.errors.second_look` has found the
# expression that failed.
TOLD = "told_by_matchrec"


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """Return an error, then the errors that led to it, each once."""
    visited: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in visited:
        yield current
        visited.append(current)
        current = current.__cause__ or current.__context__


# Texts in messages.


def join_names(names: Iterable[str]) -> str:
    """Join names as a sentence lists them; "none" if there are none."""
    return ", ".join(names) or "none"


# How many characters of the user's text a sentence repeats.
LONGEST = 75


def shorten(text: str) -> str:
    """Return the user's text as a sentence repeats it: in one line, cut off if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST].rstrip()}..."


def find_library(value: object) -> str | None:
    """Return the library of a value of a library with DataFrames other than Spark's, or None."""
    libraries = {"pandas": "pandas", "polars": "Polars", "pyarrow": "pyarrow"}
    module = type(value).__module__
    is_on_spark = module.startswith("pyspark.pandas.")
    return "pandas-on-Spark" if is_on_spark else libraries.get(module.split(".")[0])


# The modules of classes whose `repr` is short and quick.
PYTHONS_OWN = ("builtins", "datetime", "decimal")


def describe_value(value: object) -> str:
    """Return a value as a message shows it: short, with its type.

    The `repr` of a class of another library is never called, because it may run a query.

    >>> describe_value(3), describe_value(None), describe_value(dict)
    ('3, of type int', 'None', 'the class dict')
    >>> describe_value([object()]), describe_value(lambda row: row > 3)
    ('[<object>], of type list', 'a function')
    """
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isroutine(value):
        return "a function"
    library = find_library(value)
    if library is not None:
        return f"a {library} {type(value).__name__}"
    if type(value).__module__ not in PYTHONS_OWN or type(value) is object:
        return f"of type {type(value).__name__}"
    return f"{SHORT.repr(value)}, of type {type(value).__name__}"


# Larger integers are not written out.
MOST_BITS = 1000


class _Short(Repr):
    """A `repr` that cuts long values, and shows only the type of objects from other libraries."""

    def repr_int(self, x: int, level: int) -> str:
        """Return an integer; Python refuses to write one of thousands of digits."""
        if x.bit_length() >= MOST_BITS:
            return f"a number of {x.bit_length()} bits"
        return super().repr_int(x, level)

    def repr_instance(self, x: object, level: int) -> str:
        """Return a value that is not a number, string or container of Python."""
        del level
        is_plain = type(x).__module__ in PYTHONS_OWN and type(x) is not object and not isroutine(x)
        return repr(x)[: self.maxother] if is_plain else f"<{type(x).__name__}>"


SHORT = _Short()
SHORT.maxstring = SHORT.maxother = 40


# Misspellings.

# The parts of a clause, for `find_keyword`.
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


def find_keyword(word: str) -> str | None:
    """Return the part of the clause whose first word `word` probably misspells, or None.

    >>> find_keyword("PARTITON"), find_keyword("DEFIEN"), find_keyword("price")
    ('PARTITION BY', 'DEFINE', None)
    """
    parts_by_first_word = {part.split()[0]: part for part in KEYWORDS}
    first_word = find_nearest(word, parts_by_first_word)
    return None if first_word is None else parts_by_first_word[first_word]


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` is probably a misspelling of, or None.

    Two names are near if one of these holds, whatever their case, with hyphens as underscores:

    - letters are wrong, missing, too many or swapped with the next one: one letter in a name of
      three or more, one in four in a longer name;
    - one name begins with the other, and both have three letters or more;
    - they differ only by the number at their ends.

    >>> find_nearest("DWN", ["STRT", "DOWN", "UP"]), find_nearest("pirce", ["price"])
    ('DOWN', 'price')
    >>> find_nearest("B", ["A"])
    >>> find_nearest("P1", ["A", "P"])
    'P'
    """
    upper = name.upper().replace("-", "_")
    most = max(len(name) >= 3, len(name) // 4)
    candidates = []
    for known_name in known:
        distance = misspelling_distance(upper, known_name.upper(), most)
        if distance <= most or begins(upper, known_name.upper()):
            candidates.append((distance, known_name))
    if not candidates:
        return None
    _, nearest_name = min(candidates, key=lambda candidate: candidate[0])
    return nearest_name


def begins(left: str, right: str) -> bool:
    """Return whether one name begins with the other, or they differ only by their last number.

    A name that begins another one has at least three letters.
    """
    if left.rstrip(digits) == right.rstrip(digits) != "":
        return True
    return min(len(left), len(right)) >= 3 and (left.startswith(right) or right.startswith(left))


def misspelling_distance(written: str, meant: str, most: int) -> int:
    """Return how many letters are wrong, missing, too many or swapped with the next one.

    This is the optimal string alignment distance; `most` + 1 if it is more than `most`.

    >>> misspelling_distance("DWN", "DOWN", 2), misspelling_distance("pirce", "price", 2)
    (1, 1)
    >>> misspelling_distance("x", "price", 2)
    3
    """
    if abs(len(written) - len(meant)) > most:
        return most + 1
    # Rows of the distances between the beginnings of both texts: row[j] is the one between the
    # letters of `written` so far and the first j letters of `meant`.
    row_before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, letter in enumerate(written):
        two_rows_before = row_before
        row_before = row
        row = [i + 1]
        for j, other in enumerate(meant):
            replaced = row_before[j] + (letter != other)
            left_out = row_before[j + 1] + 1
            added = row[j] + 1
            distance = min(replaced, left_out, added)
            if i and j and (letter, other) == (meant[j - 1], written[i - 1]):
                distance = min(distance, two_rows_before[j - 1] + 1)
            row.append(distance)
    return min(row[-1], most + 1)


@contextmanager
def located_in(source: Source, language: Language | None = None) -> Iterator[None]:
    """Let errors raised inside of the `with` statement show their lines of a text.

    An error that has a text already keeps it.

    Args:
        source: the text that is read inside.
        language: its language; None for the language of the text around it.
    """
    try:
        with reading_language(language), origins.reading(source):
            yield
    except MatchRecognizeError as error:
        error.located(source)
        raise
