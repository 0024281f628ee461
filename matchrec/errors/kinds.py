"""The classes of errors, and how an error or a warning prints.

unknown column `prise` in DEFINE [unknown-column]       headline: message and code
  line 3, column 21                                     the excerpt of each span
      DEFINE DOWN AS prise < PREV(price)
                     ^^^^^
  note: the input has: sym, ts, price                   notes
  help: write price                                     hint
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, TypeVar

from matchrec.errors.language import Language, use_language
from matchrec.errors.run import location as locations
from matchrec.errors.run import origins, sql_failures
from matchrec.errors.run.location import RowLocation
from matchrec.errors.wording import shorten
from matchrec.public_names import public
from matchrec.source import Source, Span, replace_control_characters

# A placeholder in hints. The user's text at the first span replaces it once the query is known.
USERS_TEXT = "\N{OBJECT REPLACEMENT CHARACTER}"

# The code of an error that the engine raises in SQL that matchrec made from the user's expressions.
NOT_COMPUTED = "expression-not-computed"

# The attribute of an engine's error that holds matchrec's: see `spark.errors.failed_actions`.
OUR_ERROR = "matchrec_error"


class Located(Exception):  # noqa: N818 -- what errors and warnings share
    """A message about a query: what errors and warnings have in common.

    Args:
        message: what is wrong, one sentence.
        spans: the locations of the mistake in the query's text, the main one first. None is left
            out.
        notes: facts that explain the message. Empty texts are left out.
        hint: what to write instead; None or "" if that is not known.
    """

    # The name in the first span that the carets mark; None for the whole span: see `point_at`.
    _culprit: str | None = None
    # The argument of the call, such as `order_by`, whose value is wrong; None if the text of the
    # query is: see `about_argument`.
    _argument: str | None = None
    # The name of the rule, in a set of rules, that the message is about.
    rule: str | None = None

    def __init__(
        self,
        message: str,
        *spans: Span | None,
        notes: tuple[str, ...] = (),
        hint: str | None = None,
    ) -> None:
        """Store the parts of the message, as the class describes them."""
        # Not `super()`: the classes of PySpark that some errors also have take other arguments.
        Exception.__init__(self, message)
        self.message = message
        self.spans = tuple(span for span in spans if span is not None)
        self.notes = tuple(note for note in notes if note)
        self.hint = hint or None
        # The text of the query, once it is known: see `with_source`.
        self.source: Source | None = None

    @property
    def _headline(self) -> str:
        """The first line of the message as it prints."""
        return self.message

    @property
    def line(self) -> int | None:
        """The line of the query's text, from 1; None if the message is about no text."""
        return self._position[0]

    @property
    def column(self) -> int | None:
        """The column in this line, from 1; None if the message is about no text."""
        return self._position[1]

    @property
    def _position(self) -> tuple[int, int] | tuple[None, None]:
        """The line and the column, from 1; None for both if the message is about no text."""
        if self.source is None or self.span is None:
            return None, None
        return self.source.find_position(self.span.start)

    @property
    def span(self) -> Span | None:
        """The characters of the query's text that the message is about; None if there are none."""
        return self.spans[0] if self.spans else None

    def __str__(self) -> str:
        """Return the message as it prints: the headline, the lines of the text, notes and help."""
        excerpts = [self.source.format_excerpt(span) for span in self.spans] if self.source else []
        return replace_control_characters(
            "\n".join([self._headline, *excerpts, *self._format_labelled_lines()])
        )

    def _format_labelled_lines(self) -> list[str]:
        """Return the notes and the hint, each with its label."""
        lines = [format_labelled("note", note) for note in self.notes]
        if self.hint:
            lines.append(format_labelled("help", self.hint))
        return lines


# The class of an error or a warning that a function changes and returns.
L = TypeVar("L", bound=Located)


def with_source(error: L, source: Source) -> L:
    """Return an error or a warning with the text of its query, so that it can show its lines.

    An error that already has a text keeps it, because the innermost text is the right one. If the
    text was made from the user's text, the spans are moved to the user's text.
    """
    source = error.source or source
    if error._culprit is not None and error.spans:
        error.spans = (source.find_name(error._culprit, error.spans[0]), *error.spans[1:])
        error._culprit = None
    error.spans = tuple(source.trace_to_author(span)[1] for span in error.spans)
    error.source = source.author
    if error.spans:
        heading = error.source.find_section(error.spans[0].start).heading
        error.message = _name_call(error.message, heading) if heading else error.message
    if error.hint is not None and error.spans:
        users_text = shorten(error.source.text_at(error.spans[0]))
        error.hint = error.hint.replace(USERS_TEXT, users_text)
    return error


