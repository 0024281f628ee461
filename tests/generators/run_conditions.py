"""Draw random conditions over three rows of a run, for matchrec and for Spark's window functions.

They are conditions of C in PATTERN (A{2} C). Spark reads the rows of A by LAG, and computes
aggregates over the rows of the match by a frame. Values have types, and functions are from the list
in `docs/reference/functions.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.generators.run_forms import (
    AGGREGATES,
    AGGREGATES_OF_ANY_TYPE,
    AGGREGATES_OF_UNORDERED,
    COLUMNS,
    FORMS,
    FORMS_OF_ONE_TYPE,
    FRAMES,
    LITERALS,
    NO_ROW,
    NUMBERS,
    OUTER,
    READS,
    REWRITTEN_AGGREGATES,
    UNORDERED,
)


@dataclass(frozen=True)
class Twins:
    """An expression as matchrec reads it in DEFINE, and as Spark reads it in SELECT."""

    ours: str
    sparks: str


class Conditions:
    """A source of random conditions of C."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def fill_form(self, form: str, depth: int, parts: Sequence[Twins] = ()) -> Twins:
        """Return a form with drawn operands.

        Args:
            form: text in which `{0}` is a part, `{i}` a value of the type of column i, and `{c}` a
                condition.
            depth: how deep the operands may be nested.
            parts: the parts.
        """
        ours = sparks = ""
        remaining = form
        while "{" in remaining:
            text, _, after = remaining.partition("{")
            name, _, remaining = after.partition("}")
            if name == "c":
                operand = self.draw_condition(depth)
            elif name.isdigit():
                operand = parts[int(name)]
            else:
                operand = self.draw_value(name, depth)
            ours += text + operand.ours
            sparks += text + operand.sparks
        return Twins(ours + remaining, sparks + remaining)

    def draw_value(self, column: str, depth: int) -> Twins:
        """Draw a value of the type of a column."""
        choice = self.random.random()
        if choice < 0.1:
            literal = self.random.choice([*LITERALS[column], NO_ROW.format(column)])
            return Twins(literal, literal)
        if choice < 0.25:
            return self.draw_aggregate(column)
        if depth <= 0 or choice < 0.5:
            ours, sparks = self.random.choice(READS)
            return Twins(ours.format(column), sparks.format(column))
        if (choice < 0.65 and column not in UNORDERED) or column not in FORMS:
            parts = [self.draw_value(column, depth - 1) for _ in range(2)]
            return self.fill_form(self.random.choice(FORMS_OF_ONE_TYPE), depth - 1, parts)
        return self.fill_form(self.random.choice(FORMS[column]), depth - 1)

    def draw_aggregate(self, column: str) -> Twins:
        """Draw an aggregate over the rows of A, of C or of both."""
        rewritten = [
            (ours, sparks)
            for ours, sparks, type_column in REWRITTEN_AGGREGATES
            if type_column == column
        ]
        if rewritten and self.random.random() < 0.4:
            return self.write_rewritten_aggregate(*self.random.choice(rewritten))
        of_any = AGGREGATES_OF_UNORDERED if column in UNORDERED else AGGREGATES_OF_ANY_TYPE
        form = self.random.choice([*AGGREGATES.get(column, []), *of_any])
        prefix, frame = self.random.choice(FRAMES)
        ours = sparks = form.replace("{0}", f"{{{column}}}")
        for name in COLUMNS:
            our_argument, sparks_argument = prefix + name, name
            if name not in UNORDERED and self.random.random() < 0.25:
                our_argument = f"nullif({our_argument}, {LITERALS[name][0]})"
                sparks_argument = f"nullif({sparks_argument}, {LITERALS[name][0]})"
            ours = ours.replace(f"{{{name}}}", our_argument)
            sparks = sparks.replace(f"{{{name}}}", sparks_argument)
        if prefix:
            ours = ours.replace("(*)", f"({prefix}*)")
        outer = next((call for call in OUTER if sparks.startswith(call)), "")
        sparks = sparks[len(outer) :]
        end = find_end_of_call(sparks) + 1
        return Twins(ours, f"{outer}{sparks[:end]} OVER ({frame}){sparks[end:]}")

    def write_rewritten_aggregate(self, ours: str, sparks: str) -> Twins:
        """Return an aggregate that needs another form in Spark, because a frame lacks it."""
        variable, frame = self.random.choice(FRAMES)
        key = self.random.choice([name for name in COLUMNS if name not in UNORDERED])
        if variable:
            ours = ours.replace("(*)", "({a}*)")
        return Twins(
            ours.replace("{a}", variable).replace("{0}", key),
            sparks.replace("{w}", frame).replace("{0}", key),
        )

    def draw_condition(self, depth: int = 2) -> Twins:
        """Draw a condition."""
        if depth > 0 and self.random.random() < 0.35:
            word = self.random.choice(
                ["({c} AND {c})", "({c} OR {c})", "(NOT {c})", "({c} AND {c} AND {c})"]
            )
            return self.fill_form(word, depth - 1)
        column = self.random.choice([name for name in COLUMNS if name not in UNORDERED])
        near = self.random.choice(NUMBERS) if column in NUMBERS else column
        parts = [
            self.draw_value(column, depth),
            self.draw_value(near, depth - 1),
            self.draw_value(column, depth - 1),
        ]
        forms = [
            f"({{0}} {operator} {{1}})" for operator in ("=", "<>", "<", "<=", ">", ">=", "<=>")
        ]
        forms += [
            "({0} BETWEEN {2} AND {1})",
            "({0} IN ({1}, {2}))",
            "({0} IS NULL)",
            "({0} IS NOT NULL)",
        ]
        if column not in NUMBERS:  # literals of numbers have other types
            forms += ["(({0}, {2}) < ({2}, {0}))", "(({0}, {2}) IN (({2}, {0}), ({2}, {2})))"]
        forms += ["({0} NOT IN ({2}, {2}))", "({0} IS DISTINCT FROM {1})"]
        if column == "name":
            forms += ["({0} LIKE {1} || '%')"]
        if column == "b":
            forms += ["({0} IS TRUE)", "({0} IS NOT FALSE)", "({0})"]
        if column == "ts":
            forms += ["({0} - {1} > INTERVAL '1' DAY)"]
        return self.fill_form(self.random.choice(forms), depth, parts)


def find_end_of_call(text: str) -> int:
    """Return the index of the parenthesis that closes the first call of a text."""
    depth = 0
    for index, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == ")" and depth == 0:
            return index
    raise AssertionError(text)
