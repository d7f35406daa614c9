"""The option --version, which every command has."""

from typing import Annotated

import typer

from microagg import __version__


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"microagg {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
]
