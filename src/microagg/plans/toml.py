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
    ('"a"', '[1.5, true]', '{role = "identifier"}')
    """
    import tomlkit

    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        table.update(value)
        return table.as_string()
    plain = list(value) if isinstance(value, tuple) else value
    return str(tomlkit.item(plain).as_string())


def toml_text(document: Mapping[str, Any]) -> str:
    """Return a document of plain values, lists and mappings.

    >>> print(toml_text({"k": 5, "columns": {"net pay": {"role": "sensitive"}}}), end="")
    k = 5
    <BLANKLINE>
    [columns."net pay"]
    role = "sensitive"
    """
    import tomlkit

    return tomlkit.dumps(document)


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
