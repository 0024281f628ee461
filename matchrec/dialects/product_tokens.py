"""Read our tokens of a text in the SQL of a product."""

from __future__ import annotations

from sqlglot import TokenType
from sqlglot.errors import TokenError

from matchrec.dialects.products import Product
from matchrec.dialects.sqlglot_dialects import tokenize_product_sql
from matchrec.errors.sql.tokens import unclosed_text
from matchrec.source import Span
from matchrec.syntax.tokenize import make_token_sequence, replace_token
from matchrec.syntax.tokens import TokenSequence


def read_product_tokens(text: str, product: Product) -> TokenSequence:
    """Return our tokens of a text in the SQL of a product.

    Raises:
        MatchRecognizeError: the text cannot be read.
    """
    try:
        tokens = tokenize_product_sql(text, product)
    except TokenError as error:
        raise unclosed_text(Span(0, len(text))) from error
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.VAR and "#" in token.text:
            # Oracle's name `page#` is read as if it was in quotes. Other products need the quotes.
            tokens[index] = replace_token(token, TokenType.IDENTIFIER, token.text)
    return make_token_sequence(tokens, text)
