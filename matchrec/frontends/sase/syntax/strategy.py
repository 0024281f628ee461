"""The event selection strategy by its name."""

from __future__ import annotations

from matchrec.errors.sase import query as errors
from matchrec.frontends.sase.syntax.nodes import Strategy
from matchrec.source import Span


def strategy_named(written: str, span: Span) -> Strategy:
    """The strategy that is written, in any case; hyphens are as good as underscores.

    >>> strategy_named("Skip-Till-Any-Match", Span(0, 19)).name
    'SKIP_TILL_ANY_MATCH'
    """
    known = {strategy.value: strategy for strategy in Strategy}
    found = known.get(written.lower().replace("-", "_"))
    if found is None:
        raise errors.unknown_strategy(written, known, span)
    return found
