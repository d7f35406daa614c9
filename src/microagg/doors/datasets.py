"""What is a dataset: a folder, or a file that is said to be too large for memory."""

from os import PathLike
from pathlib import Path
from typing import Any

from microagg.core.errors import ParameterError
from microagg.files.formats import STANDARD


def is_dataset(table: Any, memory: object, work_dir: object) -> bool:
    """Whether this is read in parts; options of datasets are refused for a table in memory."""
    is_path = isinstance(table, (str, PathLike))
    if is_path:
        _check_place(str(table))
        if Path(table).is_dir():
            return True
    named = [name for name, value in (("memory", memory), ("work_dir", work_dir)) if value]
    if named and not is_path:
        raise ParameterError(
            f"{named[0]} is for datasets, which are files; a table is in memory already. Leave it "
            "out."
        )
    return bool(named)


def _check_place(name: str) -> None:
    """Refuse what is not on this machine, and a folder that is not there."""
    if "://" in name:
        raise ParameterError(
            f"only files and folders on this machine can be read here; got {name!r}. Copy them "
            "here first."
        )
    if name != STANDARD and not Path(name).suffix and not Path(name).exists():
        raise ParameterError(f"the input {name!r} does not exist.")
