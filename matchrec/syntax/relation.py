"""Where a query's clauses and their relations stand, and what the query uses of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import nearest
from matchrec.errors.sql import clause as errors
from matchrec.plan.expression import Operation, Scalar, Term, conjuncts, names_of, render
from matchrec.plan.match_plan import KeyTest, Use
from matchrec.source import Span
from matchrec.syntax.expressions.expression import parse_scalar
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.tokens import OF_THE_MATCH, Range, TokenKind, TokenSequence, is_distance, words
from matchrec.syntax.written_relations import (
    WrittenRelation,
    is_from,
    is_set_operator,
    is_word,
    qualified_names,
    read_relation,
    relation_names,
    relations_after,
    rows_of_values,
    starts_part,
)

# Where the clauses of a query stand, in which statement, and whether their brackets pair up.
#
# A clause whose brackets do not pair up is cut at the wrong place, and what stands there would be
# blamed for it. The words that start its parts tell which bracket is at fault.

_BEFORE_RELATION = words("FROM JOIN USING")
_MEASURES = OF_THE_MATCH | words("RUNNING FINAL COUNT SUM AVG MIN MAX")
_BEFORE_EXPRESSION = words("SELECT WHERE AND OR NOT ON HAVING CASE WHEN THEN ELSE BY IN DISTINCT")


@dataclass(frozen=True, slots=True)
class Cut:
    """One clause: the index of its word, of its opening and of its closing parenthesis."""

    word: int
    opening: int
    closing: int


def find_clauses(tokens: TokenSequence) -> tuple[Cut, ...]:
    """The clauses in the order of evaluation. Refuses a query whose parentheses do not pair up."""
    if words := [at for at in tokens.places.get("MATCH_RECOGNIZE", ()) if is_clause(tokens, at)]:
        _refuse_unbalanced(tokens, words)
    found: list[Cut] = []
    for word in words:
        if found and word < found[-1].closing:
            raise errors.clause_in_clause(tokens[word].span)
        found.append(Cut(word, word + 1, tokens.pairs[word + 1]))
    return tuple(found)


def is_clause(tokens: TokenSequence, index: int) -> bool:
    """Whether a clause starts at `index`, and not a column, a table or a function of that name."""
    if tokens.key(index) != "MATCH_RECOGNIZE" or tokens.key(index + 1) != "(":
        return False
    if tokens.key(index - 1) in (".", "AS"):
        return False
    closing = tokens.pairs.get(index + 1, len(tokens))
    has_pattern = any(tokens.says(i, "PATTERN", "(") for i in tokens.level(index + 2, closing))
    if has_pattern or index == 0:
        return has_pattern
    before = tokens[index - 1]  # which may end a relation
    if before.kind is TokenKind.SYMBOL:
        return before.key in (")", "}")
    return before.key not in _BEFORE_EXPRESSION | _BEFORE_RELATION


WIDE_PARENTHESES = frozenset("\uff08\uff09")


def _refuse_unbalanced(tokens: TokenSequence, clauses: Sequence[int]) -> None:
    """Refuses parentheses that do not pair up. clauses: the words of the clauses."""
    if not WIDE_PARENTHESES.isdisjoint(tokens.text):
        for token in tokens.tokens[clauses[0] :]:
            if token.is_strange and not WIDE_PARENTHESES.isdisjoint(token.text):
                raise errors.strange_sign(token.text, "the query", token.span)
    for word in clauses:
        if word + 1 not in tokens.pairs:
            raise _not_closed(tokens, word)
        _refuse_early_end(tokens, word + 1)
    for closing in tokens.places.get(")", ()):
        if closing not in tokens.openings:
            raise errors.unexpected_token(")", "the query", tokens[closing].span)
    for opening in tokens.places.get("(", ()):
        if opening not in tokens.pairs:
            raise errors.unclosed_bracket(tokens[opening].span, opening="(", where="the query")


def part_at(tokens: TokenSequence, index: int) -> str | None:
    """PATTERN, SUBSET or DEFINE, where such a part starts at `index` and nothing else can."""
    word = tokens.key(index)
    distance, sign = _SIGNS_OF_PARTS.get(word, (0, ""))
    starts = distance > 0 and tokens.key(index + distance) == sign
    return word if starts and tokens.key(index - 1) not in (".", "AS") else None


# How far after the word of a part something stands that only a part has there, and what.
_SIGNS_OF_PARTS = {"PATTERN": (1, "("), "SUBSET": (2, "="), "DEFINE": (2, "AS")}

# The words with which a part begins that `_refuse_early_end` finds after the clause.
_OUTSIDE = _SIGNS_OF_PARTS.keys() | words("WITHIN ONE ALL AFTER MEASURES")


def part_outside(tokens: TokenSequence, index: int) -> str | None:
    """A part of the clause that starts at `index`, where the query around it cannot go on so."""
    match [tokens.key(at) for at in range(index, index + 3)]:
        case "WITHIN", _, _ if is_distance(tokens, index + 1):
            return "WITHIN"
        case ("ONE", "ROW", "PER") | ("ALL", "ROWS", "PER"):
            return f"{tokens.key(index)} {tokens.key(index + 1)} PER MATCH"
        case "AFTER", "MATCH", "SKIP":
            return "AFTER MATCH SKIP"
        case "MEASURES", name, sign if sign == "." or (sign == "(" and name in _MEASURES):
            return "MEASURES"
    return None


def _definition_at(tokens: TokenSequence, opening: int, index: int) -> str | None:
    """The `U AS` that starts at `index`, in a bracket where AS names nothing."""
    names = tokens.key(opening - 1) == "STRUCT" or tokens.key(opening + 1) in ("SELECT", "WITH")
    starts = tokens.key(index - 1) == "," and tokens.key(index + 1) == "AS"
    return f"{tokens[index].text} AS" if starts and not names else None


def _not_closed(tokens: TokenSequence, word: int) -> MatchRecognizeError:
    """The bracket of the clause, or one in it that holds the start of a part or a definition."""
    index = word + 2
    while index < len(tokens):
        closing = tokens.pairs.get(index)
        if closing is not None and tokens.key(index - 1) == "MATCH_RECOGNIZE":
            index = closing
        elif closing is not None:
            for inner in tokens.level(index + 1, closing):
                if part := part_at(tokens, inner) or _definition_at(tokens, index, inner):
                    spans = tokens[index].span, tokens[inner].span
                    return errors.not_closed_before(spans, opening=tokens.key(index), keyword=part)
        index += 1
    whole = tokens.span(word, word + 2)
    closing = max(tokens.openings, default=word)
    opening = tokens.openings.get(closing, word)
    between = tokens.text[tokens[closing - 1].span.end : tokens[closing].span.start]
    if word + 1 < opening < closing - 1 and "\n" in between:  # below what stands in it, alone
        return errors.last_closes_another(tokens[opening].span, whole)
    return errors.parenthesis_not_closed(whole, part="MATCH_RECOGNIZE")


def _refuse_early_end(tokens: TokenSequence, opening: int) -> None:
    """A `)` too many in the clause, so that some of its parts stand after it."""
    closing = tokens.pairs[opening]
    if _OUTSIDE.isdisjoint(map(attrgetter("key"), tokens.tokens[closing + 1 :])):
        return
    parts = {part_at(tokens, index) for index in tokens.level(opening + 1, closing)}
    for index in tokens.level(closing + 1, tokens.enclosing(closing)):
        part = part_at(tokens, index)
        if tokens.key(index) == "MATCH_RECOGNIZE":
            return
        if part and part not in parts and (index == closing + 1 or "PATTERN" not in parts):
            raise _outside(tokens, closing, index, part)
    named = tokens.key(closing + 1) == "AS"
    for index in (closing + 1, closing + 2, closing + 3)[: 3 if named else 2]:
        if part := part_outside(tokens, index):
            raise _outside(tokens, closing, index, part)


def _outside(tokens: TokenSequence, closing: int, index: int, part: str) -> MatchRecognizeError:
    """The error of a part after the clause: one `)` is too many, or all are where they belong."""
    if not tokens.openings.keys() >= set(tokens.places[")"]):
        return errors.closed_before((tokens[closing].span, tokens[index].span), keyword=part)
    return errors.outside_parentheses(tokens[index].span, part=part)


_BEFORE_KIND = words("CREATE ALTER OR REPLACE GLOBAL TEMP TEMPORARY MATERIALIZED STREAMING REFRESH")


def keeps_text(tokens: TokenSequence) -> bool:
    """Whether the statement makes a temporary view of its query: CREATE ... VIEW, CACHE TABLE."""
    return tokens.key(0) == "CACHE" or tokens.key(_created(tokens)) == "VIEW"


def _created(tokens: TokenSequence) -> int:
    """The index of what CREATE or ALTER is about, such as VIEW; 0 in other statements."""
    index = 0
    if tokens.key(0) in ("CREATE", "ALTER"):
        while tokens.key(index) in _BEFORE_KIND:
            index += 1
    return index


def refuse_stored_text(tokens: TokenSequence, cut: Cut) -> None:
    """A clause in a view that other sessions have, in a function, in a script."""
    if tokens.key(0) == "BEGIN":
        raise errors.clause_in_script(tokens[0].span)
    if not (kind := _created(tokens)):
        return
    head = [tokens.key(index) for index in range(min(kind, cut.word))]
    temporary = "TEMP" in head or "TEMPORARY" in head
    if tokens.key(kind) == "VIEW" and "GLOBAL" in head:
        raise errors.global_view(tokens.span(0, kind + 1))
    if tokens.key(kind) == "VIEW" and not temporary:
        raise errors.stored_text(tokens.span(0, kind + 1), kind="a permanent view")
    if tokens.key(kind) == "FUNCTION":
        raise errors.stored_text(tokens.span(0, kind + 1), kind="a function")


# The relation of a clause: where it starts, and which WITH clauses it sees.
#
# Brackets and the words before a relation tell where it starts.

_QUERY_WORDS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(", "MAP", "REDUCE")


@dataclass(frozen=True, slots=True)
class WithClause:
    """A WITH at token `start` that reaches up to token `end`, exclusive."""

    start: int
    end: int
    recursive: bool
    definitions: tuple[tuple[int, Range], ...]  # of a table its name, and its query's parentheses


def find_visible(
    tokens: TokenSequence, clauses: tuple[WithClause, ...], start: int
) -> tuple[Span, ...]:
    """The WITH clauses around the relation at `start`, each up to its last definition there.

    A definition sees those before it; a recursive one that holds a clause is refused.
    """
    spans = []
    for clause in clauses:
        if not clause.start < start < clause.end:
            continue
        _refuse_recursion(tokens, clause, start)
        if ends := [closing for _, (_, closing) in clause.definitions if closing < start]:
            spans.append(tokens.span(clause.start, ends[-1] + 1))
    return tuple(spans)


def find_with_clauses(tokens: TokenSequence) -> Iterator[WithClause]:
    """Every WITH of a query, outer ones first."""
    for index in tokens.places.get("WITH", ()):
        if tokens.key(index - 1) == ".":
            continue
        is_name = tokens.key(index + 2) in ("(", "AS")  # of a table
        recursive = tokens.key(index + 1) == "RECURSIVE" and not is_name
        if definitions := tuple(_definitions(tokens, index + 1 + recursive)):
            yield WithClause(index, tokens.enclosing(index), recursive, definitions)


def _definitions(tokens: TokenSequence, index: int) -> Iterator[tuple[int, Range]]:
    while index < len(tokens) and tokens[index].is_name:
        if (opening := _body(tokens, index)) is None:
            return
        closing = tokens.pairs[opening]
        yield index, (opening, closing)
        if tokens.key(closing + 1) != ",":
            return
        index = closing + 2


def _body(tokens: TokenSequence, name: int) -> int | None:
    """The parenthesis that opens the query of the definition called at `name`."""
    index = name + 1
    if tokens.key(index) == "(" and tokens.key(index + 1) not in _QUERY_WORDS:
        index = tokens.past(index)
    if tokens.key(index) == "MAX":
        index += 4
    index += tokens.key(index) == "AS"
    is_query = tokens.key(index) == "(" and tokens.key(index + 1) in _QUERY_WORDS
    return index if is_query and index in tokens.pairs else None


def _refuse_recursion(tokens: TokenSequence, clause: WithClause, start: int) -> None:
    for place, (opening, closing) in clause.definitions:
        if clause.recursive and opening < start < closing:
            name, body = tokens[place], tokens.tokens[opening + 1 : closing]
            if any(token.is_name and token.variable == name.variable for token in body):
                raise errors.recursive_relation(tokens[start].span, name=name.text)


def find_relation(tokens: TokenSequence, cut: Cut) -> WrittenRelation:
    """The relation that a clause applies to; refuses a clause that follows anything else."""
    start = find_start(tokens, cut)
    read = read_relation(tokens, start, cut.word)
    if read.end != cut.word:
        raise _misplaced(tokens, cut.word)
    if tokens.key(start - 2) == "," and tokens.key(start - 1) == "FROM":
        raise errors.comma_before_from(tokens[start - 2].span)
    if tokens.around[start] >= 0:
        _refuse_correlation(tokens, start, cut.word)
    return read


def _misplaced(tokens: TokenSequence, word: int) -> MatchRecognizeError:
    """The clause where it cannot stand, or FROM misspelt before the name of its relation."""
    if word > 1 and tokens.key(word - 2) != "FROM" and nearest(tokens.key(word - 2), ("FROM",)):
        return errors.misspelt_from(tokens[word - 2].span, text=tokens[word - 2].text)
    if tokens[word - 1].is_string:
        return errors.relation_in_quotes(tokens[word - 1].span, name=tokens[word - 1].text)
    return errors.clause_in_wrong_place(tokens[word].span)


def find_start(tokens: TokenSequence, cut: Cut) -> int:
    """The index of the first token of a clause's relation, whatever stands between them."""
    before = tokens.key(cut.word - 1)
    starts = () if before == "|>" else tuple(_starts(tokens, cut.word))
    if cut.word in (0, *starts) or before in ("(", ","):
        raise errors.clause_without_relation(tokens[cut.word].span)
    if not starts:
        raise _misplaced(tokens, cut.word)
    start = starts[-1]
    if tokens.key(0) in ("DELETE", "UPDATE") and start == 2:
        raise errors.changed_relation(tokens[cut.word].span, word=tokens.key(0))
    if tokens.key(start) == "LATERAL" and start + 1 < cut.word and tokens.key(start + 1) != ".":
        raise errors.lateral_relation(tokens[start].span)
    return start


