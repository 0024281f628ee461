"""A wrong value of an option exits with 2, and a mistake in the query with 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.quick.embedded import invoke_failing
from tests.unit.cli.conftest import STREAKS

SASE = ("check", "-c", "PATTERN SEQ(A a, B b)", "--language", "sase", "--table", "t=prices.csv")
SQL = ("check", "-", "--table", "t=prices.csv")
WINDOW = STREAKS.replace("DEFINE", "WITHIN :gap DEFINE")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--order-by", "tss", "--type-column", "sym"), "unknown-column"),
        (("--order-by", "ts", "--partition-by", "tss", "--type-column", "sym"), "unknown-column"),
        (("--order-by", "nosuch(ts)", "--type-column", "sym"), "unknown-function"),
        (("--order-by", "ts, sym"), "several-expressions-in-one-text"),
        (("--order-by", "ts DESC"), "direction-in-order-by"),
        (("--order-by", "ts +"), "unfinished-expression"),
        (("--order-by", "ts"), "unknown-type-column"),
        (("--order-by", "ts", "--type-column", "price"), "type-column-without-texts"),
    ],
)
def test_a_wrong_column_in_an_option_exits_with_2(
    options: tuple[str, ...], code: str, embedded: Path
) -> None:
    assert f"[{code}]\n" in invoke_failing(*SASE, *options, code=2)


@pytest.mark.parametrize(
    ("gap", "code"), [("-5", "not-a-positive-duration"), ("x", "not-a-duration")]
)
def test_a_wrong_value_of_a_parameter_exits_with_2(gap: str, code: str, embedded: Path) -> None:
    message = invoke_failing(*SQL, "--arg", f"gap={gap}", stdin=WINDOW, code=2)
    assert f"[{code}]\n" in message


def test_a_number_of_a_parameter_is_shown_as_written(embedded: Path) -> None:
    query = STREAKS.replace("UP+", "UP{:n,}")
    message = invoke_failing(*SQL, "--arg", "n=1.5", stdin=query, code=2)
    assert "from 0 to 2,147,483,647, but is 1.5 [parameter-not-a-number]\n" in message


@pytest.mark.parametrize("name", ["--order-by", "--table", ":n in WITHIN"])
def test_a_query_that_has_the_name_of_an_option_is_no_wrong_option(
    name: str, embedded: Path
) -> None:
    query = STREAKS.replace("PREV(price)", f"PREV(`{name}`)")
    message = invoke_failing(*SQL, stdin=query, code=1)
    assert message.startswith(f"matchrec: error: unknown column `{name}` in DEFINE")


def test_the_column_of_types_is_not_guessed(embedded: Path) -> None:
    message = invoke_failing(*SASE, "--order-by", "ts", code=2)
    advice = (
        "name the column of the event types in --type-column, or write ANY instead of each event "
        "type if events have no types"
    )
    assert message.splitlines() == [
        "matchrec: error: unknown column `event_type` in --type-column [unknown-type-column]",
        "  note: the input has: sym, ts, price",
        "  note: its columns of strings: sym",
        "  note: `event_type` is the default of --type-column",
        f"  help: {advice}",
    ]
    near = invoke_failing(*SASE, "--order-by", "ts", "--type-column", "sim", code=2)
    assert near.endswith("help: write --type-column sym\n")


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("FooWarning", None),
        ("Foo", None),
        ("TypeWarning", None),
        ("NoOrder", "NoOrderWarning"),
        ("NoConditionWarning", "NoConditionsWarning"),
    ],
)
def test_an_unknown_warning_lists_all_warnings(
    name: str, suggestion: str | None, embedded: Path
) -> None:
    message = invoke_failing(*SQL, "--ignore", name, stdin=STREAKS, code=2)
    assert "note: it must be one of " in message
    assert "NoOrderWarning, NoConditionsWarning" in message
    help_lines = [line for line in message.splitlines() if line.startswith("  help:")]
    assert help_lines == ([f"  help: write --ignore {suggestion}"] if suggestion else [])
