"""Random whole queries with NOT in their patterns, out of random queries without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from matchrec.plan.pattern import (
    Concatenation,
    Negation,
    RowPattern,
    Variable,
    list_negations,
    list_variable_names,
    make_concatenation,
    replace_children,
)
from tests.generators.conditions import Conditions
from tests.generators.expressions import Expressions
from tests.generators.queries import NO_LIMITS, UNION, Batch, Query, random_batch

FORBIDDEN = ("N", "M")


def negated_batch(seed: int, queries: int) -> Batch:
    """A batch whose patterns have NOTs between parts and at their ends."""
    random, batch = Random(seed), random_batch(seed, queries)
    drawn = (negated(random, query) for query in batch.queries)
    return replace(batch, queries=tuple(one for one in drawn if list_negations(one.pattern)))


def negated(random: Random, query: Query) -> Query:
    """The query with NOTs of variables with conditions, after a first row."""
    first = Variable(list_variable_names(query.pattern)[0])
    pattern = with_negations(random, make_concatenation([first, query.pattern]))
    if random.random() < 0.4:
        pattern = make_concatenation([pattern, negation(random)])
    names = {name for one in list_negations(pattern) for name in one.names}
    unions = [UNION] if query.union else []
    expressions = Expressions(random, list_variable_names(query.pattern), unions, NO_LIMITS)
    added = {name: Conditions(expressions, name).condition() for name in sorted(names)}
    return replace(query, pattern=pattern, definitions=query.definitions | added)


def with_negations(random: Random, pattern: RowPattern) -> RowPattern:
    """The pattern with a NOT between some parts that follow each other."""
    changed = replace_children(pattern, lambda part: with_negations(random, part))
    if not isinstance(changed, Concatenation):
        return changed
    return make_concatenation(spread(random, changed.parts))


def spread(random: Random, parts: tuple[RowPattern, ...]) -> Iterator[RowPattern]:
    yield parts[0]
    for part in parts[1:]:
        if random.random() < 0.5:
            yield negation(random)
        yield part


def negation(random: Random) -> Negation:
    return Negation(tuple(random.sample(FORBIDDEN, random.choice((1, 1, 2)))))
