"""Read the operands of an expression: names, literals, calls, CASE, groups in parentheses.

Spark reserves no word by default: whether a word is a keyword or a name depends on the tokens
around it. If an operand must come next, and what follows the word cannot follow the keyword, the
word is a name.

    ROUND(drop, 2)    case > 1    CASE WHEN like THEN outer END    B.select

Each method is named like the rule of the grammar that it reads.
Source: Spark's SqlBaseParser.g4, primaryExpression, nonReserved, strictNonReserved.
"""

from __future__ import annotations

from matchrec.errors.misspellings import count_misspelt_letters, find_nearest
from matchrec.errors.sql import clause as syntax_errors
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql.tokens import case_without_end, expression_nested_too_deep
from matchrec.errors.sql.unknown_names import unknown_function
from matchrec.plan.expression import (
    ColumnReference,
    Navigation,
    Operation,
    Scalar,
    Term,
    add_text_around,
    make_column,
)
from matchrec.plan.operations import (
    NO_OPERATIONS,
    UNREAD,
    find_call_operations,
    find_operator_operations,
)
from matchrec.plan.operators import is_operation
from matchrec.plan.templates import separate_words
from matchrec.plan.text import quote_name
from matchrec.plan.words import NONDETERMINISTIC
from matchrec.syntax.amounts import read_amount, read_interval_amount
from matchrec.syntax.expressions import references
from matchrec.syntax.expressions.reader import (
    AFTER_OPERAND,
    SIGNS,
    ClausePart,
    ExpressionCursor,
    RowRead,
    read_column_path,
)
from matchrec.syntax.expressions.special_calls import SPECIAL_CALLS
from matchrec.syntax.tokens import (
    AGGREGATES,
    CONSTANT_KINDS,
    FUNCTIONS_OF_MATCH,
    SEMANTICS,
    UNITS,
    UNITS_OF_TIME,
    WINDOW_ONLY,
    Dialect,
    TokenKind,
    split_words,
)

_LITERALS = split_words("TRUE FALSE NULL CURRENT_DATE CURRENT_TIMESTAMP CURRENT_USER SESSION_USER")
_TYPES = split_words("DATE TIME TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ X")
_QUANTIFIERS = split_words("DISTINCT ALL")
_TYPES_OF_TYPES = split_words("ARRAY MAP STRUCT")  # such as ARRAY<INT>

# Functions with these names are opaque, because operations have the same names.
_OPERATORS = split_words("AND OR NOT NEG IN BETWEEN IS CASE LIKE ILIKE RLIKE REGEXP IDENTIFIER")

# Functions that name the fields of a struct after their arguments.
#
#     STRUCT(A.x, LAST(y))      →      STRUCT(? AS `x`, ? AS `col2`)
#
# Spark takes the name from the column that is passed. What a match reads is in columns of ours, so
# the name that the user's text means is written out.

NAMING = frozenset({"STRUCT", "ARRAYS_ZIP"})


# The most parentheses directly inside of each other. The parser of Sail fails at about 1,000.
MOST_PARENTHESES = 500


