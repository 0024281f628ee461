"""Tables with fresh random data: names, types, distributions and numbers of keys from a seed.

The shape of the data stays: order values ascend without ties, a mean distance apart, and a share of
rows lies below each threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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
GROUPS = ("day", "batch", "shift")  # names of a first ORDER BY column
STEPS_OF_FUNNELS = (
    ("view", "cart", "purchase"),
    ("open", "edit", "save"),
    ("login", "search", "book"),
    ("ring", "answer", "hang up"),
)
OTHERS = ("scroll", "help", "hover", "back")
SHARES = 1 << 20  # different values of a column
FIRST_TIME = 1_600_000_000
WIDE = 26  # columns that no condition reads: a wide table has 30
LONG_KEYS = 200
STATES = (("on", "off", "idle"), ("ok", "warm", "hot", "off"), ("open", "ajar", "shut"))
PORTS = 40


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
    found = {names[name]: one for name, one in tables.items()}
    draw = Random(f"runs {seed}")  # tables whose rows have to do with those before them
    for name, make in {"states": states, "sign_ins": sign_ins, "flights": flights}.items():
        words[name] = f"{name}_{draw.randrange(1000)}"
        keys = max(1, rows // (10 if make is sign_ins else draw.randint(800, 3000)))
        found[words[name]] = DrawnTable((*plain[:2], *make(draw, salt, words)), rows, keys)
    draw = Random(f"keys {seed}")
    words["g"] = draw.choice(GROUPS)
    words["rest"] = ", ".join(name_unread(index) for index in range(WIDE))
    group = f"CAST({TICK} DIV {draw.randint(300, 700)} AS INT) AS {words['g']}"
    long_key = f"{long_text('id % {keys}', salt)} AS {words['k']}"
    for name, one in {
        "four_keys": DrawnTable(plain, rows, 4, grows=False),
        "one_key": DrawnTable(plain, rows, 1, grows=False),
        "long_keys": DrawnTable((long_key, *plain[1:]), rows, LONG_KEYS, grows=False),
        "grouped": DrawnTable((*plain, group), rows, max(1, rows // draw.randint(800, 3000))),
    }.items():
        words[name] = f"{name}_{draw.randrange(1000)}"
        found[words[name]] = one
    return Drawn(found, words)


def long_text(number: str, salt: int) -> str:
    """Return SQL for a text of 36 characters, in the form of a UUID, that a number determines."""
    digits = f"md5(CAST({number} + {salt}L AS STRING))"
    parts = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
    texts = ", ".join(f"substring({digits}, {start}, {length})" for start, length in parts)
    return f"concat_ws('-', {texts})"


def states(draw: Random, salt: int, words: dict[str, str]) -> tuple[str, ...]:
    """A state that stays for some rows, and a gauge that sometimes shows the same for some."""
    shorter, longer = draw.sample((5, 7, 11, 13), 2)
    state = hashed(f"{TICK} DIV {shorter}, {TICK} DIV {longer}, {salt}L")
    block = f"pmod({hashed(f'{TICK} DIV {draw.randint(7, 12)}, {salt}L')}, 100L)"
    is_stuck = f"{block} < {draw.randint(2, 8)}"
    gauge = f"IF({is_stuck}, {block}, pmod({hashed(f'id, {salt}L')}, 100000L)) / 100"
    return f"{one_of(draw.choice(STATES), state)} AS {words['e']}", f"{gauge} AS {words['x']}"


def sign_ins(draw: Random, salt: int, words: dict[str, str]) -> tuple[str, ...]:
    """Events of many accounts: about half of them are failures."""
    words |= {"failed": draw.choice(("failed", "refused")), "passed": "passed"}
    often = [words[one] for one in ("failed", "passed") for _ in range(draw.randint(3, 5))]
    return (f"{one_of([*often, 'reset'], hashed(f'id, {salt}L'))} AS {words['e']}",)


def flights(draw: Random, salt: int, words: dict[str, str]) -> tuple[str, ...]:
    """Of aircraft, which mostly leave where they came to; their delays stay for some flights."""
    words["o"] = draw.choice(("origin", "departed"))
    words["d"] = draw.choice(("destination", "reached"))
    each, span = hashed(f"id, {salt}L"), draw.randint(30, 60)
    elsewhere = f"IF(pmod({each}, {draw.randint(10, 30)}L) = 0, 7, 0)"
    block = hashed(f"{TICK} DIV {draw.randint(4, 6)}, {salt}L")
    is_passed_on = f"pmod({block}, 100L) < {draw.randint(10, 30)}"
    return (
        f"{port(elsewhere, salt)} AS {words['o']}",
        f"{port('1', salt)} AS {words['d']}",
        f"pmod(IF({is_passed_on}, {block}, {each}), {span}L) AS {words['x']}",
    )


def port(after: str, salt: int) -> str:
    """Where an aircraft is, so many flights later."""
    return f"format_string('P%02d', pmod({hashed(f'{TICK} + {after}, {salt}L')}, {PORTS}L))"


TICK = "id DIV {keys}"  # how many rows of its key come before a row


def hashed(columns: str) -> str:
    """A number for each key and what the columns are worth."""
    return f"xxhash64(id % {{keys}}, {columns})"


def one_of(names: Sequence[str], number: str) -> str:
    """The name at a number's remainder."""
    listed = ", ".join(f"'{one}'" for one in names)
    return f"element_at(array({listed}), CAST(pmod({number}, {len(names)}L) AS INT) + 1)"


def unread(salt: int) -> tuple[str, ...]:
    """Columns of several types that no condition reads."""
    forms = ("{u} * 1000", "CAST({u} * 1e9 AS BIGINT)", "format_string('a note of %d', id % 9973)")
    return tuple(
        f"{forms[index % len(forms)].format(u=share(salt + 10 + index))} AS {name_unread(index)}"
        for index in range(WIDE)
    )


def name_unread(index: int) -> str:
    """Return the name of a column of a wide table that no condition reads."""
    return f"other_{index}"


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
        "spell": form.format(5 * mean),
        "minutes": str(minutes),
        "bound": str(60 * minutes),
    }
