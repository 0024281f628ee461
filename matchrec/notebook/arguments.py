"""Read the arguments of `%%matchrec`, and the values that the user wrote in them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from matchrec.arguments import COUNT, Algorithm
from matchrec.cli.argument_types import is_assignment, split_assignment, suggest_assignment
from matchrec.cli.values import PlainValue, read_plain_value
from matchrec.errors import cells as cell_errors
from matchrec.errors import command as errors

# The words with which the query of `%matchrec` can begin: SQL, SASE+ or a clause.
SQL_KEYWORDS = ("SELECT", "WITH", "FROM", "VALUES", "CREATE", "INSERT", "EXPLAIN")
CLAUSE_KEYWORDS = ("PARTITION", "ORDER", "MEASURES", "PATTERN")
QUERY_KEYWORDS = frozenset([*SQL_KEYWORDS, *CLAUSE_KEYWORDS])

# The keyword with which a word of a line begins, as in `(SELECT` and `select*from`. In `order=5`
# and `order.day`, the first letters are a part of something else.
LEADING_KEYWORD = re.compile(r"""\(*(\w+)(?=$|[*('"`{:])""")

# A word of a line, as IPython splits lines: quotes only count at the start of a word.
WORD = re.compile(r""""[^"]*"|'[^']*'|\S+""")

# The options without a value. A test compares them with those of `MatchrecMagics.matchrec`.
FLAGS = ("--coverage", "--explain", "--why")
# The options with one hyphen. Each has a value.
SHORT_OPTIONS = ("-o", "-n")

# The arguments that replace the rows of the result by an answer about the query. A cell has one.
ANSWERS = ("explain", "why", "coverage", "plot")

# The options that choose an answer, and `--between`, which belongs to `--plot`.
ANSWER_OPTIONS = ("--explain", "--why", "--coverage", "--plot", "--between")

# Maps an argument to the argument without which it has no effect.
NEEDED_ARGUMENTS = {"between": "plot", "partition": "why", "row": "why"}


@dataclass(frozen=True, slots=True)
class CellArguments:
    """The arguments in the first line of a cell.

    The decorators of `MatchrecMagics.matchrec` describe each argument. A field that can be None is
    None if the user did not pass the argument.
    """

    output: str | None
    limit: int
    explain: bool
    why: bool
    # PARTITION BY columns with their values, such as `sym=A`.
    partition: list[str] | None
    # The values of the ORDER BY columns, as texts.
    row: list[str] | None
    coverage: bool
    # The columns for x and y and, if the user wants series, for the series.
    plot: list[str] | None
    # The two result columns with the first and the last x of a match.
    between: list[str] | None
    # The name of the variable with the DataFrame of events.
    events: str | None
    order_by: list[str] | None
    partition_by: list[str] | None
    type_column: str | None
    dialect: str | None
    # The text that the user wrote, which may be wrong: `matchrec.Options` checks it.
    algorithm: Algorithm

    def check(self) -> None:
        """Check the limit, and that the arguments go together.

        Raises:
            MatchRecognizeError: `--limit` is less than 1, an argument needs another argument, or
                two arguments ask for different results.
        """
        COUNT.check("%%matchrec", "--limit", self.limit)
        for name, needed in NEEDED_ARGUMENTS.items():
            if getattr(self, name) and not getattr(self, needed):
                raise errors.argument_needs_another(argument=f"--{name}", other=f"--{needed}")
        answers = [name for name in ANSWERS if getattr(self, name)]
        if len(answers) > 1:
            raise cell_errors.answers_exclude_each_other(
                first=f"--{answers[0]}", second=f"--{answers[1]}"
            )

    def read_partition(self) -> dict[str, PlainValue] | None:
        """Return the value of each column in --partition, by its name; None without --partition.

        Quotes group words only around a whole argument: `'sym=A B'` is one, `sym='A B'` is two.

        Raises:
            MatchRecognizeError: an argument is not NAME=VALUE, or two have the same name.
        """
        if not self.partition:
            return None
        values: dict[str, PlainValue] = {}
        for argument in self.partition:
            text = remove_quotes(argument)
            if not is_assignment(text):
                example = suggest_assignment("--partition", text)
                raise cell_errors.partition_without_value(value=text, example=example)
            name, value = split_assignment(text)
            if name in values:
                raise errors.repeated_name(option="--partition", name=name)
            values[name] = parse_argument_value(value)
        return values

    def read_row(self) -> tuple[PlainValue, ...] | None:
        """Return the ORDER BY values of the row to explain; None without --row."""
        if not self.row:
            return None
        return tuple(parse_argument_value(value) for value in self.row)


def remove_quotes(text: str) -> str:
    """Return an argument without its quotes, which IPython does not remove.

    >>> remove_quotes('"abs(x), y"'), remove_quotes("x")
    ('abs(x), y', 'x')
    """
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if is_quoted else text


def parse_argument_value(text: str) -> PlainValue:
    """Return the value of an argument: a number, true, false, NULL or a text.

    Double quotes only group words, and are dropped. A text in single quotes is a string.

    >>> parse_argument_value("5"), parse_argument_value("'5'")
    (5, '5')
    """
    return read_plain_value(remove_quotes(text) if text.startswith('"') else text)


def split_line(line: str) -> tuple[str, str]:
    """Return the arguments and the query in the line of `%matchrec`.

    The query starts at the first SQL keyword, or is the last word. A keyword in quotes or after an
    option that needs a value belongs to the arguments. The query is empty if the last word is an
    option, or the value of the option before it.

    >>> split_line("-n 5 SELECT * FROM t"), split_line("--events t --order-by at rises")
    (('-n 5 ', 'SELECT * FROM t'), ('--events t --order-by at ', 'rises'))
    >>> split_line("--why")
    ('--why', '')
    """
    line = line.rstrip()
    last_word = ""
    word_before_last = ""
    for match in WORD.finditer(line):
        word_before_last = last_word
        last_word = match.group()
        if starts_query(last_word) and not needs_value(word_before_last):
            return line[: match.start()], line[match.start() :]
    if last_word.startswith("-") or needs_value(word_before_last):
        return line, ""
    return line.removesuffix(last_word), last_word


def starts_query(word: str) -> bool:
    """Return whether a word of a line begins with a keyword of `QUERY_KEYWORDS`.

    >>> [starts_query(word) for word in ("select*from", "(SELECT", "order=5", "orders")]
    [True, True, False, False]
    """
    keyword = LEADING_KEYWORD.match(word)
    return keyword is not None and keyword.group(1).upper() in QUERY_KEYWORDS


def needs_value(word: str) -> bool:
    """Return whether a word is an option whose value is the next word.

    >>> needs_value("--output"), needs_value("--output=rises"), needs_value("--why")
    (True, False, False)
    """
    is_long_option = word.startswith("--") and "=" not in word
    return word in SHORT_OPTIONS or (is_long_option and not is_flag(word))


def is_flag(word: str) -> bool:
    """Return whether a word is an option without a value, perhaps shortened, such as `--cov`."""
    return word.startswith("--") and any(flag.startswith(word) for flag in FLAGS)


def is_answer_option(word: str) -> bool:
    """Return whether a word is an option of `ANSWER_OPTIONS`, perhaps shortened to `--cov`."""
    name = word.partition("=")[0]
    return len(name) > len("--") and any(option.startswith(name) for option in ANSWER_OPTIONS)


def build_why_line(line: str) -> str:
    """Return the `%%matchrec` line that explains a query, given the arguments with which it ran.

    Options that ask for another answer are dropped with their values.

    >>> build_why_line("--events loads --order-by at --coverage"), build_why_line("--plot day x")
    ('%%matchrec --events loads --order-by at --why', '%%matchrec --why')
    """
    other_arguments = []
    is_dropped = False  # whether the last option, and so its values, are dropped
    for word in WORD.findall(line):  # words keep their quotes and the blanks in them
        if word.startswith("-"):
            is_dropped = is_answer_option(word)
        if not is_dropped:
            other_arguments.append(word)
    return " ".join(["%%matchrec", *other_arguments, "--why"])