def _name_call(message: str, call: str) -> str:
    """Return a message about a condition of a Pattern with the call that has the condition.

    >>> _name_call("unknown column `x` in a condition", "where() of stage `a`")
    'unknown column `x` in where() of stage `a`'
    """
    message = re.sub(r"\bin a condition( of a stage)?", lambda _: f"in {call}", message)
    # The name of the test, as `definitions.TestDefinitions` makes it, is not the user's.
    return re.sub(r"\bthe condition of `:[^`]*`", lambda _: call, message)


def point_at(error: L, culprit: str) -> L:
    """Return an error with carets under one name in its first span, not under all of it."""
    error._culprit = culprit
    return error


def about_argument(error: L, argument: str | None) -> L:
    """Return an error that is about the value of an argument, not about the text of the query.

    The command line ends such an error with the exit code of a wrong option. An error that is about
    an argument already keeps it.

    Args:
        error: the error.
        argument: the name of the argument in Python, such as `order_by`; None for no argument.
    """
    error._argument = error._argument or argument
    return error


@contextmanager
def blame_argument(argument: str | None) -> Iterator[None]:
    """Let errors that are raised inside of the `with` statement be about an argument."""
    try:
        yield
    except MatchRecognizeError as error:
        about_argument(error, argument)
        raise


def format_labelled(label: str, text: str) -> str:
    """Return a line of a message with its label. Other lines of the text are indented to match.

    >>> print(format_labelled("note", "some of them:\\nsym = X"))
      note: some of them:
            sym = X
    """
    first = f"  {label}: "
    return first + text.replace("\n", "\n" + " " * len(first))


def add_code(message: str, code: str | None) -> str:
    """Return a message with its code at the end of the first line.

    >>> add_code("unknown column `low` in DEFINE", "unknown-column")
    'unknown column `low` in DEFINE [unknown-column]'
    """
    first, line_break, other_lines = message.partition("\n")
    return message if code is None else f"{first} [{code}]{line_break}{other_lines}"


@public
class MatchRecognizeError(Located, ValueError):
    """An error in a query or a call, with its location and what to write instead.

    Attributes:
        message: what is wrong, one sentence.
        code: a stable name of the error, such as `unknown-column`. docs/reference/error_codes.md
            lists all codes.
        line: the line of the query's text, from 1; None if the error is about no text.
        column: the column in this line, from 1, or None.
        notes: the lines `note:`, which state facts.
        hint: the line `help:`, which says what to write; None if that is not known.
        rule: the name of the rule in a set of rules that the error is about, or None.
        condition: the name that Databricks SQL gives to an error of this meaning, or None.

    >>> try:
    ...     matchrec.match_recognize(spark.range(3), "ORDER BY id PATTERN (A DEFINE A AS id > 1")
    ... except matchrec.MatchRecognizeError as error:
    ...     print(error)
    ...     print(error.code, error.line, error.column, error.hint, sep="; ")
    `(` is not closed in MATCH_RECOGNIZE [bracket-not-closed]
      line 1, column 21
          ORDER BY id PATTERN (A DEFINE A AS id > 1
                              ^
      line 1, column 24
          ORDER BY id PATTERN (A DEFINE A AS id > 1
                                 ^^^^^^
      help: add `)` before DEFINE
    bracket-not-closed; 1; 21; add `)` before DEFINE
    """

    # The values of an error that is made without calling the class, as `spark.errors.error_classes`
    # does.
    code: str | None = None
    condition: str | None = None

    def __init__(
        self,
        message: str,
        *spans: Span | None,
        notes: tuple[str, ...] = (),
        hint: str | None = None,
        code: str | None = None,
        condition: str | None = None,
    ) -> None:
        """Store the attributes. `spans` are locations in the query's text, the main one first."""
        super().__init__(message, *spans, notes=notes, hint=hint)
        self.code = code
        self.condition = condition

    @property
    def _headline(self) -> str:
        """The first line of the message as it prints, with the code."""
        return add_code(self.message, self.code)


@public
class MatchRecognizeParseError(MatchRecognizeError):
    """The text of a query cannot be read: its syntax is wrong.

    It has the attributes of `MatchRecognizeError`.
    """


@public
class MatchRecognizePlanError(MatchRecognizeError):
    """The query or the call is wrong, for example because a name is unknown.

    It has the attributes of `MatchRecognizeError`.
    """


@public
class MatchRecognizeUnsupportedError(MatchRecognizeError):
    """The query asks for something that matchrec does not support.

    It has the attributes of `MatchRecognizeError`.
    """


