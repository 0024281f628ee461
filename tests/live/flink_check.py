"""Asks Flink CEP what it finds in the cases of `cases/patterns`, or in random ones.

    python -m tests.live.flink_check --flink LIB [--random N --seed S] [--show]

LIB is a folder with Flink's jars: `pyflink/lib` of an installed `apache-flink`. Java 17 is needed,
with its compiler. Flink's engine runs as it is, over a store in memory: no cluster is started.
A record with a `# flink:` note says why Flink gives something else; it is listed as an error if
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
from tests.references.patterns import Search, TooMuchError

PROGRAM = Path(__file__).parent / "flink" / "FlinkPatterns.java"
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
class Asked:
    """A question; expected: the lines of every right answer. why: the note on a difference."""

    place: str
    question: Question
    expected: Sequence[Sequence[str]] = ()
    why: str | None = None


@dataclass(frozen=True)
class Calls:
    """A builder that writes down its calls, as the program reads them."""

    text: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{' '.join(self.text)}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def called(*given: Any, gap: int | None = None) -> Calls:
            return Calls((*self.text, f"({name} {' '.join(arguments(name, given, gap))})"))

        return called


def arguments(name: str, given: Sequence[Any], gap: int | None) -> Iterator[str]:
    if name in ("where", "or_where", "until"):
        yield f"({condition(sqlglot.parse_one(given[0], read='spark'))})"
    elif name in ("times", "times_or_more", "one_or_more"):
        least, most = (*given, None, None)[:2]
        counts = (1 if least is None else least, most, gap)
        yield from ("null" if one is None else str(one) for one in counts)
    else:
        yield from (f"({one})" if isinstance(one, Calls) else str(one) for one in given)


def condition(tree: sql.Expression) -> str:
    """The inside of a condition's list."""
    if type(tree) in OPERATORS:
        sides = f"({condition(tree.this)}) ({condition(tree.expression)})"
        return f"{OPERATORS[type(tree)]} {sides}"
    match tree:
        case sql.Paren():
            return condition(tree.this)
        case sql.Not():
            return f"not ({condition(tree.this)})"
        case sql.Is():
            return f"is_null ({condition(tree.this)})"
        case sql.Literal():
            return f"constant {tree.this}"
        case sql.AggFunc(this=column):
            read = f"{column.table} {column.name}" if column.table else column.name
            return f"aggregate {tree.key} {read}"
        case sql.Column():
            return f"column {tree.name}"
        case _:
            raise ValueError(tree.sql())


def calls_of(pattern: str) -> str:
    text = str(build_pattern(pattern, Calls()))
    return text.replace("(one_or_more ", "(times_or_more ")


def skip_of(text: str) -> str:
    return {"": "none", "past last event": "past"}.get(text, text.removeprefix("to "))


def event_of(event: Event) -> str:
    def written(value: Any) -> str:
        return "null" if value is None else str(value).lower()

    kept = (f"({name} {written(value)})" for name, value in event.items() if name not in "np")
    return f"({' '.join(kept)})"


class Flink:
    """The compiled program."""

    def __init__(self, jars: Path, folder: Path) -> None:
        names = ("flink-cep-*.jar", "flink-dist-*.jar", "log4j-*.jar")
        found = [str(jar) for name in names for jar in jars.glob(name)]
        self.path = ":".join([*found, str(folder)])
        compiler = ["javac", "-Xlint:-options", "-cp", self.path, "-d", str(folder), str(PROGRAM)]
        subprocess.run(compiler, check=True)

    def answers(self, asked: Sequence[Asked]) -> list[list[str]]:
        """The lines for each question; partitions are asked one by one and put together."""
        texts, counts = [], []
        for one in asked:
            question = one.question
            counts.append(len(question.streams))
            for stream in question.streams.values():
                timeouts = "timeouts" if question.timeouts else "-"
                events = " ".join(map(event_of, stream))
                texts += [calls_of(question.calls), skip_of(question.skip), timeouts, events]
        command = ["java", "-cp", self.path, "FlinkPatterns"]
        run = subprocess.run(
            command, input="\n".join(texts) + "\n", capture_output=True, text=True, check=True
        )
        blocks = iter(block.split("\n")[:-1] for block in run.stdout.split("----\n"))
        return [[line for _ in range(n) for line in next(blocks)] for n in counts]


