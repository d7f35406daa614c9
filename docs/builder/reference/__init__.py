"""Pages of the reference that are made from the code, so that they are never behind it."""

from pathlib import Path

from docs.builder.reference import commands, errors, figures, methods, names, schemas

_MAKERS = (names, commands, schemas, errors, figures, methods)


def write(folder: Path) -> None:
    """Write all generated pages of the reference into a folder."""
    folder.mkdir(exist_ok=True)
    for name, text in generated().items():
        (folder / name).write_text(text, "utf-8")


def generated() -> dict[str, str]:
    """Return the text of every generated file by name."""
    return {name: text for maker in _MAKERS for name, text in maker.pages().items()}
