"""Explain mistakes in the items of a clause: keys, measures, definitions and options.

    ORDER BY ts NULL LAST           not a direction
    MEASURES A.x                    a measure without a name
    SUBSET U = A, B                 a list without parentheses
    DEFINE A = x > 1                no AS
    DEFINE A AS x > 1 B AS x > 2    no comma

The functions get the tokens of the clause; an item is tokens `start .. end`. A function
`reject_...` raises the error only if the item has the mistake. A function `explain_...` returns the
error for an item that `grammar` cannot read.
"""

from __future__ import annotations

from matchrec.errors import MatchRecognizeError
from matchrec.errors.misspellings import find_keyword
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.sql import clause_items as errors
from matchrec.errors.sql.incomplete import between_without_and, in_without_parentheses
from matchrec.errors.sql.match_options import malformed_event_selection
from matchrec.errors.sql.sort_directions import malformed_direction, may_follow_key
from matchrec.errors.sql.token_advice import TokenInText, find_hint_for_token
from matchrec.errors.sql.tokens import unexpected_token
from matchrec.syntax.clause_parts import ClausePart, find_misplaced_part
from matchrec.syntax.clause_tokens import NOT_AT_END_OF_EXPRESSION, ClauseTokens
from matchrec.syntax.misplaced_patterns import explain_symbol_outside_pattern
from matchrec.syntax.tokens import TokenKind, TokenRange, split_words

# What the name after AS is for, as in messages, in the parts whose items can have one.
NAMED_ITEMS = {ClausePart.PARTITION_BY: "partition column", ClausePart.MEASURES: "measure"}

# The first words of the options after PATTERN.
_FIRST_WORDS_OF_OPTIONS = split_words("PARTITION SKIP STRICT ALL NON LONGEST FIRST")


def explain_words_after_pattern(
    clause: ClauseTokens, opening: int, start: int, end: int
) -> MatchRecognizeError:
    """Return the error for tokens `start .. end`, which follow PATTERN and its options.

    Args:
        clause: the tokens of the clause.
        opening: the parenthesis that opens the row pattern.
        start: the token after the options of PATTERN.
        end: the first token of the next part.
    """
    token = clause[start]
    ends_like_option = any(clause.key(index) in ("MATCH", "MATCHES") for index in range(start, end))
    if token.key in _FIRST_WORDS_OF_OPTIONS or (token.is_word and ends_like_option):
        words = clause.cut_out(start, end)
        options = clause.cut_out(clause.pairs[opening] + 1, start)
        return malformed_event_selection(words.full_span, text=words.text, before=options.text)
    outside = explain_symbol_outside_pattern(clause, opening - 1, start)
    if outside is not None:
        return outside
    words_text = clause.cut_out(start, end).text
    misplaced = TokenInText(token.text, "MATCH_RECOGNIZE", text_from_token=words_text)
    return unexpected_token(misplaced, token.span)


def reject_malformed_direction(clause: ClauseTokens, item: TokenRange, expression_end: int) -> None:
    """Raise an error if the words after a key of ORDER BY are not a direction: `ts NULL LAST`.

    Args:
        clause: the tokens of the clause.
        item: the key and its direction.
        expression_end: the index at which the direction starts, as `_read_sort_key` reads it.
    """
    start, end = item
    words_start = end
    while words_start - 1 > start and _may_follow_key(clause, words_start - 1):
        words_start -= 1
    if words_start >= expression_end or not clause.ends_expression(words_start - 1):
        return
    if end - words_start == 1 and clause.key(words_start) not in ("NULL", "NULLS"):
        return  # a misspelt direction, or a column with a missing comma
    if clause.key(words_start - 1) in ("IGNORE", "RESPECT"):
        return
    raise malformed_direction(
        clause.span(words_start, end),
        key=clause.cut_out(start, words_start).text,
        words=clause.cut_out(words_start, end).text,
    )


def _may_follow_key(clause: ClauseTokens, index: int) -> bool:
    """Return whether the token at `index` is a word of a direction, perhaps a misspelt one."""
    return clause[index].is_word and may_follow_key(clause.key(index))


def explain_missing_name(
    clause: ClauseTokens, start: int, as_index: int, part: ClausePart
) -> MatchRecognizeError:
    """Return the error for an item whose AS has no name after it.

    Args:
        clause: the tokens of the clause.
        start: the first token of the item.
        as_index: the index of AS.
        part: PARTITION BY or MEASURES.
    """
    return errors.measure_without_name(
        clause.span(start, as_index + 1),
        text=clause.cut_out(start, as_index).text,
        what=NAMED_ITEMS[part],
        clause=part.value,
    )


