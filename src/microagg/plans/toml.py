"""Plans as TOML text, read and written; the library tomlkit quotes keys and values."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from microagg.core.errors import DataError, ParameterError


def toml_key(name: str) -> str:
    """Return a name as a key, in quotes where it needs them.

    >>> toml_key("age"), toml_key("net pay")
    ('age', '"net pay"')
    """
    import tomlkit

    return tomlkit.key(name).as_string()


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
    return str(tomlkit.item(plain).as_string())


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


def read_plan(path: Path) -> dict[str, Any]:
    """Return the contents of a plan file, unchecked."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
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
