"""Plans as TOML text, read and written; the library tomlkit quotes keys and values."""

import re
import tomllib
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from microagg.core.errors import DataError, MicroaggError, ParameterError
from microagg.core.words import without_controls
from microagg.files.regular import similar_file, text_of_small_file

# A plan for a table of ten thousand columns stays far below each of these; what is above them would
# keep the parser busy for minutes, or exceed its stack.
_MOST_BYTES = 4 << 20
_DEEPEST, _MOST_DIGITS, _MOST_PARTS = 20, 400, 20
_QUOTED = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
_BRACKETS = {"[": 1, "{": 1, "]": -1, "}": -1}
_AROUND_DOT = re.compile(r"(?<![ \t])[ \t]*\.[ \t]*")
_WORDS = re.compile(r"[^\s=\[\]{},]+")


def toml_key(name: str) -> str:
    """Return a name as a key, in quotes where it needs them.

    >>> toml_key("age"), toml_key("net pay")
    ('age', '"net pay"')
    """
    import tomlkit

    return without_controls(tomlkit.key(name).as_string())


def toml_value(value: Any) -> str:
    """Return a plain value, a list or a mapping in one line.

    >>> toml_value("a"), toml_value((1.5, True)), toml_value({"role": "identifier"})
    ('"a"', '[1.5, true]', '{ role = "identifier" }')
    """
    import tomlkit

    if isinstance(value, Mapping):
        entries = (f"{toml_key(name)} = {toml_value(own)}" for name, own in value.items())
        return f"{{ {', '.join(entries)} }}" if value else "{}"
    plain = list(value) if isinstance(value, tuple) else value
    return without_controls(tomlkit.item(plain).as_string())


def toml_plan(document: Mapping[str, Any]) -> str:
    """Return the fields of a plan as the text of a plan file, with a line for each column."""
    options = {name: value for name, value in document.items() if name != "columns"}
    for name, value in options.get("method_options", {}).items():
        if value is None:
            raise ParameterError(
                f"a plan file cannot say that the option {name!r} of the method is None. Leave it "
                "out of the plan."
            )
    lines = [f"{toml_key(name)} = {toml_value(value)}" for name, value in options.items()]
    columns = [
        f"{toml_key(name)} = {toml_value(said)}"
        for name, said in document.get("columns", {}).items()
    ]
    return "\n".join([*lines, *(["", "[columns]", *columns] if columns else []), ""])


def _check_limits(text: str, path: Path) -> None:
    """Refuse what no plan needs, before it is parsed."""
    bare = _QUOTED.sub('""', text)
    depths = accumulate(_BRACKETS[sign] for sign in re.findall(r"[\[\]{}]", bare))
    if max(depths, default=0) > _DEEPEST:
        problem = f"is nested more than {_DEEPEST} deep"
    elif re.search(rf"[0-9a-fA-F_]{{{_MOST_DIGITS}}}", bare):
        problem = f"has a number of {_MOST_DIGITS} digits or more"
    elif any(word.count(".") >= _MOST_PARTS for word in _WORDS.findall(_AROUND_DOT.sub(".", bare))):
        problem = f"has a key of more than {_MOST_PARTS} parts"
    else:
        return
    raise DataError(
        f"the plan {str(path)!r} {problem}. Compare it with what 'microagg plan' writes."
    )


def read_plan(path: Path) -> dict[str, Any]:
    """Return the contents of a plan file, unchecked."""
    try:
        text = text_of_small_file(path, _MOST_BYTES)
        _check_limits(text, path)
        return tomllib.loads(text)
    except MicroaggError:
        raise
    except FileNotFoundError:
        hint = similar_file(path)
        raise ParameterError(f"the plan {str(path)!r} does not exist.{hint}") from None
    except OSError as error:
        raise ParameterError(
            f"the plan {str(path)!r} cannot be read: {error.strerror or 'it is not a file'}."
        ) from None
    except UnicodeDecodeError:
        raise DataError(f"the plan {str(path)!r} is not UTF-8 text. Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(at ")[2].rstrip(")") or "end of document"
        raise DataError(
            f"the plan {str(path)!r} is not well-formed TOML at {where}. Compare it with what "
            "'microagg plan' writes."
        ) from None
    except (ValueError, RecursionError):  # numbers or lists that no plan has
        raise DataError(
            f"the plan {str(path)!r} has a value that cannot be read. Compare it with what "
            "'microagg plan' writes."
        ) from None
