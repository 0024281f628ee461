"""The operands of an expression: references, names, literals, calls, CASE, groups in parentheses.

Spark reserves no word by default, and finds by what stands around one whether it is a name: where
an operand is due and nothing that the word could introduce follows, there is no other reading.

    ROUND(drop, 2)    case > 1    CASE WHEN like THEN outer END    B.select

Source: Spark's SqlBaseParser.g4, primaryExpression, nonReserved, strictNonReserved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from matchrec.errors.kinds import misspelt, nearest
from matchrec.errors.sql import clause as syntax_errors
from matchrec.errors.sql import expression as errors
from matchrec.plan.expression import (
    ColumnReference,
    Navigation,
    Operation,
    Scalar,
    Term,
    column_term,
    enclosed,
)
from matchrec.plan.operations import NO_OPERATIONS, UNREAD, named
from matchrec.plan.text import NONDETERMINISTIC, quoted, spaced
from matchrec.syntax.expressions import references
from matchrec.syntax.expressions.reader import (
    AFTER_OPERAND,
    SIGNS,
    ClausePart,
    ExpressionCursor,
    RowRead,
)
from matchrec.syntax.tokens import (
    AGGREGATES,
    CONSTANTS,
    OF_THE_MATCH,
    SEMANTICS,
    UNITS,
    UNITS_OF_TIME,
    WINDOW_ONLY,
    Dialect,
    TokenKind,
    amount_of_interval,
    amount_of_number,
    read_column_path,
    words,
)

_LITERALS = words("TRUE FALSE NULL CURRENT_DATE CURRENT_TIMESTAMP CURRENT_USER SESSION_USER")
_TYPES = words("DATE TIME TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ X")
_COUNTED = words("DISTINCT ALL")
_OF_TYPES = words("ARRAY MAP STRUCT")

# Names of operations that no function of that name stands for, and one that is no function.
_OPERATORS = words("AND OR NOT NEG IN BETWEEN IS CASE LIKE ILIKE RLIKE REGEXP IDENTIFIER")

# How many arguments the functions take that are more than their name to later passes.
_ARGUMENTS: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(words("ABS NEGATIVE ISNULL ISNOTNULL ISNAN NULLIFZERO ZEROIFNULL"), (1, 1)),
    **dict.fromkeys(words("NULLIF NVL IFNULL NANVL MOD PMOD DATEDIFF DATE_DIFF"), (2, 2)),
    **dict.fromkeys(words("EQUAL_NULL SHIFTLEFT SHIFTRIGHT SHIFTRIGHTUNSIGNED"), (2, 2)),
    **dict.fromkeys(words("TRY_ADD TRY_SUBTRACT TRY_MULTIPLY TRY_DIVIDE TRY_MOD"), (2, 2)),
    **dict.fromkeys(words("NVL2 IF"), (3, 3)),
    **dict.fromkeys(words("GREATEST LEAST"), (2, None)),
    "DECODE": (3, None),
}


# Names that functions give to the fields of a struct after their arguments.
#
#     STRUCT(A.x, LAST(y))      →      STRUCT(? AS `x`, ? AS `col2`)
#
# Spark takes such a name from the column that it is given, which for what a match reads is one of
# ours, so the name that the text means is written.

NAMING = frozenset({"STRUCT", "ARRAYS_ZIP"})  # the functions that name fields after their arguments


# Right inside of each other: Sail's parser has no more than some 1,000 levels.
MOST_PARENTHESES = 500


class OperandReader(ExpressionCursor):
    def primary(self) -> Scalar:
        """An operand with the subscripts, fields, casts and collations after it."""
        start = self.position
        tree = self.operand()
        while (found := self.postfix(start, tree)) is not None:
            tree = found
        return tree

    def operand(self) -> Scalar:
        """A reference, a name, a literal, a call, a CASE or a group."""
        start, key = self.position, self.key
        if start >= self.end:
            raise self.unexpected()
        token = self.tokens[start]
        if token.is_constant:
            return self.constant(start)
        if key == "(":
            return self.group()
        if key in (":", "?"):
            return self.parameter()
        if token.kind is TokenKind.SYMBOL and not (key == "*" or self.is_frame(start)):
            raise self.unexpected()
        if key in SEMANTICS and (read := references.read_with_semantics(self)):
            return read
        if key == "CASE" and self.is_case():
            return self.case()
        if key == "INTERVAL" and self.is_interval():
            return self.interval()
        if self.key_at(start + 1) == "(" and token.is_name:
            return self.call()
        if key in _LITERALS and self.key_at(start + 1) not in (".", "->"):
            self.position += 1
            return self.make_term(start, frozenset({key}))
        if key in _TYPES and self.kind_at(start + 1) is TokenKind.STRING:
            self.position += 1
            return self.constant(start)
        if key in AFTER_OPERAND and not self.ends_after(start):
            raise self.unexpected()
        return self.column()

    def ends_after(self, index: int) -> bool:
        """Whether the operand may end with a token: no other one follows."""
        following = self.kind_at(index + 1)
        is_word = following is TokenKind.WORD and self.key_at(index + 1) not in AFTER_OPERAND
        return not is_word and following not in CONSTANTS

    def constant(self, start: int) -> Term:
        """A number; texts in a row, perhaps after the word of their type."""
        own = named(self.key_at(start)) if self.position > start else NO_OPERATIONS
        is_number = self.kind_at(self.position) is TokenKind.NUMBER
        self.position += 1
        if is_number:
            return self.make_term(start, own, amount=amount_of_number(self.tokens[start].text))
        while self.kind_at(self.position) is TokenKind.STRING:
            self.position += 1
        return self.make_term(start, own)

    def parameter(self) -> Term:
        start = self.position
        self.position += 1
        if self.key_at(start) == ":":
            self.name()
        return self.make_term(start, NO_OPERATIONS)

    def is_frame(self, index: int) -> bool:
        """Whether `{name}` stands at `index`."""
        is_named = index + 2 < self.end and self.tokens[index + 1].is_word
        return is_named and self.key_at(index) == "{" and self.key_at(index + 2) == "}"

    def column(self) -> Term:
        """A column with its qualifiers, all columns, or a parameter of a lambda."""
        start = self.position
        parts = self.path()
        span = self.span(start, self.position)
        first = self.tokens[start]
        is_star = self.key_at(self.position - 1) == "*"
        if self.key == "(" and not is_star:
            return self.unknown_call(start)
        qualified = len(parts) > 1
        is_known = qualified and first.variable in self.scope.variables
        if self.parameters and (
            first.name in self.parameters
            or (not is_known and first.name.lower() in map(str.lower, self.parameters))
        ):
            return self.make_term(start, NO_OPERATIONS)
        variable = first.variable if is_known else None
        if is_star:
            self._refuse_star(start)
            if not qualified:
                return self.make_term(start, NO_OPERATIONS)
        self.rows_read.append(RowRead(variable, span, is_column=True))
        self.last_read = None if is_star else span
        own = parts[1 if is_known else 0]
        text = self.written(self.span(own, self.position))
        names = read_column_path(self.tokens[own : self.position])
        return column_term(Navigation(variable), text, span, names)

    def path(self) -> list[int]:
        """Where each name of a column stands; goes past them, and past those of a variant."""
        parts = [self.position]
        self.position += 3 if self.key == "{" else 1  # of a frame
        while len(parts) < 4 and self.key in (".", ":"):
            self._refuse_double_quotes(parts)
            parts.append(self.position + 1)
            self.position += 2
            if self.position > self.end:
                raise self.unexpected()
            last = self.tokens[parts[-1]]
            self._refuse_double_quotes(parts)
            if last.key == "*":
                break
            if not last.is_name:
                self.position -= 1
                raise self.unexpected()
        return parts

    def _refuse_double_quotes(self, parts: list[int]) -> None:
        """A column, or a qualifier that is no variable, which the dialect reads as a string."""
        token = self.tokens[parts[-1]]
        written = self.text.text_at(token.span)
        if not written.startswith('"') or self.text.dialect is Dialect.QUOTED_NAMES:
            return
        if len(parts) > 1 or token.variable not in self.scope.variables:
            raise errors.column_in_double_quotes(token.span, clause=self.clause, text=written)

    def _refuse_star(self, start: int) -> None:
        """All columns of a row, but for those that an aggregate or a navigation reads."""
        span = self.span(start, self.position)
        if self.scope.reads_match and self.caller is None:
            name = self.tokens[self.functions[-1]] if self.functions else None  # `coutn(*)`
            if name is not None and any(misspelt(name.key, one, 1) == 1 for one in AGGREGATES):
                raise errors.unknown_function(name.text, self.clause, AGGREGATES, name.span)
            raise errors.bare_star(span, clause=self.clause)
        if self.caller is not None and self.key_at(self.caller) == "COUNT":
            function = self.tokens[self.caller].text
            raise errors.star_outside_count(span, function=function, clause=self.clause)

    def postfix(self, start: int, tree: Scalar) -> Scalar | None:
        """The operand with the subscript, field, cast or collation after it, if there is one."""
        match self.key:
            case "[":
                self.position += 1
                index = self.expression()
                self.expect("]")
                return self.make_operation("[]", start, tree, index)
            case "::":
                self.position += 1
                return self.make_operation("CAST", start, tree, words=(self.type_name(),))
            case "." | ":" as sign:
                self.position += 1
                word = self.name()
                if sign == ":":
                    return self.make_term(start, NO_OPERATIONS, tree)
                return self.make_operation(".", start, tree, words=(word,))
            case "COLLATE":
                self.position += 1
                self.name()
                return self.make_term(start, named("COLLATE"), tree)
            case "OVER" if self.key_at(self.position - 1) in (")", "NULLS"):
                name = "window function"
                if self.scope.reads_match:
                    raise errors.window(self.here, clause=self.clause)
                raise errors.reads_rows_of_a_match(self.here, function=name, clause=self.clause)
        return None

    def name(self) -> str:
        if self.position >= self.end or not self.tokens[self.position].is_name:
            raise self.unexpected()
        self.position += 1
        return self.tokens[self.position - 1].text

    def type_name(self, end: int | None = None) -> str:
        """The type up to `end`, or that which stands next, as a word: `DECIMAL(10,2)`."""
        start = self.position
        if end is None:
            self._skip_type()
        else:
            self.position = end
        if self.position == start:
            raise self.unexpected()
        tokens = self.tokens[start : self.position]
        return "".join(spaced(self.text.text_at(token.span).upper() for token in tokens))

    def _skip_type(self) -> None:
        """Goes past a type: a word with what it has in brackets, or an interval's units."""
        if self.kind_at(self.position) is not TokenKind.WORD:
            return
        holds_types = self.key in _OF_TYPES  # after another type, `<` compares
        is_interval = self.accept("INTERVAL")
        self.position += not is_interval
        deep = int(holds_types and self.accept("<"))
        while deep and self.position < self.end:
            deep += (self.key == "<") - (self.key == ">")
            self.position += 1
        self.position = self.text.past(self.position) if self.key == "(" else self.position
        while is_interval and self.key in UNITS_OF_TIME | {"TO"}:
            self.position += 1

    def is_interval(self) -> bool:
        """Whether a value with a unit follows INTERVAL, or a text; a parameter, with a gap."""
        value = self.position + 1 + (self.key_at(self.position + 1) in ("-", "+"))
        if self.key_at(value) in (":", "?"):
            return self.tokens[value].span.start > self.tokens[self.position].span.end
        has_unit = value == self.position + 1 or self.key_at(value + 1) in UNITS_OF_TIME
        is_number = has_unit and self.kind_at(value) is TokenKind.NUMBER
        return is_number or self.kind_at(value) is TokenKind.STRING

    def interval(self) -> Term:
        """`INTERVAL '1' DAY`, `INTERVAL -3 DAYS 2 HOURS`, `INTERVAL '1-2' YEAR TO MONTH`."""
        start = self.position
        self.position += 1
        if self.key in (":", "?"):
            span, marker = self.tokens[start].span, self.text.text_at(self.parameter().span)
            raise syntax_errors.interval_of_parameter(span, parameter=marker, where=self.clause)
        while self.kind_at(self.position + (self.key in ("-", "+"))) in CONSTANTS:
            self.position += 1 + (self.key in ("-", "+"))
            is_text = self.kind_at(self.position - 1) is TokenKind.STRING
            if is_text and self.key not in UNITS_OF_TIME:
                continue  # its units are in it
            self._skip_unit()
            if self.accept("TO"):
                self._skip_unit()
        written = (self.text.text_at(one.span) for one in self.tokens[start + 1 : self.position])
        return self.make_term(start, named("INTERVAL"), amount=amount_of_interval(written))

    def _skip_unit(self) -> None:
        if self.key not in UNITS_OF_TIME:
            number, key = self.tokens[self.position - 1], self.key
            if number.kind is not TokenKind.NUMBER:
                raise self.unexpected()
            is_word = self.kind_at(self.position) is TokenKind.WORD and key not in AFTER_OPERAND
            span = number.span.to(self.here) if is_word else number.span
            unit = nearest(key.removesuffix("S"), UNITS) or "MINUTE"
            raise syntax_errors.interval_without_unit(
                span, number=number.text, where=self.clause, unit=unit
            )
        self.position += 1

    def is_case(self) -> bool:
        """Whether CASE ... WHEN ... END starts here."""
        start, after = self.position, self.key_at(self.position + 1)
        following = self.kind_at(start + 1)
        if following is TokenKind.END or (following is TokenKind.SYMBOL and after not in SIGNS):
            return False
        if after in AFTER_OPERAND and after != "WHEN":
            return self.key_at(start + 2) == "WHEN"
        end = self.text.pairs.get(self.text.around[start], self.end)
        keys = map(self.key_at, self.text.level(start + 1, end))
        if after == "WHEN" and self.key_at(start - 1) == "CASE":  # which compares this one, or it
            return list(keys).count("END") > 1
        return "WHEN" in keys

    def case(self) -> Scalar:
        """CASE with its conditions and values in a row, ELSE last; `CASE OF` starts with x."""
        start = self.position
        self.position += 1
        is_name = self.key_at(start + 2) == "WHEN" and not self.ends_after(start + 2)
        operator = "CASE" if self.key == "WHEN" and not is_name else "CASE OF"
        parts = [] if operator == "CASE" else [self.expression()]
        if self.key != "WHEN":
            raise self.unexpected()
        while self.accept("WHEN"):
            parts.append(self.expression())
            self.expect("THEN")
            parts.append(self.expression())
        if self.accept("ELSE"):
            parts.append(self.expression())
        if self.position == self.end:
            raise syntax_errors.case_without_end(self.tokens[start].span, where=self.clause)
        self.expect("END")
        return self.make_operation(operator, start, *parts)

    def group(self) -> Scalar:
        """An expression in parentheses, which are in its text; several are a struct.

        Those right inside of others are read at once: there may be as many as an engine reads.
        """
        start = inner = self.position
        if self.text.is_subquery(start):
            return self.subquery(start, NO_OPERATIONS)
        pairs = self.text.pairs
        while self.key_at(inner + 1) == "(" and pairs.get(inner + 1) == pairs.get(inner, 0) - 1:
            if self.text.is_subquery(inner + 1):
                break
            inner += 1
        self.position = inner + 1
        if inner - start > MOST_PARENTHESES:
            raise syntax_errors.expression_nested_too_deep(self.here, where=self.clause)
        names, values = self.fields()
        self.expect(")")
        found = values[0]
        if len(values) > 1:
            found = self.make_operation("STRUCT", inner, *values, words=names)
            if inner == start:
                return found
        self.expect(*")" * (inner - start))
        return enclosed(found, self.written, self.span(start, self.position))

    def fields(self, function: str = "") -> tuple[tuple[str, ...], tuple[Scalar, ...]]:
        """The expressions between commas, with the names that they have in a struct."""
        fields = [self.field(1, function)]
        while self.accept(","):
            fields.append(self.field(len(fields) + 1, function))
        names, values = zip(*fields, strict=True)
        return names, values

    def field(self, place: int, function: str) -> tuple[str, Scalar]:
        """The name and the value of a field, which `function` gives to its argument."""
        value = self.expression()
        if function == "STRUCT" and self.accept("AS"):
            return self.name(), value
        column = self.column_name(value)
        is_reference = isinstance(value, Term) and value.span == self.last_read
        if function and is_reference and self.scope.clause is ClausePart.MEASURES:
            name, pieces = quoted(column or f"col{place}"), value.pieces
            if function == "STRUCT":
                pieces = (*pieces, f" AS {name}")
            elif column is None:
                pieces = ("COALESCE(", *pieces, ")")
            else:
                pieces = ("STRUCT(", *pieces, f" AS {name}).{name}")
            value = Term(pieces, value.span, value.operations)
        return column or f"col{place}", value

    def column_name(self, value: Scalar) -> str | None:
        """The name that a value gives to the field of a struct, if it has one."""
        if isinstance(value, Operation):
            return value.words[0] if value.operator == "." else None
        last = self.tokens[self.position - 1]
        is_column = last.is_name and list(map(type, value.pieces)) == [ColumnReference]
        return last.text if is_column else None

    def call(self) -> Scalar:
        """A call; an operation when its arguments are plain expressions."""
        start, token, key = self.position, self.tokens[self.position], self.key
        if not self.text.is_call(start):
            self.position += 1
            return self.unknown_call(start)
        if key in OF_THE_MATCH or key in AGGREGATES:
            return references.read_call(self, start)
        if self.scope.reads_match and key in WINDOW_ONLY:
            raise errors.window_function(token.span, function=token.text, clause=self.clause)
        if self.scope.clause is ClausePart.DEFINE and key in NONDETERMINISTIC:
            raise errors.nondeterministic(token.span, function=token.text.lower())
        if key == "IDENTIFIER":  # a column by its name, of which nothing here could say the row
            raise errors.identifier_call(self.text.call_span(start), clause=self.clause)
        self.functions.append(start)
        self.position += 1
        if self.text.is_subquery(self.position):
            return self.subquery(start, named(key))
        self.position += 1
        form = SPECIAL_CALLS.get(key)
        special = form(self, key, start) if form else None
        return self.ordinary_call(start) if special is None else special

    def unknown_call(self, start: int) -> Term:
        """A call by a name in quotes, or by one with qualifiers before it."""
        self.expect("(")
        _, values = self.arguments()
        self.expect(")")
        return self.make_term(start, UNREAD, *values)

    def ordinary_call(self, start: int) -> Scalar:
        """The call at `start`, after whose parenthesis it stands: arguments between commas."""
        name = self.key_at(start)
        is_plain, values = self.arguments(name)
        self.expect(")")
        least, most = _ARGUMENTS.get(name, (1, None))
        fits = least <= len(values) and (most is None or len(values) <= most)
        if is_plain and fits and name not in _OPERATORS:
            return self.make_operation(name, start, *values)
        return self.make_term(start, named(name), *values)

    def arguments(self, function: str = "") -> tuple[bool, tuple[Scalar, ...]]:
        """Whether the arguments are values, and nothing else; and what they have of values."""
        if self.key == ")":
            return True, ()
        is_plain = not self.is_quantifier()
        self.position += not is_plain
        values: list[Scalar] = []
        while True:
            is_name = self.position < self.end and self.tokens[self.position].is_name
            after = self.key_at(self.text.past(self.position))
            if after == "->" and (is_name or self.key == "("):
                is_plain = False
                values.append(self.lambda_body())
            elif after == "=>" and is_name:
                is_plain = False
                self.position += 2
                values.append(self.expression())
            elif function in NAMING:
                values.append(self.field(len(values) + 1, function)[1])
            else:
                values.append(self.expression())
            if not self.accept(","):
                return is_plain, tuple(values)

    def is_quantifier(self) -> bool:
        """Whether DISTINCT or ALL stands before an argument, and is no name itself."""
        if self.key not in _COUNTED:
            return False
        following, after = self.kind_at(self.position + 1), self.key_at(self.position + 1)
        if following is TokenKind.SYMBOL:
            return after in SIGNS | {"*", ":", "?", "{"}
        return after not in AFTER_OPERAND or self.key_at(self.position + 2) in (")", ",", ".")

    def lambda_body(self) -> Scalar:
        """`x -> ...` or `(x, y) -> ...`, of which the body is read."""
        is_list = self.accept("(")
        names = self.several(self.name) if is_list else [self.name()]
        self.expect(*((")", "->") if is_list else ("->",)))
        outside, self.parameters = self.parameters, self.parameters.union(names)
        body = self.expression()
        self.parameters = outside
        return Term(body.pieces, body.span, body.operations | {"->"})


