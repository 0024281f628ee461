"""Write signatures and docstrings of the public names, and the help of commands, into pages.

    python -m tests.pages.reference

An entry of a public name begins with a comment, which GitHub does not show:

    <!-- ::: matchrec.Options
        options:
          members: false
    -->

The site makes an entry from this comment: see `uncover_entries`. Readers of a clone or of GitHub
see the entry that this module writes after the comment; the site leaves it out. Run the module when
a public signature or docstring has changed: a test compares the pages.

The page of the command line has the help of each command in the same way, between two comments,
but for the options that its table describes for several commands. Run the module when an option or
its help has changed.

On the page of error codes, each row begins with an anchor, so that a link can lead to its code.
Run the module when the page has a new row.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from inspect import Parameter
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click

from matchrec import _NAMES_BY_MODULE as NAMES_BY_MODULE
from matchrec.__main__ import main as program
from tests.pages.sections import Value, as_markdown

REFERENCE = Path(__file__).parent.parent.parent / "docs" / "reference"
BEGIN, END = "<!-- in a clone -->", "<!-- end -->"
# They keep `ruff format` from changing the examples, which are the same as in the docstrings.
FORMAT_OFF, FORMAT_ON = "<!-- fmt: off -->", "<!-- fmt: on -->"
WRITTEN = re.compile(rf"\n*{BEGIN}\n.*?{END}\n", re.S)
ENTRY = re.compile(
    r"^<!-- ::: (?P<name>matchrec\.[\w.]+)(?: |\n(?P<options>(?:    .*\n)*))-->\n", re.M
)
MEMBERS = re.compile(r"members: (?:\[(?P<names>.*)\]|(?P<none>false))")
WIDTH = 100
# The help of a command on the page of the command line, between two comments.
COMMAND_HELP_END = "<!-- end of help -->"
COMMAND_HELP = re.compile(rf"<!-- help of (?P<name>\w+) -->\n.*?{COMMAND_HELP_END}\n", re.S)
# The section that describes options once for all commands, and the options in its table.
SHARED_OPTIONS = "\n## Options of several commands\n"
SHARED_OPTION = re.compile(r"^\| `(?:-\w, )?(-[\w-]+)", re.M)
EXIT_CODES = "\n\n  `matchrec --help` lists the exit codes."  # the last line of each help
HELP_WIDTH = 78  # what click uses in a terminal of 80 columns
CODE_ROW = re.compile(r"^\| `(?P<code>[a-z0-9-]+)` \|", re.M)  # of the page of codes, no anchor yet
KINDS = "matchrec.errors.kinds"  # the module that defines what `matchrec.errors` publishes
# Protocols of fields, each with the public class that implements it.
PROTOCOLS = {"ShownCounters": "Counters"}
MADE_BY_USERS = ("matchrec.Options", "matchrec.Counters")  # classes that are shown as calls


def write_entries(page: str) -> str:
    """Return a page of the reference with a new entry after each comment `:::`."""
    return ENTRY.sub(
        lambda entry: f"{entry[0]}\n{BEGIN}\n{FORMAT_OFF}\n{describe(entry)}\n{FORMAT_ON}\n{END}\n",
        remove_entries(page),
    )


def remove_entries(page: str) -> str:
    """Return a page without the entries that this module has written."""
    return WRITTEN.sub("\n", page)


def uncover_entries(page: str) -> str:
    """Return a page as the site reads it: each comment `:::` as the line of mkdocstrings.

    >>> uncover_entries("<!-- ::: matchrec.sql -->\\n<!-- in a clone -->\\ntext\\n<!-- end -->\\n")
    '::: matchrec.sql\\n'
    >>> uncover_entries("<!-- ::: matchrec.Why\\n    options:\\n      members: false\\n-->\\n")
    '::: matchrec.Why\\n    options:\\n      members: false\\n'
    """
    return ENTRY.sub(
        lambda entry: f"::: {entry['name']}\n{entry['options'] or ''}", remove_entries(page)
    )


def describe(entry: re.Match[str]) -> str:
    """Return the entry of one comment `:::`: the name, then the members that it shows."""
    name = entry["name"]
    options = entry["options"] or ""
    value = resolve_name(name)
    parts = [f"## {name}\n\n{describe_name(name, value)}"]
    chosen = MEMBERS.search(options)
    if isinstance(value, type) and (chosen or not issubclass(value, Exception)):
        names = list(vars(value))
        if chosen:
            names = [] if chosen["none"] else chosen["names"].split(", ")
        hidden = re.findall(r'"!([^"]+)"', options) or ["^_"]  # `filters` of the site
        for member in names:
            if any(re.search(pattern, member) for pattern in hidden):
                continue
            text = describe_name(f"{name}.{member}", inspect.getattr_static(value, member))
            if text:
                parts.append(f"### {name.rpartition('.')[2]}.{member}\n\n{text}")
    return "\n\n".join(parts)


def describe_name(name: str, value: Any) -> str:
    """Return the signatures of one name and its docstring; nothing for a plain field."""
    values: dict[str, Value] = {}
    if isinstance(value, property | cached_property):
        value = value.fget if isinstance(value, property) else value.func
        (function,) = list_definitions(value)
        signatures = [f"{name}: {ast.unparse(function.returns)}" if function.returns else name]
    elif isinstance(value, type):
        values = list_fields(value)
        call = name
        if name in MADE_BY_USERS:
            kinds = {parameter.kind for parameter in inspect.signature(value).parameters.values()}
            call = write_call(name, values, keywords_only=kinds == {Parameter.KEYWORD_ONLY})
        signatures = [f"class {call}"]
    elif callable(getattr(value, "__func__", value)):
        value = inspect.unwrap(getattr(value, "__func__", value))
        signatures = [write_signature(name, function) for function in list_definitions(value)]
        for function in list_definitions(value):
            for argument, argument_value in list_arguments(function):
                values.setdefault(argument, argument_value)
    else:
        return ""
    code = "\n".join(signatures)
    docstring = as_markdown(inspect.cleandoc(value.__doc__ or ""), values)
    return f"```py\n{code}\n```\n\n{docstring}"


def list_definitions(function: Any) -> list[ast.FunctionDef]:
    """Return the overloads of a function in its source, or its only definition."""
    module = ast.parse(Path(inspect.getfile(function)).read_text(encoding="utf-8"))
    *owner, name = function.__qualname__.split(".")
    body: list[ast.stmt] = module.body
    if owner:
        body = next(
            node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner[-1]
        )
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    overloads = [node for node in functions if "overload" in map(ast.unparse, node.decorator_list)]
    definitions = overloads or functions[-1:]
    for definition in definitions:
        if owner and "staticmethod" not in map(ast.unparse, definition.decorator_list):
            first = definition.args.posonlyargs or definition.args.args
            del first[:1]  # self
    return definitions


def write_signature(name: str, function: ast.FunctionDef) -> str:
    """Return the signature of a function under its public name."""
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return write_in_lines(name, ast.unparse(function.args), returns)


def list_arguments(function: ast.FunctionDef) -> Iterator[tuple[str, Value]]:
    """Yield the name of each argument of a function, with its type and default."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    defaults: list[ast.expr | None] = [
        *[None] * required,
        *arguments.defaults,
        *arguments.kw_defaults,
    ]
    for argument, default in zip([*positional, *arguments.kwonlyargs], defaults, strict=True):
        type_ = ast.unparse(argument.annotation) if argument.annotation else None
        yield argument.arg, Value(type_, ast.unparse(default) if default else None)


