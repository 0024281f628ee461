"""Change a few words of valid queries, SASE+ queries and patterns at random.

The meaning of a mutant does not matter: matchrec must return a plan for it or raise one of its own
errors.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from matchrec import Pattern
from matchrec.syntax.tokens import split_words
from tests.cases.case_file import CaseFile, list_case_files
from tests.cases.pattern_notation import write_out
from tests.unit import golden_text

SASE_PLANS = Path(__file__).parents[1] / "unit" / "patterns" / "sase" / "plans.txt"
# Finds a word, a sign, a quoted text or blanks.
WORD = re.compile(
    r"""
    \s+ | \w+ | '(?:[^']|'')*' | `[^`]*` | "[^"]*" | --[^\n]* | \{- | -\} | \|\| | [<>=!]=
  | \.\. | .
    """,
    re.DOTALL | re.VERBOSE,
)
HUGE_NUMBER = "9" * 5000
# Words that replace or follow words of a text.
STRANGE_WORDS = (
    *sorted(
        split_words(
            """
            ( ) [ ] { } {- -} , . .. ; * + ? | || ^ $ - = > : ' ` " ! ~ /* -- # \\ \x00 \u00e9 0
            1 -1 1.5 1e9 9223372036854775807 9223372036854775808 2147483648 {2} {,} {0,3} {99999}
            'x' "x" NULL TRUE A B Z x A.x A.* A."x" `A` "A" a[i] a[] a.LEN {f} :p AS BY AND OR NOT
            OVER FINAL RUNNING FIRST LAST( PREV( NEXT CLASSIFIER() MATCH_NUMBER() count(*) sum(
            max_by( PATTERN PATTERN( PATTERN() DEFINE MEASURES SUBSET WITHIN ORDER PARTITION
            MATCH_RECOGNIZE MATCH_RECOGNIZE( AFTER MATCH SKIP ONE ALL ROWS SHOW PERMUTE( SELECT FROM
            (SELECT CASE WHEN THEN ELSE END INTERVAL DISTINCT FILTER IN BETWEEN LIKE IS CAST( -> ::
            SEQ( ANY RETURN WHERE skip_till_any_match hours EVENTS VALUES LATERAL EXISTS COLLATE DIV
            """
        )
    ),
    HUGE_NUMBER,
    "(SELECT 1)",
    "max('X' || (SELECT 'Y'))",
    "CASE WHEN TRUE THEN 1 END",
    "array(1)[0]",
)
QUOTES = "'\"`"

# Changes the words of a text in place. The arguments are the words, the indices of two of them, and
# a source of randomness.
Change = Callable[[list[str], int, int, random.Random], None]


def drop_word(words: list[str], index: int, _other: int, _generator: random.Random) -> None:
    """Drop a word."""
    words[index] = ""


def double_word(words: list[str], index: int, _other: int, _generator: random.Random) -> None:
    """Repeat a word."""
    words[index] += f" {words[index]}"


def swap_words(words: list[str], index: int, other: int, _generator: random.Random) -> None:
    """Swap two words."""
    words[index], words[other] = words[other], words[index]


def copy_word(words: list[str], index: int, other: int, _generator: random.Random) -> None:
    """Replace a word by another one of the text."""
    words[index] = words[other]


def replace_word(words: list[str], index: int, _other: int, generator: random.Random) -> None:
    """Replace a word by a strange one."""
    words[index] = generator.choice(STRANGE_WORDS)


def insert_word(words: list[str], index: int, _other: int, generator: random.Random) -> None:
    """Insert a strange word after a word."""
    words[index] += f" {generator.choice(STRANGE_WORDS)} "


def requote_word(words: list[str], index: int, _other: int, generator: random.Random) -> None:
    """Put a word into other quotes."""
    quote = generator.choice(QUOTES)
    words[index] = f"{quote}{words[index].strip(QUOTES)}{quote}"


def change_number(words: list[str], index: int, _other: int, generator: random.Random) -> None:
    """Replace a number by an extreme one; without a number in the text, replace a word."""
    numbers = [number for number, word in enumerate(words) if word.isdigit()]
    changed = generator.choice(numbers) if numbers else index
    words[changed] = generator.choice(
        ("0", "9223372036854775807", "99999999999999999999", HUGE_NUMBER)
    )


def cut_text(words: list[str], index: int, _other: int, _generator: random.Random) -> None:
    """Drop the text after a word."""
    del words[index + 1 :]


def drop_blanks(words: list[str], index: int, _other: int, _generator: random.Random) -> None:
    """Drop the blanks before and after a word."""
    for neighbour in (index - 1, index + 1):
        if 0 <= neighbour < len(words) and not words[neighbour].strip():
            words[neighbour] = ""


CHANGES: tuple[Change, ...] = (
    drop_word,
    double_word,
    swap_words,
    copy_word,
    replace_word,
    replace_word,
    insert_word,
    insert_word,
    requote_word,
    change_number,
    cut_text,
    drop_blanks,
)


def mutate_text(text: str, generator: random.Random) -> str:
    """Return the text with one to three of its words or signs changed."""
    words = [match.group() for match in WORD.finditer(text)]
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        indices = [index for index, word in enumerate(words) if word.strip()]
        if not indices:
            break
        index, other = generator.choice(indices), generator.choice(indices)
        generator.choice(CHANGES)(words, index, other, generator)
    return "".join(words)


# SQL

QUERIES = [
    (file, record.sql) for file in list_case_files() for record in (*file.queries, *file.errors)
]


def mutate_queries(count: int, seed: int) -> Iterator[tuple[CaseFile, str]]:
    """Yield `count` mutants of random queries, each with the file of the query, file by file."""
    generator = random.Random(seed)
    drawn = generator.choices(QUERIES, k=count)
    drawn.sort(key=lambda file_and_text: str(file_and_text[0].path))
    for file, text in drawn:
        yield file, mutate_text(text, generator)


# SASE+

SASE_QUERIES = [record.given for record in golden_text.read(SASE_PLANS)]


def mutate_sase_queries(count: int, seed: int) -> Iterator[str]:
    """Yield `count` mutants of random SASE+ queries."""
    generator = random.Random(seed)
    for _ in range(count):
        yield mutate_text(generator.choice(SASE_QUERIES), generator)


# The Pattern API: a pattern is a list of calls.

# The name of a method, and its arguments. A group is an argument that is a list of calls.
Call = tuple[str, list[Any], dict[str, Any]]
PATTERNS = [
    record.calls for file in list_case_files() for record in (*file.patterns, *file.refused)
]
OTHER_CALLS = (
    'begin("z").next("y").followed_by("a").followed_by_any("x").not_next("w").not_followed_by("v")'
    '.where("x > 1").or_where("sum(a.x) > 1").until("x = 2").one_or_more().times(2).times(2, 3)'
    f".times(1000000).times_or_more(2).optional().greedy().consecutive().allow_combinations()"
    '.within(5).within("1 hour").within(7, "previous_to_current")'
    '.within(float("inf")).within(float("nan")).within(1e300).within(-1).within(0)'
    f".times({'9' * 4000}).within({'9' * 4000}).one_or_more(gap=3)"
    f".where('a.\"x\" > PREV(x, {HUGE_NUMBER})')"
)


def read_calls(pattern: str) -> list[Call]:
    """Return the calls of a pattern that is written in Python."""
    calls: list[Call] = []
    node: ast.expr = ast.parse(write_out(pattern), mode="eval").body
    while isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr  # type: ignore[attr-defined]
        arguments = [read_argument(argument) for argument in node.args]
        keywords = {str(keyword.arg): read_argument(keyword.value) for keyword in node.keywords}
        calls.insert(0, (name, arguments, keywords))
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return calls


def read_argument(node: ast.expr) -> Any:
    """Return an argument of a call: a constant, a special number, or the calls of a group."""
    text = ast.unparse(node)
    is_group = isinstance(node, ast.Call) and not text.startswith("float(")
    return read_calls(text) if is_group else eval(text, {"float": float})


def build_pattern(calls: list[Call]) -> Pattern:
    """Return the pattern that the calls build. The first call is `begin`, whatever its name is."""
    pattern: Any = Pattern
    for index, (name, arguments, keywords) in enumerate(calls):
        method = getattr(pattern, name if index else "begin")
        values = [
            build_pattern(argument) if isinstance(argument, list) else argument
            for argument in arguments
        ]
        pattern = method(*values, **keywords)
    return pattern  # type: ignore[no-any-return]


def mutate_patterns(count: int, seed: int) -> Iterator[list[Call]]:
    """Yield the calls of `count` mutants of random patterns."""
    generator = random.Random(seed)
    for _ in range(count):
        yield mutate_calls(read_calls(generator.choice(PATTERNS)), generator)


def mutate_calls(calls: list[Call], generator: random.Random) -> list[Call]:
    """Return the calls with one to three changes. The first call keeps its index."""
    calls = list(calls)
    for _ in range(generator.choice((1, 1, 2, 3))):
        index, other = generator.randrange(len(calls)), generator.randrange(len(calls))
        match generator.randrange(5):
            case 0 if index:
                del calls[index]
            case 1:
                calls.insert(max(index, 1), calls[other])
            case 2 if index and other:
                calls[index], calls[other] = calls[other], calls[index]
            case 3:
                calls.insert(index + 1, generator.choice(read_calls(OTHER_CALLS)[1:]))
            case _:
                name, arguments, keywords = calls[index]
                mutants = [mutate_argument(argument, generator) for argument in arguments]
                calls[index] = name, mutants, keywords
    return calls


def mutate_argument(argument: Any, generator: random.Random) -> Any:
    """Return a text or a group with changes; any other argument as it is."""
    if isinstance(argument, list):
        return mutate_calls(argument, generator)
    return mutate_text(argument, generator) if isinstance(argument, str) else argument
