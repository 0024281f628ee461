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

# A message is parsed only if it has one of these words of a clause, of SASE+ or of a statement
# about settings, in any case, or bytes that zstd has compressed, which may hide such a word.
CLAUSE_WORDS = (b"match_recognize", b"pattern", b"seq(", b"matchrec.", b"reset")
START_OF_ZSTD = b"\x28\xb5\x2f\xfd"

# Added to the ids of the plans that replace SQL, so that they differ from the ids that the client
# has given to its plans: columns refer to plans by these ids.
FIRST_PLAN_ID = 1 << 40


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """A SQL text of a client, with its parameters and DataFrames."""

    text: str
    # The values of the parameters, by their names or in their order; None if there are none.
    args: dict[str, Any] | list[Any] | None = None
    # The relations of the DataFrames that the text names, by the names that the text has for them.
    relations: dict[str, ProtoRelation] = field(default_factory=dict)


# Returns the relation that replaces a statement; None if the engine itself should run it.
PlanStatement = Callable[[SqlStatement], ProtoRelation | None]


def can_message_have_clause(serialized_message: bytes) -> bool:
    """Return whether a serialized message may hold SQL with a clause or a setting of matchrec.

    All calls wait for this test, and a message can have 100 MB. A regular expression would take
    seconds.
    """
    lower_case_message = serialized_message.lower()
    return (
        any(word in lower_case_message for word in CLAUSE_WORDS)
        or START_OF_ZSTD in serialized_message
    )


def expand_plan(plan: Message) -> None:
    """Decompress a plan in place. Clients since Spark 4.1 compress plans above 10 MB."""
    if plan.WhichOneof("op_type") != "compressed_operation":
        return
    operation = plan.compressed_operation
    type_names = operation.DESCRIPTOR.fields_by_name["op_type"].enum_type.values_by_number
    with pa.CompressedInputStream(pa.BufferReader(operation.data), "zstd") as stream:
        serialized_plan = stream.read()
    if type_names[operation.op_type].name == "OP_TYPE_RELATION":
        plan.root.ParseFromString(serialized_plan)
    else:
        plan.command.ParseFromString(serialized_plan)


def read_command(plan: Message) -> SqlStatement | None:
    """Return the statement of a plan that is a SQL command.

    None for any other plan, and if the statement has no clause and sets no option of matchrec.

    Raises:
        MatchRecognizeUnsupportedError: see `read_args`.
    """
    if plan.WhichOneof("op_type") != "command":
        return None
    if plan.command.WhichOneof("command_type") != "sql_command":
        return None
    command = plan.command.sql_command
    if "input" in command.DESCRIPTOR.fields_by_name and command.HasField("input"):
        return read_relation(command.input)
    return build_statement(command.sql, command)


def read_relation(relation: ProtoRelation) -> SqlStatement | None:
    """Return the statement of a relation that is SQL with a clause or setting, otherwise None.

    Raises:
        MatchRecognizeUnsupportedError: see `read_args`.
    """
    relation_type = relation.WhichOneof("rel_type")
    if relation_type == "sql":
        return build_statement(relation.sql.query, relation.sql)
    if relation_type != "with_relations":
        return None
    root_statement = read_relation(relation.with_relations.root)
    if root_statement is None:
        return None
    references = {
        reference.subquery_alias.alias: reference.subquery_alias.input
        for reference in relation.with_relations.references
        if reference.WhichOneof("rel_type") == "subquery_alias"
    }
    return SqlStatement(
        root_statement.text, root_statement.args, {**references, **root_statement.relations}
    )


def build_statement(text: str, holder: Message) -> SqlStatement | None:
    """Return the statement of a text that the gateway answers; None if the engine can run it.

    The gateway answers SQL with a clause, statements about options of matchrec, and, with an error,
    a clause or a SASE+ text alone.

    Args:
        text: the SQL text.
        holder: the message that has the values of the text's parameters: `SQL` or `SqlCommand`.

    Raises:
        MatchRecognizeUnsupportedError: see `read_args`.
    """
    is_alone = CLAUSE_OR_SASE_START.match(text) is not None
    if may_have_clause(text) or is_alone or settings.is_option_statement(text):
        return SqlStatement(text, read_args(holder))
    return None


def read_args(holder: Message) -> dict[str, Any] | list[Any] | None:
    """Return the values of the parameters of a SQL text: a dict if they are named, else a list.

    None if there are no parameters. Clients before Spark 4.0 send the values as literals, newer
    clients as expressions.

    Raises:
        MatchRecognizeUnsupportedError: a value is an expression that has to be computed.
    """
    named_values = {name: read_literal(name, value) for name, value in find_named_arguments(holder)}
    if named_values:
        return named_values
    fields = holder.DESCRIPTOR.fields_by_name
    values = list(holder.pos_args)
    if "pos_arguments" in fields:
        values += holder.pos_arguments
    return [read_literal(str(number), value) for number, value in enumerate(values, 1)] or None


def find_named_arguments(holder: Message) -> Iterator[tuple[str, Message]]:
    """Yield the names and the values of the named parameters of a SQL text."""
    yield from holder.args.items()
    if "named_arguments" in holder.DESCRIPTOR.fields_by_name:
        yield from holder.named_arguments.items()


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
    return LiteralExpression._to_value(literal)


def replace_statements(message: Message, plan_statement: PlanStatement) -> bool:
    """Replace the SQL relations with clauses in a message, wherever they are in it.

    If a text names DataFrames, the clauses in these are replaced before the text is planned.

    Args:
        message: the message. It is changed in place.
        plan_statement: see `PlanStatement`. If it returns None, the statement stays.

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
            statement = read_relation(visited_message)
            relation = None
            if statement is not None:
                is_changed |= replace_named_relations(statement, plan_statement)
                relation = plan_statement(statement)
            if relation is not None:
                replace_relation(visited_message, relation)
                is_changed = True
                continue
        unvisited_messages.extend(find_children(visited_message))
    return is_changed


def replace_named_relations(statement: SqlStatement, plan_statement: PlanStatement) -> bool:
    """Replace the SQL with clauses in the DataFrames that a statement names.

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
    """Move the ids of the plans in a relation to a range that no client uses. Return it."""
    unvisited_messages: list[Message] = [relation]
    while unvisited_messages:
        visited_message = unvisited_messages.pop()
        if "plan_id" in visited_message.DESCRIPTOR.fields_by_name and visited_message.HasField(
            "plan_id"
        ):
            visited_message.plan_id += FIRST_PLAN_ID
        unvisited_messages.extend(find_children(visited_message))
    return relation


def find_children(message: Message) -> Iterator[Message]:
    """Yield the messages that are fields of a message."""
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        if descriptor.message_type.GetOptions().map_entry:
            entries = [value[key] for key in value]
            yield from (entry for entry in entries if hasattr(entry, "DESCRIPTOR"))
        elif hasattr(value, "DESCRIPTOR"):
            yield value
        else:
            yield from value