def list_fields(class_: type) -> dict[str, Value]:
    """Return the types and defaults of the fields of a class, as in its source."""
    definition = find_class(class_)
    result = {}
    for statement in definition.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            default = ast.unparse(statement.value) if statement.value else None
            if default and default.startswith("field("):
                default = None
            type_ = ast.unparse(statement.annotation)
            for protocol, public_class in PROTOCOLS.items():
                type_ = type_.replace(protocol, public_class)
            result[statement.target.id] = Value(type_, default)
    return result


def find_class(class_: type) -> ast.ClassDef:
    """Return the definition of a public class.

    `inspect` does not find it, because the module of the class is `matchrec`: see `public_names`.
    """
    modules = [module for module, names in NAMES_BY_MODULE.items() if class_.__name__ in names]
    (module,) = modules or ["matchrec.errors.warning_classes"]
    source = inspect.getsource(import_module(KINDS if module == "matchrec.errors" else module))
    return next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == class_.__name__
    )


def write_call(name: str, fields: dict[str, Value], *, keywords_only: bool) -> str:
    """Return the call that makes an instance of a class.

    >>> write_call("Options", {"sort": Value("str", "'auto'")}, keywords_only=True)
    "Options(*, sort: str = 'auto')"
    """
    parameters = [f"{field}: {value.type}={value.default}" for field, value in fields.items()]
    if keywords_only:
        parameters.insert(0, "*")
    return write_in_lines(name, ", ".join(parameters), "")


