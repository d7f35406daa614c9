"""Columns of codes: numbers whose values all have a label in the file."""

from microagg.files.annotations import Annotations
from microagg.tables.columns import ColumnType
from microagg.tables.frames import Frame
from microagg.tables.typed import is_number


def labelled_types(frame: Frame, annotations: Annotations | None) -> dict[str, ColumnType]:
    """Return the types of number columns whose values all have a label in the file: codes."""
    types = {}
    for name, variable in (annotations.variables if annotations else {}).items():
        labels = {value for value in variable.value_labels if not isinstance(value, str)}
        if name not in frame.columns or not is_number(frame, name) or len(labels) < 2:
            continue
        occurring = frame[name].drop_nulls().unique().to_list()
        if occurring and all(value in labels for value in occurring):
            is_ordinal = variable.measure == "ordinal"
            types[name] = ColumnType.ORDINAL if is_ordinal else ColumnType.NOMINAL
    return types
