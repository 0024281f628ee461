"""Random row pattern windows on a live Trino and in the reference, and every disagreement.

    python -m tests.live.trino_windows --url http://localhost:8080 --count 300 --seed 0

Trino is asked what `matchrec.transpile` makes of each query; `properties/test_windows.py` asks
matchrec. What is not drawn is that of `trino_random.py`. Not collected by pytest: it needs a
server.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random

from tests.generators.queries import Batch, random_batch, write_values
from tests.generators.windows import WindowQuery, random_window
from tests.live.trino_check import Trino, TrinoError
from tests.live.trino_random import LIMITS, THREADS, deviates, for_trino, plain
from tests.properties.test_windows import Texts, find_rows, respell_doubles
from tests.references.queries import TooManyWords

WINDOWS_PER_BATCH = 50
Case = tuple[Batch, WindowQuery, Texts]


def random_cases(seed: int, count: int) -> Iterator[Case]:
    """So many windows that fail in no partition, each with its rows."""
    while count > 0:
        batch, random = random_batch(seed, 0, LIMITS, with_nan=False), Random(seed)
        for _ in range(min(count, WINDOWS_PER_BATCH)):
            yield random_case(random, batch)
        count -= WINDOWS_PER_BATCH
        seed += 1


def random_case(random: Random, batch: Batch) -> Case:
    while True:
        query = random_window(random, LIMITS)
        with suppress(TooManyWords):
            found = None if deviates(query.pattern) else find_rows(query, batch)
            if found is not None:
                return batch, query, found


def ask(trino: Trino, case: Case) -> Texts | str:
    """Trino's rows, or its message."""
    batch, query, _ = case
    try:
        _, rows = trino.query(for_trino(query.text(batch, write_values(batch.rows))))
    except TrinoError as error:
        return str(error)
    return Counter(respell_doubles(tuple(map(plain, row)), query) for row in rows)


def shown(case: Case, found: Texts | str) -> str:
    """The query, and what each of the two says alone."""
    batch, query, expected = case
    lines = [for_trino(query.text(batch, write_values(batch.rows)))]
    if isinstance(found, str):
        return "\n".join([*lines, f"    refused: {found}"])
    lines += [f"    only expected: {row}" for row in (expected - found).elements()]
    lines += [f"    only there:    {row}" for row in (found - expected).elements()]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="for instance http://localhost:8080")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    trino, outcome = Trino(options.url), Counter[str]()
    asked = list(random_cases(options.seed, options.count))
    with ThreadPoolExecutor(THREADS) as threads:
        replies = threads.map(lambda case: ask(trino, case), asked)
        for case, found in zip(asked, replies, strict=True):
            outcome["windows"] += 1
            outcome["rows"] += case[2].total()
            if found != case[2]:
                outcome["Trino differs"] += 1
                print(shown(case, found))
    print(dict(outcome))
    return int(bool(outcome["Trino differs"]))


if __name__ == "__main__":
    sys.exit(main())
