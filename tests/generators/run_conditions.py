"""Random conditions over three rows of a run, for matchrec and for window functions of Spark.

They are for C of PATTERN (A{2} C): Spark finds the rows of A by LAG, and what is over the rows
of the match by a frame. Values have types; functions are those that
`docs/reference/functions.md` lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.generators.run_forms import (
    AGGREGATES,
    ALIKE,
    COLUMNS,
    FORMS,
    FRAMES,
    LITERALS,
    NO_ROW,
    NUMBERS,
    OF_ANY,
    OF_ONE_TYPE,
    OUTER,
    READS,
    UNORDERED,
    UNORDERED_OF_ANY,
)


@dataclass(frozen=True)
class Both:
    """An expression as matchrec reads it in DEFINE, and as Spark does in SELECT."""

    ours: str
    sparks: str


class Conditions:
    """Draws conditions of C."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def form(self, form: str, depth: int, parts: Sequence[Both] = ()) -> Both:
        """A form with drawn operands: `{i}` is a value of the type of i, `{c}` a condition."""
        ours, sparks, rest = "", "", form
        while "{" in rest:
            before, _, after = rest.partition("{")
            name, _, rest = after.partition("}")
            if name == "c":
                drawn = self.condition(depth)
            else:
                drawn = parts[int(name)] if name.isdigit() else self.value(name, depth)
            ours, sparks = ours + before + drawn.ours, sparks + before + drawn.sparks
        return Both(ours + rest, sparks + rest)

    def value(self, column: str, depth: int) -> Both:
        """A value of the type of a column."""
        choice = self.random.random()
        if choice < 0.1:
            literal = self.random.choice([*LITERALS[column], NO_ROW.format(column)])
            return Both(literal, literal)
        if choice < 0.25:
            return self.aggregate(column)
        if depth <= 0 or choice < 0.5:
            ours, sparks = self.random.choice(READS)
            return Both(ours.format(column), sparks.format(column))
        if (choice < 0.65 and column not in UNORDERED) or column not in FORMS:
            parts = [self.value(column, depth - 1) for _ in range(2)]
            return self.form(self.random.choice(OF_ONE_TYPE), depth - 1, parts)
        return self.form(self.random.choice(FORMS[column]), depth - 1)

    def aggregate(self, column: str) -> Both:
        """An aggregate over the rows of A, of C or of both."""
        alike = [one for one in ALIKE if one[2] == column]
        if alike and self.random.random() < 0.4:
            return self.alike(*self.random.choice(alike)[:2])
        of_any = UNORDERED_OF_ANY if column in UNORDERED else OF_ANY
        form = self.random.choice([*AGGREGATES.get(column, []), *of_any])
        prefix, frame = self.random.choice(FRAMES)
        ours = sparks = form.replace("{0}", f"{{{column}}}")
        for name in COLUMNS:
            argument, mine = name, prefix + name
            if name not in UNORDERED and self.random.random() < 0.25:
                argument, mine = (f"nullif({one}, {LITERALS[name][0]})" for one in (name, mine))
            ours = ours.replace(f"{{{name}}}", mine)
            sparks = sparks.replace(f"{{{name}}}", argument)
        if prefix:
            ours = ours.replace("(*)", f"({prefix}*)")
        outer = next((one for one in OUTER if sparks.startswith(one)), "")
        sparks = sparks[len(outer) :]
        end = closing(sparks) + 1
        return Both(ours, f"{outer}{sparks[:end]} OVER ({frame}){sparks[end:]}")

    def alike(self, ours: str, sparks: str) -> Both:
        """An aggregate that Spark has to write otherwise over a frame."""
        variable, frame = self.random.choice(FRAMES)
        key = self.random.choice([name for name in COLUMNS if name not in UNORDERED])
        if variable:
            ours = ours.replace("(*)", "({a}*)")
        return Both(
            ours.replace("{a}", variable).replace("{0}", key),
            sparks.replace("{w}", frame).replace("{0}", key),
        )

    def condition(self, depth: int = 2) -> Both:
        """Anything that is true, false or unknown."""
        if depth > 0 and self.random.random() < 0.35:
            word = self.random.choice(
                ["({c} AND {c})", "({c} OR {c})", "(NOT {c})", "({c} AND {c} AND {c})"]
            )
            return self.form(word, depth - 1)
        column = self.random.choice([name for name in COLUMNS if name not in UNORDERED])
        near = self.random.choice(NUMBERS) if column in NUMBERS else column
        parts = [
            self.value(column, depth),
            self.value(near, depth - 1),
            self.value(column, depth - 1),
        ]
        forms = [f"({{0}} {one} {{1}})" for one in ("=", "<>", "<", "<=", ">", ">=", "<=>")]
        forms += [
            "({0} BETWEEN {2} AND {1})",
            "({0} IN ({1}, {2}))",
            "({0} IS NULL)",
            "({0} IS NOT NULL)",
        ]
        if column not in NUMBERS:  # literals of which are of other types
            forms += ["(({0}, {2}) < ({2}, {0}))", "(({0}, {2}) IN (({2}, {0}), ({2}, {2})))"]
        forms += ["({0} NOT IN ({2}, {2}))", "({0} IS DISTINCT FROM {1})"]
        if column == "name":
            forms += ["({0} LIKE {1} || '%')"]
        if column == "b":
            forms += ["({0} IS TRUE)", "({0} IS NOT FALSE)", "({0})"]
        if column == "ts":
            forms += ["({0} - {1} > INTERVAL '1' DAY)"]
        return self.form(self.random.choice(forms), depth, parts)


def closing(text: str) -> int:
    """Where the first call of a text ends."""
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == ")" and depth == 0:
            return place
    raise AssertionError(text)
