"""Find SQL with clauses in the messages of Spark Connect, and replace it by other relations.

Messages have SQL in two forms. A client's `spark.sql(text)` is a command, `SqlCommand`, whose
answer is a relation. Some clients put the SQL into a plan themselves, as a relation `SQL`. Both
forms can be the root of `WithRelations`, which holds the DataFrames that the text names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyspark.sql.connect.proto as proto
from pyspark.sql.connect.expressions import LiteralExpression

from matchrec.api.text_kinds import CLAUSE_OR_SASE_START
from matchrec.errors import gateway as errors
from matchrec.gateway import settings
from matchrec.syntax.locate import may_have_clause

# A protobuf message. Its classes are made at run time, so type checkers do not know them.
Message = Any
ProtoRelation = Any

# A message is parsed only if it has one of these words, in upper or lower case, or bytes that zstd
# has compressed, which may hide such a word. A clause, a SASE+ text and a statement about options
# of matchrec each have one of the words.
STATEMENT_WORDS = (b"match_recognize", b"pattern", b"seq(", b"matchrec.", b"reset")
ZSTD_MAGIC_NUMBER = b"\x28\xb5\x2f\xfd"  # the first bytes of compressed data

# Added to the ids of the plans that replace SQL, so that they differ from the ids that the client
# has given to its plans: columns refer to plans by these ids.
PLAN_ID_OFFSET = 1 << 40


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """A SQL text of a client, with its parameters and DataFrames."""

    text: str
    # The values of the parameters: by name, or a list in the order of the parameters. None if the
    # text has no parameters.
    args: dict[str, Any] | list[Any] | None = None
    # The relations of the DataFrames that the text names, by their names in the text.
    relations: dict[str, ProtoRelation] = field(default_factory=dict)


# Returns the relation that replaces a statement; None if the engine itself should run it.
PlanStatement = Callable[[SqlStatement], ProtoRelation | None]


def may_need_parsing(serialized_message: bytes) -> bool:
    """Return whether a serialized message must be parsed, because it may have a statement for us.

    Such a statement is SQL with a clause, or sets or shows an option of matchrec. All calls wait
    for this test, and a message can have 100 MB. A regular expression would take seconds.
    """
    lower_case_message = serialized_message.lower()
    return (
        any(word in lower_case_message for word in STATEMENT_WORDS)
        or ZSTD_MAGIC_NUMBER in serialized_message
    )


def expand_plan(plan: Message) -> None:
    """Decompress a plan in place. Clients since Spark 4.1 compress plans above 10 MB."""
    if plan.WhichOneof("op_type") != "compressed_operation":
        return
    operation = plan.compressed_operation
    with pa.CompressedInputStream(pa.BufferReader(operation.data), "zstd") as stream:
        serialized_plan = stream.read()
    if operation.op_type == operation.OP_TYPE_RELATION:
        plan.root.ParseFromString(serialized_plan)
    else:
        plan.command.ParseFromString(serialized_plan)


def find_command_statement(plan: Message) -> SqlStatement | None:
    """Return the statement of a plan that is a SQL command, if the gateway answers it.

    Return None for any other plan, and for a statement that has no clause and is not about an
    option of matchrec.

    Raises:
        MatchRecognizeUnsupportedError: see `read_args`.
    """
    if plan.WhichOneof("op_type") != "command":
        return None
    if plan.command.WhichOneof("command_type") != "sql_command":
        return None
    command = plan.command.sql_command
    # PySpark 3.5 does not have the field `input`.
    if "input" in command.DESCRIPTOR.fields_by_name and command.HasField("input"):
        return find_relation_statement(command.input)
    return build_statement(command.sql, command)


def find_relation_statement(relation: ProtoRelation) -> SqlStatement | None:
    """Return the statement of a relation that is SQL, if the gateway answers it; otherwise None.

    The relations inside the relation are not searched, apart from the root of `WithRelations`.

    Raises:
        MatchRecognizeUnsupportedError: see `read_args`.
    """
    relation_type = relation.WhichOneof("rel_type")
    if relation_type == "sql":
        return build_statement(relation.sql.query, relation.sql)
    if relation_type != "with_relations":
        return None
    root_statement = find_relation_statement(relation.with_relations.root)
    if root_statement is None:
        return None
    references = {
        reference.subquery_alias.alias: reference.subquery_alias.input
        for reference in relation.with_relations.references
        if reference.WhichOneof("rel_type") == "subquery_alias"
    }
    return SqlStatement(
        text=root_statement.text,
        args=root_statement.args,
        relations={**references, **root_statement.relations},
    )


def build_statement(text: str, sql_message: Message) -> SqlStatement | None:
    """Return the statement of a text that the gateway answers; None if the engine can run it.

    The gateway answers SQL with a clause, and statements that set or show options of matchrec. It
    also answers a clause or SASE+ text without a query around it, with an error.

    Args:
        text: the SQL text.
        sql_message: the message `SQL` or `SqlCommand` with the values of the text's parameters.

    Raises:
        MatchRecognizeUnsupportedError: see `read_args`.
    """
    has_no_query = CLAUSE_OR_SASE_START.match(text) is not None
    if may_have_clause(text) or has_no_query or settings.is_option_statement(text):
        return SqlStatement(text, read_args(sql_message))
    return None


def read_args(sql_message: Message) -> dict[str, Any] | list[Any] | None:
    """Return the values of the parameters of a SQL text: a dict if they are named, else a list.

    Return None if the text has no parameters. Clients before Spark 4.0 send the values as literals,
    newer clients as expressions.

    Raises:
        MatchRecognizeUnsupportedError: a value is an expression that has to be computed.
    """
    named_arguments = list_named_arguments(sql_message)
    if named_arguments:
        return {name: read_literal(name, value) for name, value in named_arguments}
    arguments = list_positional_arguments(sql_message)
    if arguments:
        return [read_literal(str(position), value) for position, value in enumerate(arguments, 1)]
    return None


def list_named_arguments(sql_message: Message) -> list[tuple[str, Message]]:
    """Return the names of the named parameters of a SQL text, each with its value."""
    named_arguments = list(sql_message.args.items())
    # PySpark 3.5 does not have this field.
    if "named_arguments" in sql_message.DESCRIPTOR.fields_by_name:
        named_arguments += sql_message.named_arguments.items()
    return named_arguments


def list_positional_arguments(sql_message: Message) -> list[Message]:
    """Return the values of the positional parameters of a SQL text, in order."""
    arguments = list(sql_message.pos_args)
    # PySpark 3.5 does not have this field.
    if "pos_arguments" in sql_message.DESCRIPTOR.fields_by_name:
        arguments += sql_message.pos_arguments
    return arguments


def read_literal(name: str, value: Message) -> Any:
    """Return the Python value of a literal.

    Args:
        name: the name of the parameter, or its position from 1, for the error.
        value: a message `Expression` or `Literal`.

    Raises:
        MatchRecognizeUnsupportedError: the expression is not a literal.
    """
    literal = value
    if value.DESCRIPTOR.name == "Expression":
        if value.WhichOneof("expr_type") != "literal":
            raise errors.parameter_not_literal(name)
        literal = value.literal
    # PySpark has no public function for this.
    return LiteralExpression._to_value(literal)


def replace_statements(message: Message, plan_statement: PlanStatement) -> bool:
    """Replace the SQL relations with clauses in a message, wherever they are in it.

    Args:
        message: the message. It is changed in place.
        plan_statement: see `PlanStatement`. If it returns None, the relation stays as it is.

    Returns:
        True if a relation was replaced.
    """
    is_changed = False
    unvisited_messages = [message]
    while unvisited_messages:
        visited_message = unvisited_messages.pop()
        if isinstance(visited_message, proto.Plan):
            expand_plan(visited_message)
        if isinstance(visited_message, proto.Relation):
            statement = find_relation_statement(visited_message)
            if statement is not None:
                # The DataFrames that the text names come first, so that it is planned over these.
                is_changed |= replace_named_relations(statement, plan_statement)
                replacement = plan_statement(statement)
                if replacement is not None:
                    replace_relation(visited_message, replacement)
                    is_changed = True
                    continue  # the replacement has no clauses
        unvisited_messages.extend(list_children(visited_message))
    return is_changed


def replace_named_relations(statement: SqlStatement, plan_statement: PlanStatement) -> bool:
    """Replace the SQL relations with clauses in the DataFrames that a statement names.

    Args:
        statement: the statement. Its relations are changed in place.
        plan_statement: see `PlanStatement`.

    Returns:
        True if a relation was replaced.
    """
    is_changed = False
    for relation in statement.relations.values():
        is_changed |= replace_statements(relation, plan_statement)
    return is_changed


def replace_relation(relation: ProtoRelation, replacement: ProtoRelation) -> None:
    """Give a relation the content of another one, and let it keep its own id.

    Columns of the client refer to the relation by this id.
    """
    has_id = relation.common.HasField("plan_id")
    plan_id = relation.common.plan_id
    relation.CopyFrom(replacement)
    if has_id:
        relation.common.plan_id = plan_id


def copy_relation(relation: ProtoRelation) -> ProtoRelation:
    """Return a copy of a relation."""
    copy = proto.Relation()
    copy.CopyFrom(relation)
    return copy


def renumber_plans(relation: ProtoRelation) -> ProtoRelation:
    """Move the ids of the plans in a relation to a range that no client uses.

    Args:
        relation: the relation. It is changed in place.

    Returns:
        The same relation.
    """
    unvisited_messages: list[Message] = [relation]
    while unvisited_messages:
        visited_message = unvisited_messages.pop()
        can_have_plan_id = "plan_id" in visited_message.DESCRIPTOR.fields_by_name
        if can_have_plan_id and visited_message.HasField("plan_id"):
            visited_message.plan_id += PLAN_ID_OFFSET
        unvisited_messages.extend(list_children(visited_message))
    return relation


def list_children(message: Message) -> Iterator[Message]:
    """Yield the messages in the fields of a message, whether single, repeated or in a map."""
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue  # a number, a text or bytes
        if descriptor.message_type.GetOptions().map_entry:
            entries = [value[key] for key in value]
            # The values of a map can also be numbers or texts.
            yield from (entry for entry in entries if hasattr(entry, "DESCRIPTOR"))
        elif hasattr(value, "DESCRIPTOR"):
            yield value
        else:  # a repeated field
            yield from value
