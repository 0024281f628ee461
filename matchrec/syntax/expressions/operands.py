"""Read the operands of an expression: names, literals, CASE, groups in parentheses.

Spark reserves no word by default: whether a word is a keyword or a name depends on the tokens
around it. If an operand must come next, and the token after the word cannot follow the keyword, the
word is a name.

    ROUND(drop, 2)    case > 1    CASE WHEN like THEN outer END    B.select

Each method is named like the rule of the grammar that it reads.
Source: Spark's SqlBaseParser.g4, primaryExpression, nonReserved, strictNonReserved.
"""

from __future__ import annotations

from matchrec.errors.misspellings import count_misspelt_letters
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql.incomplete import case_without_end, expression_nested_too_deep
from matchrec.errors.sql.unknown_functions import unknown_function
from matchrec.plan.build_expressions import add_text_around, make_column
from matchrec.plan.expression import Navigation, Scalar, Term
from matchrec.plan.operations import NO_OPERATIONS, find_operator_operations
from matchrec.plan.templates import separate_words
from matchrec.syntax.amounts import UNITS_OF_TIME, read_amount
from matchrec.syntax.expressions import references
from matchrec.syntax.expressions.calls import CallParser
from matchrec.syntax.expressions.cursor import AFTER_OPERAND, OPERAND_STARTS, RowRead
from matchrec.syntax.expressions.intervals import is_at_interval, read_interval
from matchrec.syntax.function_names import AGGREGATES, SEMANTICS
from matchrec.syntax.tokens import (
    CONSTANT_KINDS,
    QuoteDialect,
    TokenKind,
    read_column_path,
    split_words,
)

# Words that are a value by themselves.
_LITERALS = split_words("TRUE FALSE NULL CURRENT_DATE CURRENT_TIMESTAMP CURRENT_USER SESSION_USER")
# Words that are the type of the string after them, as in `DATE '2024-01-01'` and `X'1F'`.
_TYPES_OF_LITERALS = split_words("DATE TIME TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ X")
# Types that are made of other types, such as ARRAY<INT>.
_NESTED_TYPES = split_words("ARRAY MAP STRUCT")

# The most parentheses directly inside each other. The parser of Sail fails at about 1,000.
MAX_PARENTHESES = 500