class OperandReader(ExpressionCursor):
    """A reader of operands: everything that has no operator between its parts."""

    def read_primary(self) -> Scalar:
        """Read an operand with the subscripts, fields, casts and collations after it."""
        start = self.position
        tree = self.read_operand()
        while (extended := self.read_postfix(start, tree)) is not None:
            tree = extended
        return tree

    def read_operand(self) -> Scalar:
        """Read a reference, a name, a literal, a call, a CASE or a group."""
        start = self.position
        key = self.key
        if start >= self.end:
            raise self.make_unexpected_error()
        token = self.tokens[start]
        if token.is_constant:
            return self.read_constant(start)
        if key == "(":
            return self.read_group()
        if key in (":", "?"):
            return self.read_parameter()
        if token.kind is TokenKind.SYMBOL and not (key == "*" or self.is_frame(start)):
            raise self.make_unexpected_error()
        if key in SEMANTICS:
            reference = references.read_with_semantics(self)
            if reference is not None:
                return reference
        if key == "CASE" and self.is_case():
            return self.read_case()
        if key == "INTERVAL" and self.is_interval():
            return self.read_interval()
        if self.key_at(start + 1) == "(" and token.is_name:
            return self.read_call()
        if key in _LITERALS and self.key_at(start + 1) not in (".", "->"):
            self.position += 1
            return self.make_term(start, frozenset({key}))
        if key in _TYPES and self.kind_at(start + 1) is TokenKind.STRING:
            self.position += 1
            return self.read_constant(start)
        if key in AFTER_OPERAND and not self.ends_after(start):
            raise self.make_unexpected_error()
        return self.read_column()

    def ends_after(self, index: int) -> bool:
        """Return whether an operand may end with the token at `index`: no other one follows."""
        kind = self.kind_at(index + 1)
        is_operand = kind is TokenKind.WORD and self.key_at(index + 1) not in AFTER_OPERAND
        return not is_operand and kind not in CONSTANT_KINDS

    def read_constant(self, start: int) -> Term:
        """Read a number, or one or more texts in a row: `'a' 'b'` is one value.

        `start` is before the word of their type if they have one, such as `DATE '2024-01-01'`.
        """
        has_type = self.position > start
        operations = find_operator_operations(self.key_at(start)) if has_type else NO_OPERATIONS
        is_number = self.kind_at(self.position) is TokenKind.NUMBER
        self.position += 1
        if is_number:
            amount = read_amount(self.tokens[start].text)
            return self.make_term(start, operations, amount=amount)
        while self.kind_at(self.position) is TokenKind.STRING:
            self.position += 1
        return self.make_term(start, operations)

    def read_parameter(self) -> Term:
        """Read `?` or `:name`."""
        start = self.position
        self.position += 1
        if self.key_at(start) == ":":
            self.read_name()
        return self.make_term(start, NO_OPERATIONS)

    def is_frame(self, index: int) -> bool:
        """Return whether `{name}` is at `index`."""
        is_named = index + 2 < self.end and self.tokens[index + 1].is_word
        return is_named and self.key_at(index) == "{" and self.key_at(index + 2) == "}"

    def read_column(self) -> Term:
        """Read a column with its qualifiers, `*`, or a parameter of a lambda."""
        start = self.position
        parts = self.read_path()
        span = self.text.span(start, self.position)
        first = self.tokens[start]
        is_star = self.key_at(self.position - 1) == "*"
        if self.key == "(" and not is_star:
            return self.read_unknown_call(start)
        is_qualified = len(parts) > 1
        has_variable = is_qualified and first.variable in self.scope.variables
        # A variable comes before a parameter of a lambda that differs in case.
        is_parameter = first.name in self.parameters
        if self.parameters and not has_variable:
            lower_parameters = {parameter.lower() for parameter in self.parameters}
            is_parameter = is_parameter or first.name.lower() in lower_parameters
        if is_parameter:
            return self.make_term(start, NO_OPERATIONS)
        variable = first.variable if has_variable else None
        if is_star:
            self._reject_star(start)
            if not is_qualified:
                return self.make_term(start, NO_OPERATIONS)
        self.rows_read.append(RowRead(variable, span, is_column=True))
        self.last_read = None if is_star else span
        column_start = parts[1] if has_variable else parts[0]
        text = self.write_span(self.text.span(column_start, self.position))
        names = read_column_path(self.tokens[column_start : self.position])
        return make_column(Navigation(variable), text, span, names)

    def read_path(self) -> list[int]:
        """Read a column with its qualifiers and fields, and return the index of each name.

        Fields of a VARIANT, as in `v:a.b`, are read, too.
        """
        parts = [self.position]
        self.position += 3 if self.key == "{" else 1  # of a frame
        while len(parts) < 4 and self.key in (".", ":"):
            self._reject_double_quotes(parts)
            parts.append(self.position + 1)
            self.position += 2
            if self.position > self.end:
                raise self.make_unexpected_error()
            last = self.tokens[parts[-1]]
            self._reject_double_quotes(parts)
            if last.key == "*":
                break
            if not last.is_name:
                self.position -= 1
                raise self.make_unexpected_error()
        return parts

    def _reject_double_quotes(self, parts: list[int]) -> None:
        """Raise an error if the last name is in double quotes, which Spark reads as a string.

        Only a qualifier that is a pattern variable may be in double quotes.
        """
        token = self.tokens[parts[-1]]
        text = self.text.text_at(token.span)
        if not text.startswith('"') or self.text.dialect is Dialect.QUOTED_NAMES:
            return
        if len(parts) > 1 or token.variable not in self.scope.variables:
            raise errors.column_in_double_quotes(token.span, clause=self.where, text=text)

    def _reject_star(self, start: int) -> None:
        """Raise an error for a `*` that is not in an aggregate other than COUNT.

        The function around it may be a misspelt aggregate, as in `coutn(*)`.
        """
        span = self.text.span(start, self.position)
        if self.scope.reads_match and self.caller is None:
            if self.functions:
                name = self.tokens[self.functions[-1]]
                if any(
                    count_misspelt_letters(name.key, aggregate, 1) == 1 for aggregate in AGGREGATES
                ):
                    raise unknown_function(name.text, self.where, AGGREGATES, name.span)
            raise errors.star_outside_navigation(span, clause=self.where)
        if self.caller is not None and self.key_at(self.caller) == "COUNT":
            function = self.tokens[self.caller].text
            raise errors.star_outside_count(span, function=function, clause=self.where)

    def read_postfix(self, start: int, tree: Scalar) -> Scalar | None:
        """Read the subscript, field, cast or collation after an operand.

        Args:
            start: the first token of the operand.
            tree: the operand.

        Returns:
            The operand with what follows it; None if none of these follows.
        """
        match self.key:
            case "[":
                self.position += 1
                index = self.read_expression()
                self.expect("]")
                return self.make_operation("[]", start, tree, index)
            case "::":
                self.position += 1
                return self.make_operation("CAST", start, tree, words=(self.read_type_name(),))
            case "." | ":" as sign:
                self.position += 1
                word = self.read_name()
                if sign == ":":
                    return self.make_term(start, NO_OPERATIONS, tree)
                return self.make_operation(".", start, tree, words=(word,))
            case "COLLATE":
                self.position += 1
                self.read_name()
                return self.make_term(start, find_operator_operations("COLLATE"), tree)
            case "OVER" if self.key_at(self.position - 1) in (")", "NULLS"):
                name = "window function"
                if self.scope.reads_match:
                    raise errors.over_not_allowed(self.here, clause=self.where)
                raise errors.match_function_before_match(
                    self.here, function=name, clause=self.where
                )
        return None

    def read_name(self) -> str:
        """Read a name."""
        if self.position >= self.end or not self.tokens[self.position].is_name:
            raise self.make_unexpected_error()
        self.position += 1
        return self.tokens[self.position - 1].text

    def read_type_name(self, end: int | None = None) -> str:
        """Read a type and return it as one word: `DECIMAL(10,2)`.

        It ends before the token `end`; by default, after the longest type that can be read.
        """
        start = self.position
        if end is None:
            self._skip_type()
        else:
            self.position = end
        if self.position == start:
            raise self.make_unexpected_error()
        tokens = self.tokens[start : self.position]
        return "".join(separate_words(self.text.text_at(token.span).upper() for token in tokens))

    def _skip_type(self) -> None:
        """Read a type: a word with its brackets, or INTERVAL with its units."""
        if self.kind_at(self.position) is not TokenKind.WORD:
            return
        holds_types = self.key in _TYPES_OF_TYPES  # after another type, `<` compares
        is_interval = self.key == "INTERVAL"
        self.position += 1
        depth = 1 if holds_types and self.accept("<") else 0
        while depth and self.position < self.end:
            if self.key == "<":
                depth += 1
            elif self.key == ">":
                depth -= 1
            self.position += 1
        if self.key == "(":
            self.position = self.text.index_after(self.position)
        while is_interval and self.key in UNITS_OF_TIME | {"TO"}:
            self.position += 1

    def is_interval(self) -> bool:
        """Return whether INTERVAL starts an interval, and is not a name.

        A text, or a number with a unit, follows it; or a parameter after a blank, as `interval:x`
        is a field.
        """
        value = self.position + 1
        has_sign = self.key_at(value) in ("-", "+")
        if has_sign:
            value += 1
        if self.key_at(value) in (":", "?"):
            return self.tokens[value].span.start > self.tokens[self.position].span.end
        has_unit = not has_sign or self.key_at(value + 1) in UNITS_OF_TIME
        is_number = has_unit and self.kind_at(value) is TokenKind.NUMBER
        return is_number or self.kind_at(value) is TokenKind.STRING

    def read_interval(self) -> Term:
        """Read `INTERVAL '1' DAY`, `INTERVAL -3 DAYS 2 HOURS`, `INTERVAL '1-2' YEAR TO MONTH`."""
        start = self.position
        self.position += 1
        if self.key in (":", "?"):
            span = self.tokens[start].span
            parameter = self.text.text_at(self.read_parameter().span)
            raise syntax_errors.interval_with_parameter(span, parameter=parameter, where=self.where)
        while self.kind_at(self.position + (self.key in ("-", "+"))) in CONSTANT_KINDS:
            self.position += 1 + (self.key in ("-", "+"))
            is_text = self.kind_at(self.position - 1) is TokenKind.STRING
            if is_text and self.key not in UNITS_OF_TIME:
                continue  # the units are in the text
            self._skip_unit()
            if self.accept("TO"):
                self._skip_unit()
        values_and_units = self.tokens[start + 1 : self.position]
        words = [self.text.text_at(token.span) for token in values_and_units]
        return self.make_term(
            start, find_operator_operations("INTERVAL"), amount=read_interval_amount(words)
        )

    def _skip_unit(self) -> None:
        """Read the unit of an interval. The error for another word proposes a unit."""
        if self.key not in UNITS_OF_TIME:
            number = self.tokens[self.position - 1]
            key = self.key
            if number.kind is not TokenKind.NUMBER:
                raise self.make_unexpected_error()
            is_word = self.kind_at(self.position) is TokenKind.WORD and key not in AFTER_OPERAND
            span = number.span.to(self.here) if is_word else number.span
            unit = find_nearest(key.removesuffix("S"), UNITS) or "MINUTE"
            raise syntax_errors.interval_without_unit(
                span, number=number.text, where=self.where, unit=unit
            )
        self.position += 1

    def is_case(self) -> bool:
        """Return whether CASE starts a `CASE ... WHEN ... END`, and is not a name."""
        start = self.position
        after = self.key_at(start + 1)
        kind_after = self.kind_at(start + 1)
        if kind_after is TokenKind.END or (kind_after is TokenKind.SYMBOL and after not in SIGNS):
            return False
        if after in AFTER_OPERAND and after != "WHEN":
            return self.key_at(start + 2) == "WHEN"
        end = self.text.pairs.get(self.text.enclosing_openings[start], self.end)
        keys = map(self.key_at, self.text.walk_level(start + 1, end))
        if after == "WHEN" and self.key_at(start - 1) == "CASE":
            # `CASE case WHEN` compares a column, `CASE CASE WHEN ... END WHEN` another CASE.
            return list(keys).count("END") > 1
        return "WHEN" in keys

    def read_case(self) -> Scalar:
        """Read a CASE: an operation over its conditions and values in turn, ELSE last.

        `CASE x WHEN` is the operation `CASE OF`, whose first operand is x.
        """
        start = self.position
        self.position += 1
        is_name = self.key_at(start + 2) == "WHEN" and not self.ends_after(start + 2)
        operator = "CASE" if self.key == "WHEN" and not is_name else "CASE OF"
        parts = [] if operator == "CASE" else [self.read_expression()]
        if self.key != "WHEN":
            raise self.make_unexpected_error()
        while self.accept("WHEN"):
            parts.append(self.read_expression())
            self.expect("THEN")
            parts.append(self.read_expression())
        if self.accept("ELSE"):
            parts.append(self.read_expression())
        if self.position == self.end:
            raise case_without_end(self.tokens[start].span, where=self.where)
        self.expect("END")
        return self.make_operation(operator, start, *parts)

    def read_group(self) -> Scalar:
        """Read an expression in parentheses, which stay in its text; several are a struct.

        Parentheses directly inside of others are read in a loop, because an engine reads more of
        them than Python can recur.
        """
        start = inner = self.position  # the outermost and the innermost parenthesis
        if self.text.is_subquery(start):
            return self.read_subquery(start, NO_OPERATIONS)
        pairs = self.text.pairs
        while self.key_at(inner + 1) == "(" and pairs.get(inner + 1) == pairs.get(inner, 0) - 1:
            if self.text.is_subquery(inner + 1):
                break
            inner += 1
        self.position = inner + 1
        if inner - start > MOST_PARENTHESES:
            raise expression_nested_too_deep(self.here, where=self.where)
        names, values = self.read_fields()
        self.expect(")")
        tree = values[0]
        if len(values) > 1:
            tree = self.make_operation("STRUCT", inner, *values, words=names)
            if inner == start:
                return tree
        self.expect(*")" * (inner - start))
        return add_text_around(tree, self.write_span, self.text.span(start, self.position))

    def read_fields(self, function: str = "") -> tuple[tuple[str, ...], tuple[Scalar, ...]]:
        """Read expressions between commas, and return their names in a struct and the expressions.

        `function` is the one whose arguments they are, if any.
        """
        fields = [self.read_field(1, function)]
        while self.accept(","):
            fields.append(self.read_field(len(fields) + 1, function))
        names, values = zip(*fields, strict=True)
        return names, values

    def read_field(self, number: int, function: str) -> tuple[str, Scalar]:
        """Read a field of a struct, and return its name and its value.

        Args:
            number: its number in the struct, from 1.
            function: the function whose argument it is, if any.
        """
        value = self.read_expression()
        if function == "STRUCT" and self.accept("AS"):
            return self.read_name(), value
        column = self.find_column_name(value)
        is_reference = isinstance(value, Term) and value.span == self.last_read
        if function and is_reference and self.scope.part is ClausePart.MEASURES:
            # Spark would name the field after a column of ours.
            name = quote_name(column or f"col{number}")
            pieces = value.pieces
            if function == "STRUCT":
                pieces = (*pieces, f" AS {name}")
            elif column is None:
                pieces = ("COALESCE(", *pieces, ")")
            else:
                pieces = ("STRUCT(", *pieces, f" AS {name}).{name}")
            value = Term(pieces, value.span, value.operations)
        return column or f"col{number}", value

    def find_column_name(self, value: Scalar) -> str | None:
        """Return the name of the column or field that was just read; None for other values."""
        if isinstance(value, Operation):
            return value.words[0] if value.operator == "." else None
        last = self.tokens[self.position - 1]
        is_reference = [type(piece) for piece in value.pieces] == [ColumnReference]
        return last.text if is_reference and last.is_name else None

    def read_call(self) -> Scalar:
        """Read a call. It is an operation if its arguments are plain expressions."""
        start = self.position
        token = self.tokens[start]
        key = self.key
        if not self.text.is_call(start):
            self.position += 1
            return self.read_unknown_call(start)
        if key in FUNCTIONS_OF_MATCH or key in AGGREGATES:
            return references.read_call(self, start)
        if self.scope.reads_match and key in WINDOW_ONLY:
            call_span = self.text.find_call_span(start)
            raise errors.window_function_not_allowed(
                token.span,
                function=token.text,
                clause=self.where,
                arguments=self.text.text_at(call_span)[len(token.text) :].strip(),
            )
        if self.scope.part is ClausePart.DEFINE and key in NONDETERMINISTIC:
            raise errors.nondeterministic_condition(token.span, function=token.text.lower())
        if key == "IDENTIFIER":  # computes the name of a column, whose row is then not known
            raise errors.identifier_not_supported(
                self.text.find_call_span(start), clause=self.where
            )
        self.functions.append(start)
        self.position += 1
        if self.text.is_subquery(self.position):
            return self.read_subquery(start, find_call_operations(key))
        self.position += 1
        read_special = SPECIAL_CALLS.get(key)
        special = read_special(self, key, start) if read_special else None
        return self.read_ordinary_call(start) if special is None else special

    def read_unknown_call(self, start: int) -> Term:
        """Read a call of a function whose name is in quotes or has qualifiers."""
        self.expect("(")
        _, values = self.read_arguments()
        self.expect(")")
        return self.make_term(start, UNREAD, *values)

    def read_ordinary_call(self, start: int) -> Scalar:
        """Read the arguments and the closing parenthesis of the call at `start`."""
        name = self.key_at(start)
        is_plain, values = self.read_arguments(name)
        self.expect(")")
        operations = find_call_operations(name)
        if is_plain and name not in _OPERATORS and is_operation(name, len(values)):
            return self.make_operation(name, start, *values, operations=operations)
        return self.make_term(start, operations, *values)

    def read_arguments(self, function: str = "") -> tuple[bool, tuple[Scalar, ...]]:
        """Read the arguments of a call.

        Returns:
            Whether all are plain expressions, without DISTINCT, names or lambdas; and the
            expressions.
        """
        if self.key == ")":
            return True, ()
        is_plain = True
        if self.is_quantifier():
            is_plain = False
            self.position += 1
        values: list[Scalar] = []
        while True:
            is_name = self.position < self.end and self.tokens[self.position].is_name
            after = self.key_at(self.text.index_after(self.position))
            if after == "->" and (is_name or self.key == "("):
                is_plain = False
                values.append(self.read_lambda_body())
            elif after == "=>" and is_name:
                is_plain = False
                self.position += 2
                values.append(self.read_expression())
            elif function in NAMING:
                values.append(self.read_field(len(values) + 1, function)[1])
            else:
                values.append(self.read_expression())
            if not self.accept(","):
                return is_plain, tuple(values)

    def is_quantifier(self) -> bool:
        """Return whether DISTINCT or ALL comes before an argument, and is not a name."""
        if self.key not in _QUANTIFIERS:
            return False
        after = self.key_at(self.position + 1)
        if self.kind_at(self.position + 1) is TokenKind.SYMBOL:
            return after in SIGNS | {"*", ":", "?", "{"}
        return after not in AFTER_OPERAND or self.key_at(self.position + 2) in (")", ",", ".")

    def read_lambda_body(self) -> Scalar:
        """Read `x -> body` or `(x, y) -> body`, and return the body as a term."""
        if self.accept("("):
            names = self.read_several(self.read_name)
            self.expect(")", "->")
        else:
            names = [self.read_name()]
            self.expect("->")
        outer_parameters = self.parameters
        self.parameters = outer_parameters.union(names)
        body = self.read_expression()
        self.parameters = outer_parameters
        return Term(body.pieces, body.span, body.operations | {"->"})
