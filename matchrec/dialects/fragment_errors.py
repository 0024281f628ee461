"""Errors about fragments that sqlglot cannot read, or for which the other product has nothing.

sqlglot knows only the masked text of a fragment. The errors point at the user's text, and name as
small a part of it as possible.
"""

from __future__ import annotations

from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.dialects.masked_fragments import MaskedFragment
from matchrec.dialects.products import Product
from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.sqlglot_dialects import tokenize_product_sql
from matchrec.dialects.sqlglot_translation import translate_fragment
from matchrec.errors import MatchRecognizeParseError, MatchRecognizeUnsupportedError
from matchrec.errors.language import name_part
from matchrec.errors.sql import products as errors
from matchrec.errors.sql.expression import misplaced_running_or_final
from matchrec.errors.sql.foreign_names import find_dialect_syntax_hint
from matchrec.errors.sql.incomplete import UNFINISHED
from matchrec.source import Span
from matchrec.syntax.expressions.cursor import AFTER_OPERAND
from matchrec.syntax.function_names import SEMANTICS
from matchrec.syntax.tokenize import make_token_sequence
from matchrec.syntax.tokens import TokenSequence


def reject_semantics_before_column(masked: MaskedFragment, context: RuleContext) -> None:
    """Raise an error for RUNNING or FINAL before a column of a clause.

    sqlglot's own error would say nothing about these words.

    Raises:
        MatchRecognizeError: RUNNING or FINAL is before a column.
        TokenError: the tokens of the fragment cannot be read.
    """
    if context.part is None:
        return
    if not any(word in masked.text.upper() for word in SEMANTICS):
        return
    tokens = make_token_sequence(tokenize_product_sql(masked.text, context.read), masked.text)
    for index, token in enumerate(tokens.tokens[:-1]):
        column = tokens[index + 1]
        is_column = column.is_name and column.key not in AFTER_OPERAND
        if token.key in SEMANTICS and is_column and not tokens.is_call(index + 1):
            raise misplaced_running_or_final(
                masked.locate(token.span.to(column.span)),
                word=token.key,
                what="a column",
                clause=name_part(context.part.value),
            )


def make_parse_error(
    error: ParseError, masked: MaskedFragment, product: Product
) -> MatchRecognizeParseError:
    """Return our error for an error of sqlglot's parser.

    It points at the token at which the parser gave up, or else at the whole fragment.

    Args:
        error: sqlglot's error.
        masked: the fragment.
        product: the product whose SQL the fragment is.
    """
    details = error.errors[0] if error.errors else {}
    description = str(details.get("description") or error)
    # sqlglot's sentence about a missing keyword has the names of its classes.
    reason = UNFINISHED if "Required keyword" in description else description
    position = (details.get("line"), details.get("col"))
    hint = None
    span = masked.span
    for token in tokenize_product_sql(masked.text, product):
        if (token.line, token.col) == position:
            hint = find_dialect_syntax_hint(masked.text[: token.end + 1])
            span = masked.locate(Span(token.start, token.end + 1))
            break
    return errors.unreadable_in_product(
        span, product=product.title, reason="" if hint else reason, hint=hint
    )


def make_unsupported_error(
    error: UnsupportedError, masked: MaskedFragment, context: RuleContext
) -> MatchRecognizeUnsupportedError:
    """Return our error for a fragment that cannot be written.

    The error points at the shortest call in the fragment that cannot be written by itself. If there
    is no such call, it points at the whole fragment.

    Args:
        error: the reason why the fragment cannot be written.
        masked: the fragment.
        context: where the fragment is, and the two products.
    """
    title = context.write.title
    text = masked.edited.old_text
    tokens = make_token_sequence(tokenize_product_sql(text, context.read), text)
    for index in _list_calls_from_shortest(tokens):
        call = tokens.find_call_span(index)
        try:
            translate_fragment(text[call.start : call.end], context)
        except UnsupportedError as call_error:
            return errors.no_equivalent_in_product(
                call.shift_by(masked.span.start),
                product=title,
                what=f"this {tokens.key(index)}",
                reason=call_error,
                hint=f"write the function of {title} for it, which matchrec keeps as it is",
            )
        except (ParseError, TokenError):
            continue
    return errors.no_equivalent_in_product(
        masked.span, product=title, what="this", reason=error, hint=None
    )


def _list_calls_from_shortest(tokens: TokenSequence) -> list[int]:
    """Return the indices of the names of all calls, the call with the fewest tokens first."""

    def count_tokens(index: int) -> int:
        """Return the number of tokens between the name of a call and its closing parenthesis."""
        return tokens.pairs[index + 1] - index

    calls = [index for index in range(len(tokens)) if tokens.is_call(index)]
    return sorted(calls, key=count_tokens)