# Calls with more in their parentheses than values: types, units, and words between the arguments.
#
# CAST(x AS DECIMAL(10, 2))     CAST(x), of the word DECIMAL(10,2)
# TIMESTAMPDIFF(MINUTE, a, b)   TIMESTAMPDIFF(a, b), of the word MINUTE
# EXTRACT(HOUR FROM x)          EXTRACT(x), of the word HOUR
# TRIM(LEADING 'x' FROM y)      LTRIM('x', y)
# POSITION(a IN b)              POSITION(a, b)
# SUBSTRING(x FROM 2 FOR 3)     SUBSTRING(x, 2, 3)
# STRUCT(x, 1 AS y)             STRUCT(x, 1), of the words x and y
# NAMED_STRUCT('x', 1)          STRUCT(1), of the word x

# Reads what the call at an index has in its parentheses; None where it is an ordinary one.
Form = Callable[[OperandReader, str, int], Scalar | None]


def _closed(
    reader: OperandReader, name: str, start: int, *operands: Scalar, words: tuple[str, ...] = ()
) -> Operation:
    reader.expect(")")
    return reader.make_operation(name, start, *operands, words=words)


def read_cast(reader: OperandReader, name: str, start: int) -> Scalar:
    operand = reader.expression()
    reader.expect("AS")
    word = reader.type_name(reader.text.pairs[start + 1])
    return _closed(reader, name, start, operand, words=(word,))