def reject_key_without_name(clause: ClauseTokens, start: int, end: int) -> None:
    """Raise an error for a key of PARTITION BY whose AS has no name: `sym AS ORDER BY ts`.

    After AS, `sections` takes ORDER for a name, so ORDER BY is a part of the item.
    """
    for index in clause.walk_level(start + 1, end):
        if clause.key(index) != "AS" or clause.key(index - 1) in (".", "AS"):
            continue
        if index == end - 1 or clause.has_keys(index + 1, "ORDER", "BY"):
            raise explain_missing_name(clause, start, index, ClausePart.PARTITION_BY)


def reject_malformed_name(clause: ClauseTokens, start: int, end: int) -> None:
    """Raise an error for a measure with AS that does not end with `AS name`.

    These are `A.x AS`, `A.x AS ONE ROW PER MATCH`, `A.x AS first price` and `A.x AS a B.y AS b`.
    """
    for index in clause.walk_level(start, end - 2):
        if clause.key(index) != "AS" or clause.key(index - 1) == "." or index == start:
            continue
        if find_misplaced_part(clause, index + 1):
            raise explain_missing_name(clause, start, index, ClausePart.MEASURES)
        # The token after the name begins another measure, or belongs to no part of the clause.
        token = clause[index + 2]
        has_two_words = clause[index + 1].is_word and token.is_word
        is_at_end = index + 3 == end
        if has_two_words and is_at_end and find_hint_for_token(token.text, "MEASURES") is None:
            raise errors.name_with_blank(
                clause.span(index + 1, end),
                name=f"{clause[index + 1].text} {token.text}",
                text=clause.cut_out(start, index).text,
            )
        measures = clause.cut_out(start, end)
        misplaced = TokenInText(token.text, "MEASURES", *measures.split_at(token.span))
        raise unexpected_token(misplaced, token.span)
    ends_with_as = end - start > 1 and clause.key(end - 1) == "AS"
    if ends_with_as and clause.key(end - 2) not in (".", "AS"):
        raise explain_missing_name(clause, start, end - 1, ClausePart.MEASURES)


def explain_measure_without_name(clause: ClauseTokens, start: int, end: int) -> MatchRecognizeError:
    """Return the error for a measure without a name.

    The error proposes `x AS m` for `x IS m`, `x := m` and `m = x`, otherwise a name for `x`.

    Raises:
        MatchRecognizeParseError: the measure ends with a list after IN that has no parentheses.
    """
    _reject_bare_list(clause, end + 1, "MEASURES")
    measure = clause.cut_out(start, end)
    if clause.key(end - 1) == "*" and (end - start == 1 or clause.key(end - 2) == "."):
        return errors.star_as_measure(measure.full_span, text=measure.text)
    text = measure.text
    name = ""
    if clause.key(end - 2) in ("IS", ":=", ":") and clause[end - 1].is_name and end - 2 > start:
        text = clause.cut_out(start, end - 2).text
        name = clause[end - 1].text
    elif clause.key(start + 1) == "=" and clause[start].is_name and end - start > 3:
        text = clause.cut_out(start + 2, end).text
        name = clause[start].text
    return errors.measure_without_name(measure.full_span, text=text, name=name)


def explain_malformed_subset(clause: ClauseTokens, start: int, end: int) -> MatchRecognizeError:
    """Return the error for an item of SUBSET that is not `name = (variable, ...)`.

    In `U = (A, B) DEFNE A AS x > 1`, a misspelt DEFINE follows the item.
    """
    after_list = clause.pairs.get(start + 2, end) + 1
    key = clause.key(after_list)  # "" at the end of the clause
    if key != "DEFINE" and find_keyword(key) == "DEFINE":
        word = clause[after_list]
        return misspelt_keyword(
            word.span, text=word.text, keyword="DEFINE", where="MATCH_RECOGNIZE"
        )
    item = clause.cut_out(start, _find_end_of_subset(clause, end))
    return errors.malformed_subset(item.full_span, text=item.text)


def _find_end_of_subset(clause: ClauseTokens, end: int) -> int:
    """Return the index after a malformed definition in SUBSET, such as `U = A, B`.

    The names after commas belong to the definition if no `=` or parenthesis follows them.
    """
    while clause.key(end) == "," and clause.can_name(end + 1):
        if clause.key(end + 2) in ("=", "(", "AS"):
            break
        end += 2
    return end


def reject_second_definition(clause: ClauseTokens, start: int, end: int) -> None:
    """Raise an error if another definition, `name AS`, starts in the condition `start .. end`.

    Then a comma is missing between the two definitions, or AND or OR is written instead of it.
    """
    for index in clause.walk_level(start, end - 1):
        starts_definition = clause.key(index + 1) == "AS" and clause.can_name(index)
        if not starts_definition or index == start:
            continue
        before = clause[index - 1]
        if before.key in ("AND", "OR"):
            raise errors.and_between_definitions(before.span, word=before.key)
        token = clause[index]
        first = start - 2 if clause.key(start - 1) == "AS" else start
        definitions = clause.cut_out(first, end)
        misplaced = TokenInText(token.text, "DEFINE", *definitions.split_at(token.span))
        raise unexpected_token(misplaced, token.span)


