"""The error for a misspelt keyword, and misspelt words in options of several words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.misspellings import find_nearest
from matchrec.source import Span


def misspelt_keyword(
    span: Span, *, text: str, keyword: str, where: str = "the query"
) -> MatchRecognizeParseError:
    """Return the error for a misspelt keyword, wherever it stands, such as SELEC or PATERN.

    Args:
        span: the word in the text of the query.
        text: the word.
        keyword: the keyword that it probably misspells, with the words that must follow it.
        where: the part of the query.
    """
    return MatchRecognizeParseError(
        f"unknown keyword `{text}` in {where}",
        span,
        hint=f"write {keyword}",
        code="misspelt-keyword",
    )


def explain_misspelt_option(
    text: str, span: Span, *, options: Sequence[str], where: str
) -> MatchRecognizeParseError | None:
    """Return the error for an option with one misspelt word, or None for other texts.

    Args:
        text: the text at `span`. It may continue after the option.
        span: the location in the text of the query.
        options: the options in upper case. The word `*` stands for any word.
        where: the part of the query.

    >>> options = ["PAST LAST ROW", "TO FIRST *"]
    >>> print(explain_misspelt_option("TO FRIST A", Span(0, 10), options=options, where="SKIP"))
    unknown keyword `FRIST` in SKIP [misspelt-keyword]
      help: write FIRST
    >>> explain_misspelt_option("TO LAST A", Span(0, 9), options=options, where="SKIP")
    """
    words = list(re.finditer(r"\S+", text))
    correct_words = {word for option in options for word in option.split()}
    for option in options:
        keywords = option.split()
        if len(words) < len(keywords):
            continue
        wrong = [
            (word, keyword)
            for word, keyword in zip(words, keywords, strict=False)
            if keyword not in ("*", word[0].upper())
        ]
        if len(wrong) != 1:
            continue
        ((word, keyword),) = wrong
        # ROWS for ROW is another mistake: the user knows the word, but not the option.
        is_known = correct_words.intersection((word[0].upper(), word[0].upper().rstrip("S")))
        if not is_known and find_nearest(word[0], (keyword,)):
            word_span = Span(span.start + word.start(), span.start + word.end())
            return misspelt_keyword(word_span, text=word[0], keyword=keyword, where=where)
    return None
