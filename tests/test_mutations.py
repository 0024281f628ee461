"""Queries with a few words dropped, doubled, swapped or replaced end in errors of ours or Spark's.

The mutants come from the valid queries of `cases/**/*.test`, by a seeded generator.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import matchrec
from case_file import CaseFile, QueryRecord, case_files
from matchrec.frontends.functions import words
from matchrec.frontends.sql import parse
from matchrec.frontends.sql.lower import lower
from test_cases import register_tables

WORD = re.compile(
    r"""
    \s+ | \w+ | '(?:[^']|'')*' | `[^`]*` | "[^"]*" | --[^\n]* | \{- | -\} | \|\| | [<>=!]= | .
    """,
    re.DOTALL | re.VERBOSE,
)
STRANGERS = sorted(
    words(
        """
        ( ) [ ] { } {- -} , . ; * + ? | ^ $ - = > : ' ` " /* -- 0 1 -1 1.5 'x' NULL TRUE A B Z x
        A.x A.* `A` {f} :p AS BY AND NOT OVER FINAL RUNNING FIRST LAST( PREV( NEXT CLASSIFIER()
        MATCH_NUMBER() count(*) sum( max_by( PATTERN PATTERN( DEFINE MEASURES SUBSET WITHIN ORDER
        PARTITION MATCH_RECOGNIZE MATCH_RECOGNIZE( AFTER MATCH SKIP ONE ALL ROWS SHOW PERMUTE(
        SELECT FROM (SELECT CASE END INTERVAL DISTINCT FILTER IN BETWEEN LIKE IS ->
        """
    )
)

Mutant = tuple[CaseFile, str]
SOURCES: list[tuple[CaseFile, QueryRecord]] = [
    (file, record) for file in case_files() for record in file.queries
]


def mutated(text: str, random_: random.Random) -> str:
    """The text with one to three of its words or signs changed."""
    parts = [match.group() for match in WORD.finditer(text)]
    for _ in range(random_.choice((1, 1, 1, 2, 3))):
        places = [index for index, part in enumerate(parts) if part.strip()]
        here, there = random_.choice(places), random_.choice(places)
        match random_.randrange(6):
            case 0:
                parts[here] = ""
            case 1:
                parts[here] += f" {parts[here]}"
            case 2:
                parts[here], parts[there] = parts[there], parts[here]
            case 3:
                parts[here] = parts[there]
            case 4:
                parts[here] = random_.choice(STRANGERS)
            case _:
                parts[here] += f" {random_.choice(STRANGERS)} "
    return "".join(parts)


def mutants(number: int, seed: int) -> Iterator[Mutant]:
    """So many mutants of random queries, file by file."""
    random_ = random.Random(seed)
    sources = sorted(random_.choices(SOURCES, k=number), key=lambda one: str(one[0].path))
    return ((file, mutated(record.sql, random_)) for file, record in sources)


def refusal(action: Callable[[], object], text: str) -> matchrec.MatchRecognizeError | None:
    """The error of ours that an action on a text ends in; any other but Spark's is a failure."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            action()
    except matchrec.MatchRecognizeError as error:
        return error
    except AnalysisException:
        return None
    except Exception as error:
        raise AssertionError(text) from error
    return None


def read(text: str) -> None:
    for site in parse(text, ["f"]).sites:
        lower(site.clause)


@pytest.mark.parametrize("seed", range(4))
def test_reading_a_mutant_gives_a_plan_or_an_error_at_its_place(seed: int) -> None:
    for _, text in mutants(1000, seed):
        error = refusal(partial(read, text), text)
        if error is not None:
            assert str(error).splitlines()[0].strip(), text
            assert error.spans, (text, error)
            assert all(0 <= one.start <= one.end <= len(text) + 1 for one in error.spans), text


def test_analysing_a_mutant_gives_a_result_or_an_error(spark: SparkSession) -> None:
    frame = spark.range(3)
    for file, text in mutants(120, 100):
        register_tables(spark, file)
        frames = {"f": frame} if "{f}" in text else {}  # Spark formats any text that has frames
        action = partial(matchrec.sql, spark, text, {"p": 1}, **frames)
        refusal(action, text)
