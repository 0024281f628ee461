"""The arguments of `%%matchrec`, and how the texts in them are read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from matchrec.arguments import COUNT, Algorithm
from matchrec.cli.argument_types import suggest_setting
from matchrec.cli.values import PlainValue, read_plain_value
from matchrec.errors import cells as cell_errors
from matchrec.errors import command as errors

# The first words of SQL queries, SASE+ queries and clauses.
QUERY_KEYWORDS = ("SELECT", "WITH", "FROM", "VALUES", "PATTERN", "PARTITION", "ORDER")

# A word of a line, as IPython splits it: quotes only count at the start of a word.
WORD = re.compile(r""""[^"]*"|'[^']*'|\S+""")

# The options without a value.
FLAGS = ("--coverage", "--explain", "--why")
# The options with one hyphen. Each has a value.
SHORT_OPTIONS = ("-o", "-n")

# Maps an argument to the argument without which it has no effect.
NEEDED_ARGUMENTS = {"between": "plot", "partition": "why", "row": "why"}


@dataclass(frozen=True, slots=True)
class CellArguments:
    """The arguments in the first line of a cell, by their names in Python.

    They are documented at `MatchrecMagics.matchrec`. None means that the user did not pass the
    argument.
    """

    output: str | None
    limit: int
    explain: bool
    why: bool
    # Texts such as `sym=A`.
    partition: list[str] | None
    # The values of the ORDER BY columns, as texts.
    row: list[str] | None
    coverage: bool
    # The columns for x, y and the series, if there is one.
    plot: list[str] | None
    between: list[str] | None
    events: str | None
    order_by: list[str] | None
    partition_by: list[str] | None
    type_column: str | None
    dialect: str | None
    # As the user wrote it: `matchrec.Options` checks it.
    algorithm: Algorithm

    def check(self) -> None:
        """Check the limit, and that arguments which need another one have it.

        Raises:
            MatchRecognizeError: an argument is wrong, or needs another one.
        """
        COUNT.check("%%matchrec", "--limit", self.limit)
        for name, needed in NEEDED_ARGUMENTS.items():
            if getattr(self, name) and not getattr(self, needed):
                raise errors.argument_needs_another(argument=f"--{name}", other=f"--{needed}")

    def read_partition(self) -> dict[str, PlainValue] | None:
        """Return the values of the PARTITION BY columns by their names; None without --partition.

        Raises:
            MatchRecognizeError: an argument has no `=`.
        """
        if not self.partition:
            return None
        values = {}
        for argument in self.partition:
            text = remove_quotes(argument)
            name, equals_sign, value = text.partition("=")
            if not equals_sign:
                example = suggest_setting("--partition", text)
                raise cell_errors.partition_without_value(value=text, example=example)
            values[name] = parse_argument_value(value)
        return values

    def read_row(self) -> tuple[PlainValue, ...] | None:
        """Return the ORDER BY values of the row to explain; None if there are none."""
        if not self.row:
            return None
        return tuple(parse_argument_value(value) for value in self.row)


def remove_quotes(text: str) -> str:
    """Return an argument without the quotes around it, which IPython leaves.

    >>> remove_quotes('"abs(x), y"'), remove_quotes("x")
    ('abs(x), y', 'x')
    """
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if is_quoted else text


def parse_argument_value(text: str) -> PlainValue:
    """Return the value of an argument, as the command line reads it.

    Double quotes only group words and are dropped. Single quotes make it a string.
    """
    return read_plain_value(remove_quotes(text) if text.startswith('"') else text)


def split_line(line: str) -> tuple[str, str]:
    """Split the line of `%matchrec` into arguments and query.

    The query starts at the first SQL keyword, or is the last word. A keyword in quotes or after an
    option that needs a value belongs to the arguments.

    >>> split_line("-n 5 SELECT * FROM t"), split_line("--events t --order-by at rises")
    (('-n 5 ', 'SELECT * FROM t'), ('--events t --order-by at ', 'rises'))
    """
    line = line.rstrip()
    previous_word = ""
    for match in WORD.finditer(line):
        word = match.group()
        if word.upper() in QUERY_KEYWORDS and not needs_value(previous_word):
            return line[: match.start()], line[match.start() :]
        previous_word = word
    return line.removesuffix(previous_word), previous_word


def needs_value(word: str) -> bool:
    """Return whether a word is an option whose value is the next word.

    >>> needs_value("--output"), needs_value("--output=rises"), needs_value("--why")
    (True, False, False)
    """
    is_long_option = word.startswith("--") and "=" not in word
    return word in SHORT_OPTIONS or (is_long_option and not is_flag(word))


def is_flag(word: str) -> bool:
    """Return whether a word is an option without a value, which users may shorten: `--cov`."""
    return word.startswith("--") and any(flag.startswith(word) for flag in FLAGS)


def build_why_line(line: str) -> str:
    """Return the `%%matchrec` line that explains a query, given the arguments with which it ran.

    >>> build_why_line("--events loads --order-by at --coverage"), build_why_line("")
    ('%%matchrec --events loads --order-by at --why', '%%matchrec --why')
    """
    # Words keep their quotes and the blanks in them.
    other_arguments = [word for word in WORD.findall(line) if not is_flag(word)]
    return " ".join(["%%matchrec", *other_arguments, "--why"])
