"""What to write where values of two types meet in DEFINE; type names are as Spark spells them."""

from __future__ import annotations

from matchrec.errors.language import written_in

_PLAIN = "compare plain values computed from each, such as to_json(x), size(x) or x.field"
_ONE_TYPE = "compute values of one type as columns of the input, and combine these"
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp", "timestamp_ntz")
_COMPARISONS = ("=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "IF")


def cure(operator: str, left: str, right: str) -> str:
    """What to write instead of an operator between values of two types."""
    return written_in(_template(operator, left, right))


def _template(operator: str, left: str, right: str) -> str:
    kinds = {kind(left), kind(right)}
    for both, found in _CURES.items():
        if kinds == both:
            return found if operator in _COMPARISONS else _COMPUTED.get(both, found)
    if kinds == {"number"} or kinds == {"string"}:
        return _cast("DOUBLE")
    if kinds == {"collated"} or kinds == {"collated", "string"}:
        return _cast("STRING")
    if "string" in kinds and not kinds & {"other", "collated"}:
        (other,) = (name for name in (left, right) if kind(name) != "string")
        type_name = "DOUBLE" if kind(other) == "number" else other.upper()
        return _cast(type_name, " for the string")
    return _PLAIN if "other" in kinds else _ONE_TYPE


def number_of(type_name: str) -> str | None:
    """A number that stands for a value A.x of a type, or None."""
    match kind(type_name):
        case "number" | "string" | "boolean" | "collated":
            return "CAST(A.x AS DOUBLE)"
        case "date":
            return "unix_date(A.x)"
        case "timestamp" | "timestamp_ntz":
            return "unix_timestamp(A.x)"
        case "other":
            return "size(A.x)"
    return None


def kind(type_name: str) -> str:
    """The kind of a type: types of one kind have the same cures."""
    word = type_name.split("(", maxsplit=1)[0].lower()
    if word in _NUMBERS:
        return "number"
    if word in (*_TIMES, "string", "boolean", "binary", "time"):
        return word
    if word.startswith("string collate"):
        return "collated"
    if word.startswith("interval "):
        return "months" if "month" in word or "year" in word else "interval"
    return "other"


def _cast(type_name: str, of: str = "") -> str:
    return f"write a CAST around {{word.one_value}}, such as CAST({{word.one}} AS {type_name}){of}"


_DATE_AS_TIMESTAMP = _cast("TIMESTAMP", " for the date")
_DIFFERENCE = (
    "write the difference of two times: {word.current} - {word.before} > INTERVAL '30' DAY"
)
_SECONDS = "write seconds: unix_timestamp({word.later}) - unix_timestamp({word.earlier})"
_CURES = {
    frozenset({"interval", "number"}): (
        "write INTERVAL '30' DAY for a number of days, "
        "or compare datediff({word.later}, {word.earlier})"
    ),
    frozenset({"months", "number"}): "write INTERVAL '3' MONTH for a number of months",
    frozenset({"date", "number"}): "write a date for the number, or unix_date({word.one}) for days",
    frozenset({"timestamp", "number"}): (
        "write a timestamp for the number, or unix_timestamp({word.one}) for seconds"
    ),
    frozenset({"timestamp_ntz", "number"}): (
        "write a timestamp for the number, or unix_timestamp({word.one}) for seconds"
    ),
    frozenset({"date", "timestamp"}): _DATE_AS_TIMESTAMP,
    frozenset({"date", "timestamp_ntz"}): _cast("TIMESTAMP_NTZ", " for the date"),
    frozenset({"timestamp", "timestamp_ntz"}): _cast("TIMESTAMP", " for the timestamp_ntz"),
    frozenset({"date", "interval"}): _DIFFERENCE,
    frozenset({"timestamp", "interval"}): _DIFFERENCE,
    frozenset({"timestamp_ntz", "interval"}): _DIFFERENCE,
    frozenset({"boolean", "number"}): _cast("INT", " for the boolean"),
    frozenset({"binary", "string"}): _cast("STRING", " for the binary"),
    frozenset({"date"}): "write the days between them: datediff({word.later}, {word.earlier})",
    frozenset({"timestamp"}): _DIFFERENCE,
    frozenset({"timestamp_ntz"}): _DIFFERENCE,
    frozenset({"interval"}): _SECONDS,
}
_COMPUTED = {
    frozenset({"interval", "number"}): _SECONDS,
    frozenset({"timestamp", "number"}): "write INTERVAL '30' DAY for a number of days",
    frozenset({"timestamp_ntz", "number"}): "write INTERVAL '30' DAY for a number of days",
    frozenset({"date", "number"}): "write unix_date({word.one}) for days as a number",
    frozenset({"date", "interval"}): _DATE_AS_TIMESTAMP,
}