@public
class MatchRecognizeRunError(MatchRecognizeError):
    """The query fails on its rows, so the error appears only when the query runs.

    The error that an action raises also has a class of PySpark, such as `PythonException`.

    Attributes:
        partition: the partition values, by column name. Empty if there is only one partition, or if
            the partition does not matter.
        row_number: the number of the row in its partition, from 1, or None if it is not known.
    """

    partition: Mapping[str, object] = MappingProxyType({})
    row_number: int | None = None

    # The fields of an error that a worker raises, as one line of text; None for other errors. The
    # name is not `_fields`: `help` would take the class for a named tuple and show private names.
    _fields_line: str | None = None

    def __init__(
        self, message: str, *spans: Span | None, location: RowLocation | None = None, **parts: Any
    ) -> None:
        """Store the arguments of the base class, and the partition and row number of `location`."""
        super().__init__(message, *spans, **parts)
        if location is not None:
            self.partition = location.partition
            self.row_number = None if location.relevant_only else location.row_number

    def _format_labelled_lines(self) -> list[str]:
        """Return the notes and the hint, and last the fields if a worker raises the error."""
        lines = super()._format_labelled_lines()
        return lines if self._fields_line is None else [*lines, f"  {self._fields_line}"]

    @classmethod
    def from_exception(cls, error: BaseException) -> MatchRecognizeRunError | None:
        """Return the error of matchrec inside an error of Spark, or None for any other error.

        Use it for errors of streams, and for errors that another library has wrapped. The error
        that an action raises has the same attributes itself.
        Partition values of types that JSON lacks, such as dates, are strings.

        Args:
            error: the exception of an action, or the result of `StreamingQuery.exception()`. It
                becomes the cause of the result.

        >>> matches = matchrec.match_recognize(spark.range(3), '''
        ...     ORDER BY id MEASURES COUNT(*) AS n PATTERN (A B+)
        ...     DEFINE B AS B.id > FIRST(A.id)
        ... ''', options=matchrec.Options(max_steps=1))
        >>> try:
        ...     matches.collect()
        ... except Exception as error:
        ...     print(matchrec.MatchRecognizeRunError.from_exception(error).message)
        the search in a partition takes more than 1 step, the limit of `max_steps`
        """
        for exception in walk_causes(error):
            run_error: MatchRecognizeRunError | None = getattr(exception, OUR_ERROR, None)
            if run_error is None and isinstance(exception, MatchRecognizeRunError):
                return exception
            run_error = (
                run_error or cls._from_fields(str(exception)) or cls._from_sql(str(exception))
            )
            if run_error is not None:
                run_error.__cause__ = error
                return run_error
        return None

    @classmethod
    def _from_fields(cls, text: str) -> MatchRecognizeRunError | None:
        """Return the error whose fields a worker has put into a text; None if there are none."""
        fields = locations.read_fields(text)
        if fields is None:
            return None
        error = cls(
            fields["message"],
            notes=tuple(fields["notes"]),
            hint=fields["hint"],
            code=fields["code"],
        )
        error.partition = fields["partition"]
        error.row_number = fields["row_number"]
        if fields["text"] is not None:
            error.spans = (Span(*fields["span"]),)
            error.source = Source(fields["text"])
        return error

    @classmethod
    def _from_sql(cls, text: str) -> MatchRecognizeRunError | None:
        """Return the error of an expression that Spark could not compute.

        None if the text shows no SQL that matchrec has made.
        """
        failure = sql_failures.find_failure(text)
        return None if failure is None else make_computation_error(failure)


def with_fields(error: MatchRecognizeRunError) -> MatchRecognizeRunError:
    """Return a copy of an error for a worker to raise: `from_exception` reads its last line.

    Spark passes only the text of an exception from a worker to the driver.
    """
    names = ("message", "notes", "hint", "code", "row_number")
    fields = {name: getattr(error, name) for name in names}
    fields["partition"] = dict(error.partition)
    fields["text"] = fields["span"] = None
    if error.source is not None and error.span is not None:
        fields["text"] = error.source.text
        fields["span"] = (error.span.start, error.span.end)
    raised = MatchRecognizeRunError(
        error.message, error.span, notes=error.notes, hint=error.hint, code=error.code
    )
    raised.source = error.source
    raised._fields_line = locations.write_fields(fields)
    return raised


def make_computation_error(failure: sql_failures.ComputationFailure) -> MatchRecognizeRunError:
    """Return the error of an expression that could not be computed."""
    error = MatchRecognizeRunError(
        failure.message, failure.span, notes=failure.notes, hint=failure.hint, code=NOT_COMPUTED
    )
    return error if failure.text is None else with_source(error, Source(failure.text))


# A function that returns the error of a running query. The argument `location` is the row in the
# user's terms; the other arguments differ from function to function.
MakeRunError = Callable[..., MatchRecognizeRunError]


def walk_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, then the errors that led to it, each once."""
    visited: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in visited:
        yield current
        visited.append(current)
        current = current.__cause__ or current.__context__


@contextmanager
def locate_errors(source: Source, language: Language | None = None) -> Iterator[None]:
    """Let errors raised inside of the `with` statement show their lines of a text.

    An error that has a text already keeps it.

    Args:
        source: the text that is read inside.
        language: its language; None for the language of the text around it.
    """
    try:
        with use_language(language), origins.use_source(source):
            yield
    except MatchRecognizeError as error:
        with_source(error, source)
        raise