def read_with_unit(reader: OperandReader, name: str, start: int) -> Scalar | None:
    unit, is_word = reader.key, reader.kind_at(reader.position) is TokenKind.WORD
    is_unit = is_word and unit in UNITS - {"NANOSECOND"} | {"DAYOFYEAR"}
    arguments = reader.text.separated(reader.position, reader.text.pairs[start + 1])
    if not is_unit or len(arguments) < 3 or reader.key_at(reader.position + 1) != ",":
        return None
    reader.position += 2
    values = reader.several(reader.expression)
    return _closed(reader, WITH_UNIT[name], start, *values, words=(unit,))


def read_extract(reader: OperandReader, name: str, start: int) -> Scalar | None:
    """`EXTRACT(HOUR FROM x)` and `DATE_PART('HOUR', x)`."""
    kind, sign = (TokenKind.WORD, "FROM") if name == "EXTRACT" else (TokenKind.STRING, ",")
    field = reader.position
    if reader.kind_at(field) is not kind or reader.key_at(field + 1) != sign:
        return None
    reader.position += 2
    word = reader.tokens[field].text.strip("'\"").upper()
    return _closed(reader, "EXTRACT", start, reader.expression(), words=(word,))


def read_trim(reader: OperandReader, name: str, start: int) -> Scalar | None:
    if not _has_word(reader, start, "FROM"):
        return None
    side = TRIMS.get(reader.key)
    reader.position += side is not None
    texts = [] if reader.key == "FROM" else [reader.expression()]
    reader.expect("FROM")
    return _closed(reader, side or name, start, *texts, reader.expression())


