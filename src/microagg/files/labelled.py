"""What labels and levels in a file say about the types of columns."""

import narwhals as nw

from microagg.files.annotations import Annotations
from microagg.tables.columns import ColumnType
from microagg.tables.frames import Frame, dtype_of
from microagg.tables.typed import is_number


def labelled_types(frame: Frame, annotations: Annotations | None) -> dict[str, ColumnType]:
    """Return the types of columns whose values all have a label in the file, or ordered levels."""
    types: dict[str, ColumnType] = {}
    for name, variable in (annotations.variables if annotations else {}).items():
        if name in frame.columns and dtype_of(frame, name) == nw.Enum:
            is_ordinal = variable.measure == "ordinal"
            types |= {name: ColumnType.ORDINAL} if is_ordinal else {}
            continue
        labels = {value for value in variable.value_labels if not isinstance(value, str)}
        if name not in frame.columns or not is_number(frame, name) or len(labels) < 2:
            continue
        occurring = frame[name].drop_nulls().unique().to_list()
        if occurring and all(value in labels for value in occurring):
            is_ordinal = variable.measure == "ordinal"
            types[name] = ColumnType.ORDINAL if is_ordinal else ColumnType.NOMINAL
    return types