def explain_malformed_definition(clause: ClauseTokens, start: int, end: int) -> MatchRecognizeError:
    """Return the error for a definition that is not `name AS condition`.

    If the item begins with a name, the error proposes a definition: `A AS x > 1` for `A = x > 1`.

    Raises:
        MatchRecognizeParseError: the item is a value of a list after IN that has no parentheses.
    """
    _reject_bare_list(clause, start, "DEFINE")
    first = clause[start]
    if clause.key(start - 1) == "," and clause.key(start - 3) == "BETWEEN":
        return between_without_and(
            clause.span(start - 3, start + 1),
            where="DEFINE",
            lower_bound=clause[start - 2].text,
            upper_bound=first.text,
        )
    is_joining_word = first.kind is TokenKind.WORD and first.key in ("AND", "OR")
    if is_joining_word and end - start > 3 and clause.key(start + 2) == "AS":
        definition = clause.cut_out(start + 1, end).text
        return errors.and_between_definitions(first.span, word=first.key, definition=definition)
    if clause.can_name(start) and clause.key(start + 1) == "SA":
        return misspelt_keyword(
            clause[start + 1].span, text=clause[start + 1].text, keyword="AS", where="DEFINE"
        )
    has_name = clause.can_name(start) and clause.key(start + 1) not in (".", ",")
    condition_start = _find_condition_start(clause, start, end)
    proposal: errors.ProposedDefinition | None = None
    if has_name and condition_start < end:
        condition = clause.cut_out(condition_start, end).text
        proposal = errors.ProposedDefinition(clause[start].text, condition)
    span = clause.span(start, end)
    follows_comma = clause.key(start - 1) == ","
    before = clause[start - 2] if follows_comma else first
    is_decimal = before.kind is TokenKind.NUMBER and before.span.end + 1 == first.span.start
    return errors.malformed_definition(
        span,
        text=clause.text_at(span),
        proposal=proposal,
        follows_comma=follows_comma,
        number_before=before.text if is_decimal else "",
    )


# Words and symbols that users write instead of AS.
_WRITTEN_FOR_AS = split_words("= : := IS AS ;")


def _find_condition_start(clause: ClauseTokens, start: int, end: int) -> int:
    """Return the index at which the condition of a malformed definition begins.

    The condition begins after AS, or after a word or symbol that is written instead of AS. If
    nothing follows, the result is the end of the definition or an index after the end.
    """
    condition_start = start + 1
    for index in clause.walk_level(start + 1, end):
        if clause.key(index) == "AS":
            condition_start = index + 1
            break
    if condition_start == start + 1 and _may_be_misspelt_as(clause, condition_start):
        condition_start += 1
    while clause.key(condition_start) in _WRITTEN_FOR_AS:
        condition_start += 1
    return condition_start


def _may_be_misspelt_as(clause: ClauseTokens, index: int) -> bool:
    """Return whether the word at `index` may be a misspelt AS: a short word before an operand."""
    key = clause.key(index)
    after = index + 1
    precedes_operand = after < len(clause) and clause[after].kind is not TokenKind.SYMBOL
    is_short_word = len(key) <= len("ASS") and key.isalpha()
    return precedes_operand and is_short_word and key not in NOT_AT_END_OF_EXPRESSION


def _reject_bare_list(clause: ClauseTokens, start: int, where: str) -> None:
    """Raise an error if an item at `start` is a value of a list without parentheses: `x IN 1, 2`.

    Args:
        clause: the tokens of the clause.
        start: the index after a comma.
        where: the part of the clause, as in messages.
    """
    operator = start - 1  # the index of IN, once all values before `start` are passed
    while clause.key(operator) == "," and clause.ends_expression(operator - 1):
        operator -= 2
    follows_operand = clause.ends_expression(operator - 1)
    is_negated = clause.key(operator - 1) == "NOT"
    has_value_before = operator < start - 1
    if not has_value_before or clause.key(operator) != "IN" or not (follows_operand or is_negated):
        return
    list_end = operator + 2  # after the first value
    while clause.key(list_end) == "," and clause.ends_expression(list_end + 1):
        is_value = clause[list_end + 1].is_constant or clause.key(list_end + 2) != "AS"
        if not is_value:  # the next item begins here
            break
        list_end += 2
    values = [clause[index].text for index in range(operator + 1, list_end, 2)]
    raise in_without_parentheses(
        clause.span(operator + 1, list_end),
        where=where,
        values=values,
        operator="NOT IN" if is_negated else "IN",
    )