def _starts(tokens: TokenSequence, last: int) -> Iterator[int]:
    """Where relations start, left to right up to `last`, in the FROM that is around it."""
    before = tokens.around[last]
    found = _last_from(tokens, last)
    if found is None and not _is_in_from(tokens, before):
        return
    start, ends = (before if found is None else found) + 1, False
    yield start
    for index in tokens.level(start, last):
        ends |= starts_part(tokens, index) or tokens.key(index) == "SELECT"
        is_join = is_word(tokens, index, "JOIN") and tokens.key(index + 1) != "MATCH_RECOGNIZE"
        if is_join or (tokens.key(index) == "," and not ends):
            rows = rows_of_values(tokens, start, last)  # whose commas end no relation
            if rows is None or index >= rows:
                start = index + 1
                yield start


def _is_in_from(tokens: TokenSequence, opening: int) -> bool:
    """Whether a relation stands in a parenthesis, or all of those of a FROM."""
    return tokens.key(opening) == "(" and opening in _starts(tokens, opening)


def _last_from(tokens: TokenSequence, last: int) -> int | None:
    """The nearest FROM before a clause in the brackets that are around it, or the USING of MERGE.

    Right before the clause the word names a table if there is another one, as in `FROM from`.
    """
    beside, using, is_merge, index = None, None, False, last
    while index > tokens.around[last] + 1:
        index = tokens.openings.get(index - 1, index - 1)
        if is_from(tokens, index):
            if index < last - 1:
                return index
            beside = index
        if is_word(tokens, index, "USING"):
            using, is_merge = index, False
        is_merge |= is_word(tokens, index, "MERGE") and tokens[index + 1].is_name
    return using if is_merge else beside


