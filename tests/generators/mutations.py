"""Valid texts with a few words changed: queries, SASE+ queries and patterns, by a seeded generator.

What a mutant means is nobody's business: it must end in a plan or in an error of ours.
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
from tests.cases.case_file import CaseFile, case_files
from tests.cases.pattern_notation import written_out
from tests.unit import golden_text

SASE_PLANS = Path(__file__).parents[1] / "unit" / "patterns" / "sase" / "plans.txt"
WORD = re.compile(
    r"""
    \s+ | \w+ | '(?:[^']|'')*' | `[^`]*` | "[^"]*" | --[^\n]* | \{- | -\} | \|\| | [<>=!]=
  | \.\. | .
    """,
    re.DOTALL | re.VERBOSE,
)
HUGE = "9" * 5000
STRANGERS = (
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
    HUGE,
    "(SELECT 1)",
    "max('X' || (SELECT 'Y'))",
    "CASE WHEN TRUE THEN 1 END",
    "array(1)[0]",
)
QUOTES = "'\"`"

Change = Callable[[list[str], int, int, random.Random], None]


def dropped(parts: list[str], here: int, _: int, __: random.Random) -> None:
    parts[here] = ""


def doubled(parts: list[str], here: int, _: int, __: random.Random) -> None:
    parts[here] += f" {parts[here]}"


def swapped(parts: list[str], here: int, there: int, _: random.Random) -> None:
    parts[here], parts[there] = parts[there], parts[here]


def copied(parts: list[str], here: int, there: int, _: random.Random) -> None:
    parts[here] = parts[there]


def replaced(parts: list[str], here: int, _: int, random_: random.Random) -> None:
    parts[here] = random_.choice(STRANGERS)


def joined(parts: list[str], here: int, _: int, random_: random.Random) -> None:
    parts[here] += f" {random_.choice(STRANGERS)} "


def requoted(parts: list[str], here: int, _: int, random_: random.Random) -> None:
    quote = random_.choice(QUOTES)
    parts[here] = f"{quote}{parts[here].strip(QUOTES)}{quote}"


def renumbered(parts: list[str], here: int, _: int, random_: random.Random) -> None:
    numbers = [index for index, part in enumerate(parts) if part.isdigit()]
    at = random_.choice(numbers) if numbers else here
    parts[at] = random_.choice(("0", "9223372036854775807", "99999999999999999999", HUGE))


def cut_short(parts: list[str], here: int, _: int, __: random.Random) -> None:
    del parts[here + 1 :]


def closed_up(parts: list[str], here: int, _: int, __: random.Random) -> None:
    """Without the blanks beside a word."""
    for beside in (here - 1, here + 1):
        if 0 <= beside < len(parts) and not parts[beside].strip():
            parts[beside] = ""


CHANGES: tuple[Change, ...] = (
    dropped,
    doubled,
    swapped,
    copied,
    replaced,
    replaced,
    joined,
    joined,
    requoted,
    renumbered,
    cut_short,
    closed_up,
)


def mutated(text: str, random_: random.Random) -> str:
    """The text with one to three of its words or signs changed."""
    parts = [match.group() for match in WORD.finditer(text)]
    for _ in range(random_.choice((1, 1, 1, 2, 3))):
        places = [index for index, part in enumerate(parts) if part.strip()]
        if not places:
            break
        here, there = random_.choice(places), random_.choice(places)
        random_.choice(CHANGES)(parts, here, there, random_)
    return "".join(parts)


# SQL

QUERIES = [(file, record.sql) for file in case_files() for record in (*file.queries, *file.errors)]


def queries(number: int, seed: int) -> Iterator[tuple[CaseFile, str]]:
    """So many mutants of random queries, file by file."""
    random_ = random.Random(seed)
    found = sorted(random_.choices(QUERIES, k=number), key=lambda one: str(one[0].path))
    return ((file, mutated(text, random_)) for file, text in found)


# SASE+

SASE_QUERIES = [record.given for record in golden_text.read(SASE_PLANS)]


def sase_queries(number: int, seed: int) -> Iterator[str]:
    """So many mutants of random SASE+ queries."""
    random_ = random.Random(seed)
    return (mutated(random_.choice(SASE_QUERIES), random_) for _ in range(number))


# The Pattern API: a pattern is a list of calls, each a name and its arguments

Call = tuple[str, list[Any], dict[str, Any]]
PATTERNS = [record.calls for file in case_files() for record in (*file.patterns, *file.refused)]
OTHER_CALLS = (
    'begin("z").next("y").followed_by("a").followed_by_any("x").not_next("w").not_followed_by("v")'
    '.where("x > 1").or_where("sum(a.x) > 1").until("x = 2").one_or_more().times(2).times(2, 3)'
    f".times(1000000).times_or_more(2).optional().greedy().consecutive().allow_combinations()"
    '.within(5).within("1 hour").within(7, "previous_to_current")'
    '.within(float("inf")).within(float("nan")).within(1e300).within(-1).within(0)'
    f".times({'9' * 4000}).within({'9' * 4000}).one_or_more(gap=3)"
    f".where('a.\"x\" > PREV(x, {HUGE})')"
)


def calls_of(pattern: str) -> list[Call]:
    """The calls of a pattern written in Python, groups as lists of calls."""
    found: list[Call] = []
    node: ast.expr = ast.parse(written_out(pattern), mode="eval").body
    while isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr  # type: ignore[attr-defined]
        keywords = {str(one.arg): argument(one.value) for one in node.keywords}
        found.insert(0, (name, [argument(one) for one in node.args], keywords))
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return found


def argument(node: ast.expr) -> Any:
    """A constant, a special number or a group."""
    text = ast.unparse(node)
    is_group = isinstance(node, ast.Call) and not text.startswith("float(")
    return calls_of(text) if is_group else eval(text, {"float": float})


def built(calls: list[Call]) -> Pattern:
    """The pattern of some calls, the first of which is `begin`, whatever it was."""
    found: Any = Pattern
    for index, (name, given, keywords) in enumerate(calls):
        method = getattr(found, name if index else "begin")
        found = method(*(built(one) if isinstance(one, list) else one for one in given), **keywords)
    return found  # type: ignore[no-any-return]


def patterns(number: int, seed: int) -> Iterator[list[Call]]:
    """The calls of so many mutants of random patterns."""
    random_ = random.Random(seed)
    return (mutated_calls(calls_of(random_.choice(PATTERNS)), random_) for _ in range(number))


def mutated_calls(calls: list[Call], random_: random.Random) -> list[Call]:
    """The calls with one to three of them changed; the first stays."""
    calls = list(calls)
    for _ in range(random_.choice((1, 1, 2, 3))):
        here, there = random_.randrange(len(calls)), random_.randrange(len(calls))
        match random_.randrange(5):
            case 0 if here:
                del calls[here]
            case 1:
                calls.insert(max(here, 1), calls[there])
            case 2 if here and there:
                calls[here], calls[there] = calls[there], calls[here]
            case 3:
                calls.insert(here + 1, random_.choice(calls_of(OTHER_CALLS)[1:]))
            case _:
                calls[here] = with_other_arguments(calls[here], random_)
    return calls


def with_other_arguments(call: Call, random_: random.Random) -> Call:
    """The call with its texts and groups mutated."""
    name, given, keywords = call
    return name, [other_argument(one, random_) for one in given], keywords


def other_argument(one: Any, random_: random.Random) -> Any:
    if isinstance(one, list):
        return mutated_calls(one, random_)
    return mutated(one, random_) if isinstance(one, str) else one