def read_position(reader: OperandReader, name: str, start: int) -> Scalar | None:
    if not _has_word(reader, start, "IN"):
        return None
    text = reader.value()  # ends before IN, which is an operator elsewhere
    reader.expect("IN")
    return _closed(reader, name, start, text, reader.expression())


def read_clauses(*keys: str) -> Form:
    """`x FROM 2 FOR 3`: arguments with words before them, of which the last may be missing."""

    def read(reader: OperandReader, name: str, start: int) -> Scalar | None:
        if not any(_has_word(reader, start, key) for key in keys):
            return None
        values = [reader.expression()]
        values += [reader.expression() for key in keys if reader.accept(key)]
        return _closed(reader, name, start, *values)

    return read


def _has_word(reader: OperandReader, start: int, word: str) -> bool:
    """Whether a word stands in the parentheses of the call at `start`, and in no others."""
    level = reader.text.level(start + 2, reader.text.pairs[start + 1])
    return any(reader.key_at(index) == word for index in level)


def read_struct(reader: OperandReader, _: str, start: int) -> Scalar | None:
    if reader.key == ")":
        return None
    names, values = reader.fields("STRUCT")
    return _closed(reader, "STRUCT", start, *values, words=names)


def read_named_struct(reader: OperandReader, _: str, start: int) -> Scalar | None:
    """Names that are no literals, or have a backslash in them, are not read."""
    ranges = reader.text.separated(start + 2, reader.text.pairs[start + 1])
    names = [
        reader.text.text_at(reader.tokens[first].span)[1:-1]
        for first, last in ranges[::2]
        if reader.kind_at(first) is TokenKind.STRING and last == first + 1
    ]
    if 2 * len(names) != len(ranges) or "\\" in "".join(names):
        return None
    values = [reader.read_range(*value) for value in ranges[1::2]]
    return _closed(reader, "STRUCT", start, *values, words=tuple(names))


TRIMS = {"BOTH": "TRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}

# The functions of a unit, each with the one that it is another name of.
WITH_UNIT = {
    **dict.fromkeys(words("TIMESTAMPDIFF TIMEDIFF DATEDIFF DATE_DIFF"), "TIMESTAMPDIFF"),
    **dict.fromkeys(words("TIMESTAMPADD DATEADD DATE_ADD"), "TIMESTAMPADD"),
}

SPECIAL_CALLS: Mapping[str, Form] = {
    **dict.fromkeys(("CAST", "TRY_CAST"), read_cast),
    **dict.fromkeys(("EXTRACT", "DATE_PART", "DATEPART"), read_extract),
    "TRIM": read_trim,
    "POSITION": read_position,
    "STRUCT": read_struct,
    "NAMED_STRUCT": read_named_struct,
    **dict.fromkeys(("SUBSTRING", "SUBSTR"), read_clauses("FROM", "FOR")),
    "OVERLAY": read_clauses("PLACING", "FROM", "FOR"),
    **dict.fromkeys(WITH_UNIT, read_with_unit),
}
