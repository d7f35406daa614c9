"""Plans as TOML text: keys and values as the library tomlkit quotes them."""

from collections.abc import Mapping
from typing import Any


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
