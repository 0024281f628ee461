"""Arguments of functions, by type: edge values chosen by hand, and functions that draw others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import product

from matchrec.conditions.functions.function import Value
from tests.quick.scale import SEED, examples

TEXTS = (
    None, "", " ", "a", "A", "ab", "aba", "  ab ", "Straße", "ﬁn", "İi", "ΑΣ σς", "ǆ ǅ",
    "e\u0301", "😀x😀", "日本語", "a b\tc\nd", "aXbXc", "..a..", "%_", "\\", "0", "hello world",
    "a,b,,c",
)  # fmt: skip
NUMERALS = (
    "0", "-0", "+1", "12", " 12 ", "\t7\n", "1_000", "127", "128", "-129", "32768", "2147483648",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1.5", "-1.9", ".5",
    "5.", ".", "+", "-", "+.", "1e3", "1E-3", "-1e400", "1e-400", "1d", "1.5f", "NaN", "nan",
    "-Infinity", "inf", "+inf", "Infinity", "0x1p3", "0x10", "true", "T", "YES", "no", "f", "on",
    "١٢", "1 2", "99999999999999999999999999999999999999", "1e38", "123456789.987654321", "0.005",
    "\u00a05", "2024", "2024-1", "2024-02-29", "2023-02-29", "2024-02-29T10:00", " 2024-12-31 x",
    "2024-1-", "-0044-03-15", "+12345-01-01", "20240101", "02024-01-01", "2024-13-01", "\x7f1",
    "0001-01-01", "1.17549429e-38", "3.4028236e38", "16777217", "1.00000017881393432617187499",
)  # fmt: skip
INTS = (None, 0, 1, -1, 2, 3, -3, 5, 100, -100, 2**31 - 1, -(2**31))
DAYS = (None, 0, 1, -1, 59, 60, 11_016, 18_321, 19_782, -719_528, -719_162, 2_932_896, 18_262)
DAY = 86_400_000_000
INSTANTS = (
    None, 0, 1, -1, 999_999, DAY - 1, -DAY, 1_583_650_799_999_999, 1_583_650_800_000_000,
    1_585_443_600_000_000, 1_603_587_600_000_000, 1_604_210_400_123_456, 1_582_934_400_000_000,
    253_402_300_799_999_999, -62_135_596_800_000_000, 951_782_400_000_000, -2_717_650_800_000_000,
)  # fmt: skip
INTERVALS = (
    None,
    0,
    1,
    -1,
    1_000_000,
    -1_500_000,
    3_600_000_000,
    DAY,
    -DAY - 1,
    400 * DAY + 123_456,
)
FLOATS = (
    None, 0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0.1, 1e-5, 1e7, 123456.789, 127.9, 128.0,
    -128.9, 32767.5, 2147483647.5, 2147483648.0, 9.223372036854775e18, 2.0**63, -(2.0**63), 1e300,
    5e-324, float("inf"), float("-inf"), float("nan"), 16777217.0, 3.5e38, 0.30000000000000004,
)  # fmt: skip
DECIMALS = tuple(
    None if number is None else Decimal(number).quantize(Decimal("0.01"))
    for number in (None, 0, 1, -1, "0.5", "2.5", "-2.5", "127.99", "128", "99999999.99", "-0.01")
)
ALPHABET = "abAB zZ09.,-_%\\xXßİıΣσς😀日é\t"

Draw = Callable[[random.Random], Value]


def draw_text(generator: random.Random, alphabet: str = ALPHABET, longest: int = 8) -> str:
    """Draw a text of at most `longest` characters."""
    return "".join(generator.choices(alphabet, k=generator.randint(0, longest)))


def draw_small_number(generator: random.Random) -> int:
    """Draw a number near 0."""
    return generator.randint(-6, 9)


def draw_day(generator: random.Random) -> int:
    """Draw a day of any year, as days since 1970-01-01."""
    return generator.randint(-750_000, 2_932_000)


def draw_near_day(generator: random.Random) -> int:
    """Draw a day between 1997 and 2030, as days since 1970-01-01."""
    return generator.randint(10_000, 22_000)


def draw_instant(generator: random.Random) -> int:
    """Draw an instant, as microseconds since 1970 began."""
    return generator.choice((draw_day, draw_near_day))(generator) * DAY + generator.randrange(DAY)


def draw_span(generator: random.Random) -> int:
    """Draw a length of time in microseconds, often of whole days."""
    return generator.choice((1, 1000, DAY, 900 * DAY)) * generator.randint(
        -99, 99
    ) + generator.randint(0, 99)


def draw_float(generator: random.Random) -> float:
    """Draw a floating-point number."""
    return generator.choice(
        (
            generator.uniform(-200, 200),
            generator.uniform(-1e6, 1e6) * 10 ** generator.randint(0, 15),
        )
    )


def draw_numeral(generator: random.Random) -> str:
    """Draw a text that is a number, or nearly one."""
    return draw_text(generator, "0123456789.+-eE ", 7)


def make_rows(
    edge_values: Sequence[Sequence[Value]],
    draws: Sequence[Draw],
    random_rows: int = 200,
    most_combinations: int = 400,
) -> list[tuple[Value, ...]]:
    """Return rows of arguments. They are the same in each run.

    Args:
        edge_values: the edge values of each argument. The rows have their combinations.
        draws: for each argument, the function that draws it for a random row.
        random_rows: the number of random rows at night: see `tests.quick.scale.examples`.
        most_combinations: if there are more combinations of edge values, so many are drawn.
    """
    generator = random.Random(SEED)
    combinations = list(product(*edge_values))
    if len(combinations) > most_combinations:
        combinations = generator.sample(combinations, most_combinations)
    return combinations + [
        tuple(draw(generator) for draw in draws) for _ in range(examples(random_rows))
    ]


def make_single_rows(
    edge_values: Sequence[Value], draw: Draw, random_rows: int = 300
) -> Iterator[tuple[Value]]:
    """Yield rows of a single argument: see `make_rows`."""
    yield from make_rows((edge_values,), (draw,), random_rows)
