"""Windows of time around a clause, which Flink SQL has and Spark says in other words."""

from __future__ import annotations

from matchrec.errors.sql.dialects import no_window_of_time
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.lexing.token_sequence import TokenSequence

_WINDOWS = ("TUMBLE", "HOP", "SESSION", "CUMULATE")


def check_windows(tokens: TokenSequence, read: Product) -> None:
    """Raises an error for `TUMBLE(...)` in FROM, in GROUP BY or in SELECT: `TUMBLE_START(...)`."""
    if not read.has_windows_of_time:
        return
    for index, token in enumerate(tokens.tokens):
        if tokens.is_call(index) and token.key.split("_")[0] in _WINDOWS:
            raise no_window_of_time(token.key, token.span)