class OperandParser(CallParser):
    """A parser of operands: names, literals, calls, CASE and groups in parentheses."""

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
        if token.kind is TokenKind.SYMBOL and not (key == "*" or self.is_data_frame(start)):
            raise self.make_unexpected_error()
        if key in SEMANTICS:
            reference = references.read_with_semantics(self)
            if reference is not None:
                return reference
        if key == "CASE" and self.is_case():
            return self.read_case()
        if key == "INTERVAL" and is_at_interval(self):
            return read_interval(self)
        if self.key_at(start + 1) == "(" and token.is_name:
            return self.read_call()
        if key in _LITERALS and self.key_at(start + 1) not in (".", "->"):
            self.position += 1
            return self.make_term(start, frozenset({key}))
        if key in _TYPES_OF_LITERALS and self.kind_at(start + 1) is TokenKind.STRING:
            self.position += 1
            return self.read_constant(start)
        # AT is often the name of a column. Then the word after it is the unexpected one.
        is_column_at = key == "AT" and self.key_at(start + 1) != "TIME"
        if key in AFTER_OPERAND and not is_column_at and not self.can_end_operand(start):
            raise self.make_unexpected_error()
        return self.read_column()

    def can_end_operand(self, index: int) -> bool:
        """Return whether an operand may end with the token at `index`: no operand follows."""
        kind = self.kind_at(index + 1)
        is_operand = kind is TokenKind.WORD and self.key_at(index + 1) not in AFTER_OPERAND
        return not is_operand and kind not in CONSTANT_KINDS

    def read_constant(self, start: int) -> Term:
        """Read a number, or one or more strings in a row: `'a' 'b'` is one value.

        `start` is the index of the constant, or of the word of its type before it, as in
        `DATE '2024-01-01'`. The position is at the constant.
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

    def is_data_frame(self, index: int) -> bool:
        """Return whether `{name}`, the name of a DataFrame, is at `index`."""
        is_named = index + 2 < self.end and self.tokens[index + 1].is_word
        return is_named and self.key_at(index) == "{" and self.key_at(index + 2) == "}"

    def read_column(self) -> Term:
        """Read a column with its qualifiers, `*`, or a parameter of a lambda."""
        start = self.position
        name_indices = self.read_path()
        span = self.sequence.span(start, self.position)
        first = self.tokens[start]
        is_star = self.key_at(self.position - 1) == "*"
        if self.key == "(" and not is_star:
            return self.read_unknown_call(start)
        is_qualified = len(name_indices) > 1
        has_variable = is_qualified and first.variable in self.scope.variables
        if self._is_lambda_parameter(first.name, has_variable=has_variable):
            return self.make_term(start, NO_OPERATIONS)
        variable = first.variable if has_variable else None
        if is_star:
            self._reject_star(start)
            if not is_qualified:
                return self.make_term(start, NO_OPERATIONS)
        self.rows_read.append(RowRead(variable, span, is_column=True))
        self.last_read = None if is_star else span
        column_start = name_indices[1] if has_variable else start
        text = self.write_span(self.sequence.span(column_start, self.position))
        column_path = read_column_path(self.tokens[column_start : self.position])
        return make_column(Navigation(variable), text, span, column_path)

    def _is_lambda_parameter(self, name: str, *, has_variable: bool) -> bool:
        """Return whether a name is a parameter of a lambda around it.

        Case does not matter, unless the name is also a pattern variable (`has_variable`).
        """
        if has_variable or name in self.lambda_parameters:
            return name in self.lambda_parameters
        return name.lower() in {parameter.lower() for parameter in self.lambda_parameters}

    def read_path(self) -> list[int]:
        """Read a column with its qualifiers and fields, and return the index of each name.

        Fields of a VARIANT, as in `v:a.b`, are read, too.
        """
        name_indices = [self.position]
        data_frame_length = len(("{", "name", "}"))
        self.position += data_frame_length if self.key == "{" else 1
        while len(name_indices) < 4 and self.key in (".", ":"):
            self._reject_double_quotes(name_indices)
            name_indices.append(self.position + 1)
            self.position += 2
            if self.position > self.end:
                raise self.make_unexpected_error()
            self._reject_double_quotes(name_indices)
            last = self.tokens[name_indices[-1]]
            if last.key == "*":
                break
            if not last.is_name:
                self.position -= 1
                raise self.make_unexpected_error()
        return name_indices

    def _reject_double_quotes(self, name_indices: list[int]) -> None:
        """Raise an error if the last name is in double quotes, which Spark reads as a string.

        Only a qualifier that is a pattern variable may be in double quotes.
        """
        token = self.tokens[name_indices[-1]]
        text = self.sequence.text_at(token.span)
        if not text.startswith('"') or self.sequence.dialect is QuoteDialect.QUOTED_NAMES:
            return
        is_first = len(name_indices) == 1
        if not is_first or token.variable not in self.scope.variables:
            raise errors.column_in_double_quotes(token.span, clause=self.where, text=text)

    def _reject_star(self, start: int) -> None:
        """Raise an error for a `*` inside COUNT, or outside navigations and aggregates.

        The `*` is not one of `count(*)` or `count(A.*)`: `aggregates` reads these. The function
        around the `*` may be a misspelt aggregate: `coutn(*)`.

        Args:
            start: the first token of the path that ends with the `*`.
        """
        span = self.sequence.span(start, self.position)
        if self.scope.reads_match and self.caller is None:
            function_name = (
                self.tokens[self.function_indices[-1]] if self.function_indices else None
            )
            if function_name is not None and _is_misspelt_aggregate(function_name.key):
                name = function_name.text
                raise unknown_function(name, self.where, AGGREGATES, function_name.span)
            star = self.sequence.text_at(span)
            if star == "*":  # a navigation reads the columns of one variable
                star = f"{next(iter(self.scope.primary), 'A')}.*"
            raise errors.star_outside_navigation(span, star=star, clause=self.where)
        if self.caller is not None and self.key_at(self.caller) == "COUNT":
            function = self.tokens[self.caller].text
            raise errors.star_outside_count(span, function=function, clause=self.where, star="*")

    def read_postfix(self, start: int, tree: Scalar) -> Scalar | None:
        """Read the subscript, field, cast or collation after an operand.

        Args:
            start: the first token of the operand.
            tree: the operand.

        Returns:
            The operand with the suffix; None, and nothing is read, if no such suffix follows.
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
                if self.scope.reads_match:
                    raise errors.over_not_allowed(self.next_span, clause=self.where)
                raise errors.match_function_before_match(
                    self.next_span, function="window function", clause=self.where
                )
        return None

    def read_type_name(self, end: int | None = None) -> str:
        """Read a type and return it as one word: `DECIMAL(10,2)`.

        The type ends before the token `end`; by default, the longest type that can be read is read.
        """
        start = self.position
        if end is None:
            self._skip_type()
        else:
            self.position = end
        if self.position == start:
            raise self.make_unexpected_error()
        tokens = self.tokens[start : self.position]
        return "".join(
            separate_words(self.sequence.text_at(token.span).upper() for token in tokens)
        )

    def _skip_type(self) -> None:
        """Read a type: a word with its brackets, or INTERVAL with its units."""
        if self.kind_at(self.position) is not TokenKind.WORD:
            return
        is_nested = self.key in _NESTED_TYPES
        is_interval = self.key == "INTERVAL"
        self.position += 1
        # After any other type, `<` compares: `x::INT < y`.
        depth = 1 if is_nested and self.accept("<") else 0
        while depth and self.position < self.end:
            if self.key == "<":
                depth += 1
            elif self.key == ">":
                depth -= 1
            self.position += 1
        if self.key == "(":
            self.position = self.sequence.index_after(self.position)
        while is_interval and self.key in UNITS_OF_TIME | {"TO"}:
            self.position += 1

    def is_case(self) -> bool:
        """Return whether CASE starts a `CASE ... WHEN ... END`, and is not a name."""
        start = self.position
        after = self.key_at(start + 1)
        kind_after = self.kind_at(start + 1)
        starts_operand = kind_after is not TokenKind.SYMBOL or after in OPERAND_STARTS
        if kind_after is TokenKind.END or not starts_operand:
            return False
        if after in AFTER_OPERAND and after != "WHEN":
            # `CASE end WHEN` compares a column that is called `end`. In `case END`, `case` is the
            # name of a column.
            return self.key_at(start + 2) == "WHEN"
        end = self.sequence.pairs.get(self.sequence.enclosing_openings[start], self.end)
        keys = [self.key_at(index) for index in self.sequence.walk_level(start + 1, end)]
        if after == "WHEN" and self.key_at(start - 1) == "CASE":
            # `CASE case WHEN` compares a column, `CASE CASE WHEN ... END WHEN` another CASE.
            return keys.count("END") > 1
        return "WHEN" in keys

    def read_case(self) -> Scalar:
        """Read a CASE: an operation whose operands are conditions and results in turn.

        The result of ELSE is the last operand. `CASE x WHEN` is the operation `CASE OF`, whose
        first operand is x.
        """
        start = self.position
        self.position += 1
        # `CASE when WHEN 1 THEN 2 END` compares a column that is called `when`.
        is_name = self.key_at(start + 2) == "WHEN" and not self.can_end_operand(start + 2)
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
        if self.position == self.end or self.key in (")", "]"):
            last_word = self.tokens[self.position - 1].text
            raise case_without_end(self.tokens[start].span, where=self.where, last_word=last_word)
        self.expect("END")
        return self.make_operation(operator, start, *parts)

    def read_group(self) -> Scalar:
        """Read an expression in parentheses, which stay in its text, or a struct: `(x, y)`.

        Parentheses directly inside each other are read in a loop: an engine accepts more of them
        than the depth to which Python can recur.
        """
        start = self.position  # the outermost parenthesis
        inner = start  # the innermost parenthesis
        if self.sequence.is_subquery(start):
            return self.read_subquery(start, NO_OPERATIONS)
        pairs = self.sequence.pairs
        while self.key_at(inner + 1) == "(" and pairs.get(inner + 1) == pairs.get(inner, 0) - 1:
            if self.sequence.is_subquery(inner + 1):
                break
            inner += 1
        self.position = inner + 1
        if inner - start > MAX_PARENTHESES:
            raise expression_nested_too_deep(self.next_span, where=self.where)
        fields = self.read_fields()
        self.expect(")")
        tree = fields[0].value
        if len(fields) > 1:
            tree = self.make_struct(inner, fields)
            if inner == start:
                return tree
        self.expect(*")" * (inner - start))
        return add_text_around(tree, self.write_span, self.sequence.span(start, self.position))


def _is_misspelt_aggregate(function: str) -> bool:
    """Return whether a function, in upper case, differs from an aggregate by one mistake."""
    return any(count_misspelt_letters(function, aggregate, 1) == 1 for aggregate in AGGREGATES)
