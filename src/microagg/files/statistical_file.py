"""What pyreadstat finds in an SPSS, Stata or SAS file, as plain values (extra `files`).

It crashes on some damaged files, so this runs in a process of its own.
"""

from typing import Any

import polars as pl
import pyreadstat

from microagg.files.own_process import Answer

_FUNCTIONS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def read_facts(path: str, suffix: str, encoding: str | None) -> Answer:
    """Return what the file says about its columns, and no table."""
    _, found = _read(path, suffix, encoding, metadataonly=True)
    facts = {
        "columns": found.column_names,
        "types": found.readstat_variable_types,
        "labels": found.column_names_to_labels,
        # Pairs, as the keys of JSON are texts.
        "value_labels": {
            name: list(labels.items()) for name, labels in found.variable_value_labels.items()
        },
        "missing": {
            name: [(codes["lo"], codes["hi"]) for codes in ranges]
            for name, ranges in found.missing_ranges.items()
        },
        "measures": found.variable_measure,
        "widths": found.variable_display_width,
        "formats": found.original_variable_types,
        "n_records": found.number_rows,
        "n_bytes": sum(found.variable_storage_width.values()),
    }
    return facts, pl.DataFrame()


def read_columns(
    path: str,
    suffix: str,
    encoding: str | None,
    names: list[str],
    as_text: list[str],
    most_records: int,
) -> Answer:
    """Return the values of these columns as they are stored, in this order, under plain names.

    Numbers with tagged missing values (.a to .z) are text if they are to be kept, and otherwise
    these are nulls. Of more records than `most_records`, the first ones are returned; 0 means all.
    """
    values, found = _read(path, suffix, encoding, usecols=names, row_limit=most_records)
    columns = []
    for j, name in enumerate(names):
        own: list[Any] = values.pop(name)
        kind = found.readstat_variable_types[name]
        dtype: Any = pl.Int64 if kind.startswith("int") else pl.Float64
        if kind == "string":
            dtype = pl.String
        elif name in found.missing_user_values:
            if name in as_text:
                own, dtype = [_as_text(value) for value in own], pl.String
            else:
                own = [None if isinstance(value, str) else value for value in own]
        columns.append(pl.Series(f"column_{j}", own, dtype=dtype))
    return {}, pl.DataFrame(columns)


def _read(path: str, suffix: str, encoding: str | None, **options: Any) -> tuple[Any, Any]:
    read = getattr(pyreadstat, _FUNCTIONS[suffix])
    if suffix != ".xpt":
        options["user_missing"] = True
    return read(  # type: ignore[no-any-return]
        path,
        output_format="dict",
        disable_datetime_conversion=True,
        encoding=encoding,
        **options,
    )


def _as_text(value: float | str | None) -> str | None:
    """Return a number as text, and a letter as the tagged missing value that it stands for."""
    if value is None:
        return None
    return f".{value}" if isinstance(value, str) else str(value)
