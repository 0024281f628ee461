"""Names and values as Spark SQL text."""


def quoted(name: str) -> str:
    """A column name as an identifier that Spark reads literally."""
    return "`" + name.replace("`", "``") + "`"


def unquoted(name: str) -> str:
    """An identifier without its backticks."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def string_literal(text: str) -> str:
    """A SQL string literal of the text."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
