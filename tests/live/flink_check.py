"""Compare Flink CEP with the expected matches of `cases/patterns`, or of random patterns.

    python -m tests.live.flink_check --flink LIB [--random N --seed S] [--show]

LIB is a folder with Flink's jars: `pyflink/lib` of an installed `apache-flink`. Java 17 is needed,
with its compiler. Flink's engine runs as it is, over a store in memory: no cluster is started.
The `# flink:` note of a record says why Flink finds other matches; such a record is an error if
Flink agrees after all.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import sqlglot
from sqlglot import expressions as sql

from tests.cases.case_file import CASES, list_case_files
from tests.cases.pattern_notation import Question, build_pattern, list_right_lines, read_question
from tests.generators.pattern_trees import Element, Event, Group, Not, Pattern, Stage
from tests.generators.patterns import draw_question
from tests.references.patterns import Search, TooManyWaysError

# The Java program that runs Flink CEP.
PROGRAM = Path(__file__).parent / "flink" / "FlinkPatterns.java"
# The program's names of operators.
OPERATORS = {
    sql.And: "and",
    sql.Or: "or",
    sql.EQ: "=",
    sql.NEQ: "<>",
    sql.LT: "<",
    sql.LTE: "<=",
    sql.GT: ">",
    sql.GTE: ">=",
    sql.Add: "+",
    sql.Sub: "-",
    sql.Mul: "*",
}


@dataclass(frozen=True)
class FlinkCase:
    """A question to Flink, and what it should answer."""

    # The file and the line of the record, or "random".
    location: str
    question: Question
    # The lines of every right answer.
    expected: Sequence[Sequence[str]] = ()
    # The note on a known difference; None if Flink should agree.
    note: str | None = None


@dataclass(frozen=True)
class Calls:
    """A pattern builder that writes its calls as text that the Java program reads."""

    text: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{' '.join(self.text)}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def add_call(*values: Any, gap: int | None = None) -> Calls:
            """Return the pattern with this call added."""
            return Calls((*self.text, f"({name} {' '.join(write_arguments(name, values, gap))})"))

        return add_call


def write_arguments(name: str, values: Sequence[Any], gap: int | None) -> Iterator[str]:
    """Yield the arguments of a call as the program reads them."""
    if name in ("where", "or_where", "until"):
        yield f"({write_condition(sqlglot.parse_one(values[0], read='spark'))})"
    elif name in ("times", "times_or_more", "one_or_more"):
        least, most = (*values, None, None)[:2]
        counts = (1 if least is None else least, most, gap)
        yield from ("null" if value is None else str(value) for value in counts)
    else:
        yield from (f"({value})" if isinstance(value, Calls) else str(value) for value in values)


def write_condition(tree: sql.Expression) -> str:
    """Write a condition in prefix notation, without the outer parentheses.

    Raises:
        ValueError: the program does not know an operator.
    """
    if type(tree) in OPERATORS:
        sides = f"({write_condition(tree.this)}) ({write_condition(tree.expression)})"
        return f"{OPERATORS[type(tree)]} {sides}"
    match tree:
        case sql.Paren():
            return write_condition(tree.this)
        case sql.Not():
            return f"not ({write_condition(tree.this)})"
        case sql.Is():
            return f"is_null ({write_condition(tree.this)})"
        case sql.Literal():
            return f"constant {tree.this}"
        case sql.AggFunc(this=column):
            read = f"{column.table} {column.name}" if column.table else column.name
            return f"aggregate {tree.key} {read}"
        case sql.Column():
            return f"column {tree.name}"
        case _:
            raise ValueError(tree.sql())


def write_calls(pattern: str) -> str:
    """Write the calls of a pattern for the program."""
    text = str(build_pattern(pattern, Calls()))
    return text.replace("(one_or_more ", "(times_or_more ")


def write_skip(text: str) -> str:
    """Write the after-match skip of a question for the program."""
    return {"": "none", "past last event": "past"}.get(text, text.removeprefix("to "))


def write_event(event: Event) -> str:
    """Write an event for the program, without its number and partition."""

    def write_value(value: Any) -> str:
        """Write the value of a field."""
        return "null" if value is None else str(value).lower()

    fields = (f"({name} {write_value(value)})" for name, value in event.items() if name not in "np")
    return f"({' '.join(fields)})"


class Flink:
    """The compiled Java program that runs Flink CEP."""

    def __init__(self, jars: Path, folder: Path) -> None:
        names = ("flink-cep-*.jar", "flink-dist-*.jar", "log4j-*.jar")
        jar_paths = [str(jar) for name in names for jar in jars.glob(name)]
        self.path = ":".join([*jar_paths, str(folder)])
        compiler = ["javac", "-Xlint:-options", "-cp", self.path, "-d", str(folder), str(PROGRAM)]
        subprocess.run(compiler, check=True)

    def find_answers(self, cases: Sequence[FlinkCase]) -> list[list[str]]:
        """Return the lines for each question; each partition is a run of its own."""
        texts = []
        counts = []
        for case in cases:
            question = case.question
            counts.append(len(question.streams))
            for stream in question.streams.values():
                timeouts = "timeouts" if question.timeouts else "-"
                events = " ".join(map(write_event, stream))
                texts += [write_calls(question.calls), write_skip(question.skip), timeouts, events]
        command = ["java", "-cp", self.path, "FlinkPatterns"]
        run = subprocess.run(
            command, input="\n".join(texts) + "\n", capture_output=True, text=True, check=True
        )
        blocks = iter(block.split("\n")[:-1] for block in run.stdout.split("----\n"))
        return [[line for _ in range(n) for line in next(blocks)] for n in counts]


def list_case_questions() -> Iterator[FlinkCase]:
    """Yield the records of `cases/patterns`."""
    for file in list_case_files(CASES / "patterns"):
        for record in file.patterns:
            location = f"{file.path.stem}:{record.head.line}"
            note = record.head.note_of("flink")
            yield FlinkCase(location, read_question(record), (record.expected,), note)


def is_right_answer(case: FlinkCase, lines: list[str]) -> bool:
    """Return whether the lines of Flink are a right answer."""
    if any("throws" in line for line in case.expected[0]):
        return any(line.startswith("error ") for line in lines)
    matches = [line for line in lines if "timed out" not in line]
    timeouts = {line for line in lines if "timed out" in line}
    for expected in case.expected:
        expected_matches = [line for line in expected if "timed out" not in line]
        if case.location == "random":  # order and number of ways are Flink's own
            same_matches = set(matches) == set(expected_matches)
        elif case.question.skip:
            same_matches = matches == expected_matches
        else:
            same_matches = Counter(matches) == Counter(expected_matches)
        if same_matches and timeouts == {line for line in expected if "timed out" in line}:
            return True
    return False


def is_plain(question: Question) -> bool:
    """Return whether a question has none of the constructs in which Flink is known to differ."""
    chain = build_pattern(question.calls, Pattern).chain
    if "gap=" in question.calls or "previous_to_current" in question.calls:
        return False
    names = ["", *(stage.name for stage in chain if isinstance(stage, Stage))]
    return question.strategy.stage in names and is_plain_chain(chain, inside=False)


def is_plain_chain(chain: Sequence[Element], *, inside: bool) -> bool:
    """Return whether a chain, or the chain inside of a group, has no such construct."""
    for index, element in enumerate(chain):
        before = list(chain[index - 1 : index])
        after = list(chain[index + 1 : index + 2])
        is_head = inside and index == 0
        if isinstance(element, Group):
            repeated = (element.least, element.most) != (1, 1)
            greedy = any(isinstance(part, Stage) and part.greedy for part in element.chain)
            if repeated or is_head or greedy or not is_plain_chain(element.chain, inside=True):
                return False
        elif isinstance(element, Not):
            if any(isinstance(other, Not | Group) for other in after) or (
                any(isinstance(other, Not | Group) for other in before)
            ):
                return False
            ranges = [s for s in (*before, *after) if isinstance(s, Stage) and s.least != s.most]
            repeated = isinstance(before[0], Stage) and before[0].most != 1
            if ranges or (repeated and not after):
                return False
        elif is_head and (element.optional or (element.least, element.most) != (1, 1)):
            return False
    return True


def has_fixed_order(question: Question) -> bool:
    """Return whether the order of the matches does not depend on Flink's queues.

    Without a window, Flink does not output matches that it still holds back at the end.

    Raises:
        TooManyWaysError: there are too many matches.
    """
    if not question.skip:
        return True
    pattern = build_pattern(question.calls, Pattern)
    (stream,) = question.streams.values()
    matches = Search(pattern, stream).matches
    ranks = {(match.first, match.completes) for match in matches}
    return pattern.within_ is not None and len(ranks) == len(matches)


def draw_cases(count: int, seed: int) -> Iterator[FlinkCase]:
    """Draw random questions that Flink should answer like matchrec."""
    random = Random(seed)
    while count:
        question = draw_question(random)
        with suppress(TooManyWaysError):
            if is_plain(question) and has_fixed_order(question):
                yield FlinkCase("random", question, list_right_lines(question))
                count -= 1


def report(cases: Iterable[FlinkCase], answers: Iterable[list[str]], show: bool) -> int:
    """Print the differences and return how many of them are not expected."""
    counts: Counter[str] = Counter()
    for case, lines in zip(cases, answers, strict=True):
        is_right = is_right_answer(case, lines)
        kind = "agrees" if is_right else "known difference" if case.note else "DISAGREES"
        if is_right and case.note:
            kind = "AGREES AFTER ALL"
        counts[kind] += 1
        if kind.isupper() or (show and not is_right):
            print(f"{case.location}: {kind}\n{case.question}")
            print("\n".join(f"    expected  {line}" for line in case.expected[0]))
            print("\n".join(f"    Flink     {line}" for line in lines))
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return counts["DISAGREES"] + counts["AGREES AFTER ALL"]


def main() -> int:
    """Run the checks that the command line asks for, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flink", type=Path, required=True)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    cases = list(
        draw_cases(options.random, options.seed) if options.random else list_case_questions()
    )
    with tempfile.TemporaryDirectory() as folder:
        answers = Flink(options.flink, Path(folder)).find_answers(cases)
    return 1 if report(cases, answers, options.show) else 0


if __name__ == "__main__":
    raise SystemExit(main())