def _refuse_correlation(tokens: TokenSequence, start: int, end: int) -> None:
    """A column in the relation that is qualified by a relation of the query around it."""
    outer = frozenset(_names_around(tokens, start))
    inner = relation_names(tokens, start - 1, end)
    for token, path in qualified_names(tokens, range(start, end)):
        if token.name.upper() in outer - inner:
            raise errors.correlated_relation(path, name=tokens.text_at(path))


def _names_around(tokens: TokenSequence, start: int) -> Iterator[str]:
    """Names that a correlated relation could use: of queries of whose FROM it is no plain part."""
    for opening in tokens.brackets_around(start):
        around = tokens.around[opening]
        lateral = tokens.key(opening - 1) == "LATERAL"
        if lateral or not (_is_in_from(tokens, opening) or tokens.key(opening - 1) == "AS"):
            for index in tokens.level(around + 1, tokens.pairs.get(around, len(tokens))):
                for one in relations_after(tokens, index, tokens.enclosing(index)):
                    yield from (name.upper() for name in one.names if one.start - 1 != opening)


# The words of a query tell what it uses of a clause's rows.
#
# A column that is named nowhere else is not read, unless something stands for all columns. A WHERE
# that follows the clause and compares a column with constants holds of every row of the result.
# Wherever that is not plain to see, everything is used.

