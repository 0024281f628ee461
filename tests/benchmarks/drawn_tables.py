"""Tables with fresh random data: names, types, distributions and numbers of keys from a seed.

The shape of the data stays: order values ascend without ties, a mean distance apart, and a share of
rows lies below each threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from pyspark.sql import DataFrame, SparkSession

WORDS: dict[str, tuple[str, ...]] = {
    "k": ("symbol", "device", "account", "station", "sensor"),
    "t": ("ts", "at", "seen", "clock", "moment"),
    "x": ("price", "heat", "speed", "pressure", "score"),
    "y": ("volume", "units", "bytes", "points", "weight"),
    "e": ("event", "action", "kind", "activity", "page"),
}
STEPS_OF_FUNNELS = (
    ("view", "cart", "purchase"),
    ("open", "edit", "save"),
    ("login", "search", "book"),
    ("ring", "answer", "hang up"),
)
OTHERS = ("scroll", "help", "hover", "back")
SHARES = 1 << 20  # different values of a column
FIRST_TIME = 1_600_000_000
WIDE = 17  # columns that nothing reads


@dataclass(frozen=True)
class Distribution:
    """Values by their share of all rows: as SQL of {u} in (0, 1), and of one share."""

    text: str
    at: Callable[[float], float]


def distributions(draw: Random) -> list[Distribution]:
    """With other numbers each time: even, bell-shaped, and many small values."""
    low, span = draw.randint(1, 100), draw.randint(50, 500)
    return [
        Distribution(f"{low} + {span} * {{u}}", lambda u: low + span * u),
        Distribution(
            f"{10 * span} + {low} * ln({{u}} / (1 - {{u}}))",
            lambda u: 10 * span + low * math.log(u / (1 - u)),
        ),
        Distribution(f"{low} * exp(4 * {{u}})", lambda u: low * math.exp(4 * u)),
    ]


@dataclass(frozen=True)
class DrawnTable:
    """Columns as SQL over `id`; {keys} is their number at a scale.

    grows: whether more rows are more keys; if not, partitions grow.
    """

    items: tuple[str, ...]
    rows: int
    keys: int
    grows: bool = True

    def frame(self, spark: SparkSession, scale: float = 1.0) -> DataFrame:
        keys = max(1, round(self.keys * scale)) if self.grows else self.keys
        rows = keys * max(1, round(self.rows * scale / keys))
        return spark.range(rows).selectExpr(*(item.format(keys=keys) for item in self.items))


@dataclass(frozen=True)
class Drawn:
    """Tables by their names, and the words of the texts about them: names and thresholds."""

    tables: Mapping[str, DrawnTable]
    words: Mapping[str, str]


def share(salt: int) -> str:
    """A number in (0, 1) for each row."""
    return f"((pmod(xxhash64(id, {salt}L), {SHARES}L) + 0.5D) / {SHARES})"


def draw_tables(seed: int, rows: int) -> Drawn:
    """All tables of a seed. rows: of each at scale 1."""
    draw = Random(f"tables {seed}")
    salt = draw.randrange(1 << 40)
    words = {name: draw.choice(among) for name, among in WORDS.items()}
    values = draw.choice(distributions(draw))
    amounts = draw.randint(500, 5000)
    mean = draw.randint(20, 90)
    number = f"{FIRST_TIME} + id DIV {{keys}} * {mean} + pmod(xxhash64(id, {salt}L), {mean}L)"
    text_key = f"format_string('{draw.choice('KSUX')}%07d', id % {{keys}})"
    key = draw.choice((text_key, "xxhash64(id % {keys})", "id % {keys}"))
    order = draw.choice((number, f"timestamp_seconds({number})"))
    read = (
        f"round({values.text.format(u=share(salt + 1))}, 2) AS {words['x']}",
        f"CAST(floor({share(salt + 2)} * {amounts}) AS BIGINT) AS {words['y']}",
    )
    plain = (f"{key} AS {words['k']}", f"{order} AS {words['t']}", *read)
    texts = (f"{text_key} AS {words['k']}", f"format_string('%012d', {number}) AS {words['t']}")
    keys = max(1, rows // draw.randint(800, 3000))
    tables = {
        "readings": DrawnTable(plain, rows, keys),
        "tiny": DrawnTable(plain, rows, max(1, rows // draw.randint(8, 14))),
        "few_keys": DrawnTable(plain, rows, draw.randint(4, 12), grows=False),
        "in_text": DrawnTable((*texts, *read), rows, keys),
        "wide": DrawnTable((*plain, *unread(salt)), rows, keys),
        "visits": DrawnTable(visits(draw, salt, words), rows, max(1, rows // 100)),
    }
    names = {name: f"{name}_{draw.randrange(1000)}" for name in tables}
    words |= names | thresholds(draw, values, amounts) | spans(draw, mean, order != number)
    return Drawn({names[name]: one for name, one in tables.items()}, words)


def unread(salt: int) -> tuple[str, ...]:
    """Columns of several types that no query reads."""
    forms = ("{u} * 1000", "CAST({u} * 1e9 AS BIGINT)", "format_string('a note of %d', id % 9973)")
    return tuple(
        f"{forms[i % len(forms)].format(u=share(salt + 10 + i))} AS other_{i}" for i in range(WIDE)
    )


def visits(draw: Random, salt: int, words: dict[str, str]) -> tuple[str, ...]:
    """Events of some users, half a minute apart, with their time as a number and as a timestamp."""
    steps = draw.choice(STEPS_OF_FUNNELS)
    words |= {"first": steps[0], "second": steps[1], "third": steps[2]}
    rest = list(OTHERS) * draw.randint(2, 4)
    among = [steps[0]] * draw.randint(3, 8) + [steps[1]] * 2 + [steps[2]] + rest
    draw.shuffle(among)
    listed = ", ".join(f"'{one}'" for one in among)
    number = f"{FIRST_TIME} + id DIV {{keys}} * 30 + pmod(xxhash64(id, {salt + 3}L), 30L)"
    event = f"element_at(array({listed}), CAST({share(salt + 4)} * {len(among)} AS INT) + 1)"
    return (
        f"format_string('U%07d', id % {{keys}}) AS {words['k']}",
        f"timestamp_seconds({number}) AS {words['t']}",
        f"{number} AS seconds",
        f"{event} AS {words['e']}",
        f"CAST({share(salt + 5)} * 500 AS INT) AS {words['y']}",
    )


def thresholds(draw: Random, values: Distribution, amounts: int) -> dict[str, str]:
    """Of which a share of rows lies below: `low` and `high` often, `least` and `most` rarely."""
    rare = draw.uniform(0.02, 0.06)
    shares = {"least": rare, "most": 1 - rare}
    shares |= {"low": draw.uniform(0.2, 0.4), "high": draw.uniform(0.7, 0.9)}
    shares |= {"nearly_all": draw.uniform(0.93, 0.98)}
    found = {name: f"{values.at(one):.2f}" for name, one in shares.items()}
    jump = (values.at(0.75) - values.at(0.25)) * draw.uniform(0.1, 0.4)
    counts = {"shortest": draw.randint(5, 12), "longest": draw.randint(30, 60)}
    return (
        found
        | {"jump": f"{jump:.2f}", "few": str(round(amounts * rare)), "sum": str(20 * amounts)}
        | {name: str(one) for name, one in counts.items()}
    )


def spans(draw: Random, mean: int, is_time: bool) -> dict[str, str]:
    """How far rows lie apart: `near` holds of most neighbours, `pause` of all but few."""
    near, pause = (round(mean * (2 - math.sqrt(2 * one))) for one in (0.2, 0.03))
    minutes = draw.randint(20, 60)
    form = "INTERVAL '{}' SECOND" if is_time else "{}"
    return {
        "near": form.format(near),
        "pause": form.format(pause),
        "minutes": str(minutes),
        "bound": str(60 * minutes),
    }