def write_in_lines(name: str, parameters: str, returns: str) -> str:
    """Return a call in one line, or with one parameter a line if it is long.

    >>> write_in_lines("f", "a: int=1, *, b: dict[str, int]", " -> None")
    'f(a: int = 1, *, b: dict[str, int]) -> None'
    """
    items = [add_blanks(parameter) for parameter in split_parameters(parameters)]
    line = f"{name}({', '.join(items)}){returns}"
    if len(line) <= WIDTH:
        return line
    inner = "".join(f"    {item},\n" for item in items)
    return f"{name}(\n{inner}){returns}"


def split_parameters(parameters: str) -> Iterator[str]:
    """Yield parameters. They are separated by the commas outside of brackets."""
    depth = 0
    begin = 0
    for index, character in enumerate(parameters):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            yield parameters[begin:index].strip()
            begin = index + 1
    if parameters[begin:].strip():
        yield parameters[begin:].strip()


def add_blanks(parameter: str) -> str:
    """Return a parameter with blanks around the `=` after its type."""
    name, colon, annotation = parameter.partition(":")
    return f"{name}:{re.sub(r' ?= ?', ' = ', annotation)}" if colon else parameter


def write_commands(page: str) -> str:
    """Return the page of the command line with the current help of each command.

    The help has no options that the page describes once for several commands. Their names follow.

    Raises:
        ValueError: the page lacks the comments for the help of a command.
    """
    if COMMAND_HELP.search(page) is None:
        return page
    names = [match["name"] for match in COMMAND_HELP.finditer(page)]
    if names != sorted(program.commands):
        raise ValueError(f"the page has the help of {names}, not of all commands in their order")
    context = click.Context(
        program, info_name="matchrec", terminal_width=HELP_WIDTH, **program.context_settings
    )
    shared_options = SHARED_OPTION.findall(page.partition(SHARED_OPTIONS)[2].partition("\n## ")[0])

    def describe_command(match: re.Match[str]) -> str:
        """Return the help of a command and the names of its shared options, with the comments."""
        command = program.commands[match["name"]]
        command_context = command.make_context(
            command.name, [], parent=context, resilient_parsing=True, terminal_width=HELP_WIDTH
        )
        shared = [
            parameter
            for parameter in command.get_params(command_context)
            if isinstance(parameter, click.Option) and parameter.opts[-1] in shared_options
        ]
        text = f"```text\n{write_help(command, command_context, shared)}\n```\n"
        used = {option.opts[-1] for option in shared}
        listed = ", ".join(f"`{name}`" for name in shared_options if name in used)
        text += f"\n[Shared options](#options-of-several-commands): {listed}\n"
        return f"<!-- help of {match['name']} -->\n{text}{COMMAND_HELP_END}\n"

    return COMMAND_HELP.sub(describe_command, page)


def remove_commands(page: str) -> str:
    """Return a page without the help of the commands that this module has written."""
    return COMMAND_HELP.sub("", page)


def write_help(
    command: click.Command, context: click.Context, hidden_options: list[click.Option]
) -> str:
    """Return what a command prints for `--help`, without blanks at the ends of lines.

    The line on exit codes is left out, because the page describes them.

    Args:
        command: the command.
        context: its context.
        hidden_options: the options that are left out.
    """
    for option in hidden_options:
        option.hidden = True
    text = command.get_help(context)
    for option in hidden_options:
        option.hidden = False
    return "\n".join(line.rstrip() for line in text.removesuffix(EXIT_CODES).splitlines())


def write_anchors(page: str) -> str:
    """Return the page of error codes with an anchor in each row.

    >>> write_anchors("| `unknown-column` | The input has no such column. |")
    '| <a id="unknown-column"></a>`unknown-column` | The input has no such column. |'
    """
    return CODE_ROW.sub(r'| <a id="\g<code>"></a>`\g<code>` |', page)


def main() -> None:
    """Rewrite all pages of the reference."""
    for page in sorted(REFERENCE.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        rewritten = write_commands(write_entries(text))
        if page.name == "error_codes.md":
            rewritten = write_anchors(rewritten)
        if rewritten != text:
            page.write_text(rewritten, encoding="utf-8")


if __name__ == "__main__":
    main()
