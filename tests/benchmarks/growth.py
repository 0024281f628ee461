"""How the time of a row changes as rows, keys and output grow: a table of ratios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Series = Mapping[str, Mapping[int, Sequence[float]]]


def flatness(series: Series) -> Iterator[list[str]]:
    """Yield a line for each series: for each engine, its longest time of a row by its shortest."""
    for name, found in series.items():
        by_engine = zip(*found.values(), strict=True)
        yield [name, *(f"{max(times) / min(times):.2f}" for times in by_engine)]