_ALL_COLUMNS = words("PIVOT UNPIVOT NATURAL IDENTIFIER TRANSFORM |>")
_TESTS = words("= <=> < <= > >= <> BETWEEN IN")
_TYPES = words("DATE TIMESTAMP")
_OF_A_ROW = Scope(ClausePart.PARTITION_BY, of_rows=False)


def find_use(tokens: TokenSequence, start: int, closing: int, alias: int | None) -> Use:
    """What a query uses of a clause's rows. start: of its relation. alias: of its rows, or None."""
    inside = range(start, closing + 1)
    names = None if find_renames(tokens, alias) else names_outside(tokens, inside)
    where = (closing if alias is None else alias) + 1
    is_alone = tokens.key(start - 1) == "FROM" and tokens.key(where) == "WHERE"
    return Use(names, tuple(_key_tests(tokens, where, alias)) if is_alone else ())


def names_outside(tokens: TokenSequence, inside: range = range(0)) -> frozenset[str] | None:
    """What a query names outside of some tokens, lower case; None where that may be all columns."""
    outside = tokens.tokens[: inside.start] + tokens.tokens[inside.stop :]
    keys = {token.key for token in outside}
    if "SELECT" not in keys or keys & _ALL_COLUMNS:
        return None
    for index in tokens.places.get("*", ()):
        if index not in inside and not _is_operator(tokens, index):
            return None
    return frozenset(token.name.lower() for token in outside if token.can_name)