def records() -> Iterator[Asked]:
    for file in list_case_files(CASES / "patterns"):
        for record in file.patterns:
            place = f"{file.path.stem}:{record.head.line}"
            why = record.head.note_of("flink")
            yield Asked(place, read_question(record), (record.expected,), why)


def agrees(asked: Asked, lines: list[str]) -> bool:
    if any("throws" in line for line in asked.expected[0]):
        return any(line.startswith("error ") for line in lines)
    matches = [line for line in lines if "timed out" not in line]
    rest = {line for line in lines if "timed out" in line}
    for expected in asked.expected:
        wanted = [line for line in expected if "timed out" not in line]
        if asked.place == "random":  # order and number of ways are Flink's own
            same = set(matches) == set(wanted)
        else:
            same = matches == wanted if asked.question.skip else Counter(matches) == Counter(wanted)
        if same and rest == {line for line in expected if "timed out" in line}:
            return True
    return False


def plain(question: Question) -> bool:
    """Whether a question has none of the constructs in which Flink is known to differ."""
    chain = build_pattern(question.calls, Pattern).chain
    if "gap=" in question.calls or "previous_to_current" in question.calls:
        return False
    names = ["", *(one.name for one in chain if isinstance(one, Stage))]
    return question.strategy.stage in names and plain_chain(chain, inside=False)


def plain_chain(chain: Sequence[Element], *, inside: bool) -> bool:
    for place, one in enumerate(chain):
        before, after = (list(chain[p : p + 1]) for p in (place - 1, place + 1))
        if isinstance(one, Group):
            repeated, head = (one.least, one.most) != (1, 1), inside and place == 0
            greedy = any(isinstance(e, Stage) and e.greedy for e in one.chain)
            if repeated or head or greedy or not plain_chain(one.chain, inside=True):
                return False
        elif isinstance(one, Not):
            if any(isinstance(other, Not | Group) for other in after) or (
                any(isinstance(other, Not | Group) for other in before)
            ):
                return False
            ranges = [s for s in (*before, *after) if isinstance(s, Stage) and s.least != s.most]
            repeated = isinstance(before[0], Stage) and before[0].most != 1
            if ranges or (repeated and not after):
                return False
        elif inside and place == 0 and (one.optional or (one.least, one.most) != (1, 1)):
            return False
    return True


def ordered_alike(question: Question) -> bool:
    """Whether which match is given first is not a matter of Flink's queues.

    Without a window, held back matches do not come out of Flink at the end. Raises TooMuchError.
    """
    if not question.skip:
        return True
    pattern = build_pattern(question.calls, Pattern)
    (stream,) = question.streams.values()
    found = Search(pattern, stream).found
    ranks = {(one.first, one.completes) for one in found}
    return pattern.within_ is not None and len(ranks) == len(found)


def random_asked(count: int, seed: int) -> Iterator[Asked]:
    random = Random(seed)
    while count:
        question = draw_question(random)
        with suppress(TooMuchError):
            if plain(question) and ordered_alike(question):
                yield Asked("random", question, list_right_lines(question))
                count -= 1


def report(asked: Iterable[Asked], answers: Iterable[list[str]], show: bool) -> int:
    """Prints the differences; how many are not expected."""
    counts: Counter[str] = Counter()
    for one, lines in zip(asked, answers, strict=True):
        same = agrees(one, lines)
        kind = "agrees" if same else "known difference" if one.why else "DISAGREES"
        if same and one.why:
            kind = "AGREES AFTER ALL"
        counts[kind] += 1
        if kind.isupper() or (show and not same):
            print(f"{one.place}: {kind}\n{one.question}")
            print("\n".join(f"    expected  {line}" for line in one.expected[0]))
            print("\n".join(f"    Flink     {line}" for line in lines))
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return counts["DISAGREES"] + counts["AGREES AFTER ALL"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flink", type=Path, required=True)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    asked = list(random_asked(given.random, given.seed) if given.random else records())
    with tempfile.TemporaryDirectory() as folder:
        answers = Flink(given.flink, Path(folder)).answers(asked)
    return 1 if report(asked, answers, given.show) else 0


if __name__ == "__main__":
    raise SystemExit(main())
