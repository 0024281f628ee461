"""Draw random queries with NOT in their patterns: add NOTs to random queries without."""

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


def draw_negated_batch(seed: int, queries: int) -> Batch:
    """Return a batch of queries whose patterns have NOTs between parts and at their ends."""
    random = Random(seed)
    batch = random_batch(seed, queries)
    changed_queries = [add_negations(random, query) for query in batch.queries]
    with_negations = [query for query in changed_queries if list_negations(query.pattern)]
    return replace(batch, queries=tuple(with_negations))


def add_negations(random: Random, query: Query) -> Query:
    """Return the query with NOTs after its first row, and conditions of their variables."""
    first = Variable(list_variable_names(query.pattern)[0])
    pattern = add_negations_between(random, make_concatenation([first, query.pattern]))
    if random.random() < 0.4:
        pattern = make_concatenation([pattern, draw_negation(random)])
    names = {name for negation in list_negations(pattern) for name in negation.names}
    unions = [UNION] if query.union else []
    expressions = Expressions(random, list_variable_names(query.pattern), unions, NO_LIMITS)
    added = {name: Conditions(expressions, name).draw_condition() for name in sorted(names)}
    return replace(query, pattern=pattern, definitions=query.definitions | added)


def add_negations_between(random: Random, pattern: RowPattern) -> RowPattern:
    """Return the pattern with a NOT between some parts that follow each other."""
    changed = replace_children(pattern, lambda part: add_negations_between(random, part))
    if not isinstance(changed, Concatenation):
        return changed
    return make_concatenation(mix_in_negations(random, changed.parts))


def mix_in_negations(random: Random, parts: tuple[RowPattern, ...]) -> Iterator[RowPattern]:
    """Yield the parts, with a NOT before some of them."""
    yield parts[0]
    for part in parts[1:]:
        if random.random() < 0.5:
            yield draw_negation(random)
        yield part


def draw_negation(random: Random) -> Negation:
    """Return NOT of one or two variables."""
    return Negation(tuple(random.sample(FORBIDDEN, random.choice((1, 1, 2)))))