def _is_operator(tokens: TokenSequence, index: int) -> bool:
    """Whether `*` multiplies, or counts rows."""
    before = tokens[index - 1]
    if before.key == "(":
        return tokens.key(index + 1) == ")" and tokens.key(index - 2) == "COUNT"
    is_field = before.is_name and tokens.key(index - 2) == "."
    ends_operand = before.kind is TokenKind.QUOTED or before.key in (")", "]")
    return is_field or ends_operand or before.is_constant


def find_renames(tokens: TokenSequence, alias: int | None) -> tuple[Span, ...]:
    """The names that an alias gives to the columns: `AS m (a, b)`."""
    if alias is None or tokens.key(alias + 1) != "(":
        return ()
    names = tokens.separated(alias + 2, tokens.pairs[alias + 1])
    return tuple(tokens.span(start, end) for start, end in names if start < end)


def _key_tests(tokens: TokenSequence, where: int, alias: int | None) -> Iterator[KeyTest]:
    """The tests of the WHERE after a clause that is all that FROM names."""
    inside = tokens.enclosing(where + 1)
    level = tokens.level(where + 1, inside)
    end = next((i for i in level if starts_part(tokens, i) or is_set_operator(tokens, i)), inside)
    try:
        condition = parse_scalar(tokens.part(where + 1, end), _OF_A_ROW)
    except (MatchRecognizeError, IndexError):  # which Spark will say
        return
    own = ("",) if alias is None else ("", tokens[alias].name.lower())
    for one in conjuncts(condition):
        match one:
            case Operation(operator, (left, *constants)) if operator in _TESTS:
                *qualifier, name = names_of(left) or ("", "", "")
                is_own = ".".join(qualifier).lower() in own and one.parts[0] is left
                if is_own and all(map(_is_constant, constants)):
                    yield KeyTest(name, render(replace(one, parts=one.parts[1:]), str).strip())


def _is_constant(operand: Scalar) -> bool:
    """Whether it is a number, a text, a date or a time as it is written."""
    is_written = isinstance(operand, Term) and operand.operations <= _TYPES
    return is_written and not operand.references and render(operand, str)[0] not in ":?"
