"""Columns of categories that list only what their records hold.

A type that lists all categories would publish, in a file's metadata, those of records that are not
released any more. And one that lists them as they first appeared would publish the order of records
that were shuffled: then they are sorted, unless their order has a meaning.
"""

from typing import Any

import polars as pl


def of_polars(column: pl.Series) -> pl.Series:
    """Return a column whose Enum has no category without a record; a Categorical lists none.

    An Enum within lists or structures counts as well.

    >>> column = pl.Series(["a", "c"], dtype=pl.Enum(["a", "b", "c"]))
    >>> of_polars(column).dtype.categories.to_list()
    ['a', 'c']
    """
    plain = column.alias("")  # polars may take a name for a pattern
    used = _used_type(plain)
    if used == column.dtype:
        return column
    if not column.dtype.is_nested():
        return plain.cast(pl.String).cast(used).alias(column.name)
    try:
        return plain.cast(used).alias(column.name)
    except pl.exceptions.InvalidOperationError:  # of an Enum within arrays
        return pl.Series(column.name, column.to_list(), dtype=used)


def _used_type(column: pl.Series) -> pl.DataType:
    """Return the type of a column without the categories that no record holds."""
    match column.dtype:
        case pl.Enum() as dtype:
            used = column.to_physical().drop_nulls().unique().sort()
            return pl.Enum(dtype.categories.gather(used))
        case pl.List():
            return pl.List(_used_type(column.explode(empty_as_null=False)))
        case pl.Array() as dtype:
            return pl.Array(_used_type(column.explode(empty_as_null=False)), dtype.size)
        case pl.Struct():
            fields = column.struct.unnest().get_columns()
            return pl.Struct({own.name: _used_type(own.alias("")) for own in fields})
        case dtype:
            return dtype


def of_arrow(column: Any, *, sorts: bool = False) -> Any:
    """Return a column of Arrow whose dictionary has no entry without a record."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_dictionary(column.type):
        return column
    chunks = pa.chunked_array(column).unify_dictionaries().chunks
    indices = pa.chunked_array([chunk.indices for chunk in chunks], column.type.index_type)
    used = compute.unique(indices).drop_null().sort()
    entries = _plain(entries_of(column)).take(used)
    if sorts and not column.type.ordered:
        by_entry = compute.array_sort_indices(entries)
        used, entries = used.take(by_entry), entries.take(by_entry)
    places = compute.index_in(indices, used).cast(column.type.index_type)
    entries = in_type(entries, column.type.value_type)
    return pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(chunk, entries, ordered=column.type.ordered)
            for chunk in places.chunks
        ],
        type=column.type,
    )


def entries_of(column: Any) -> Any:
    """Return the entries that a column of Arrow lists, in their order."""
    import pyarrow as pa

    chunks = pa.chunked_array(column).unify_dictionaries().chunks
    return chunks[0].dictionary if chunks else pa.array([], column.type.value_type)


def _plain(values: Any) -> Any:
    """Return texts of Arrow by offsets, for which it has more functions than for views."""
    import pyarrow as pa

    if pa.types.is_string_view(values.type):
        return values.cast(pa.large_string())
    return values.cast(pa.large_binary()) if pa.types.is_binary_view(values.type) else values


def in_type(values: Any, kind: Any) -> Any:
    """Return an array of Arrow in another type.

    Before pyarrow 25, short texts that were cast to views crashed the next library to read them.
    """
    import pyarrow as pa

    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return pa.array(values.to_pylist(), kind)
    return values.cast(kind)


def used_entries(values: Any, listed: Any) -> Any:
    """Return the different values of an Arrow array: as they are `listed`, or as they appear.

    >>> import pyarrow as pa
    >>> values = pa.array(["high", "low", None, "high"])
    >>> used_entries(values, pa.array(["low", "middle", "high"])).to_pylist()
    ['low', 'high']
    >>> used_entries(values, None).to_pylist()
    ['high', 'low']
    """
    from pyarrow import compute

    found = compute.unique(_plain(values)).drop_null()
    if listed is None:
        return found
    places = compute.index_in(found, _plain(listed).cast(found.type))
    return found.take(compute.array_sort_indices(places))  # what is not listed comes last


def encoded(values: Any, kind: Any, entries: Any) -> Any:
    """Return plain values of Arrow as a column of categories with these entries."""
    import pyarrow as pa
    from pyarrow import compute

    values, own = _plain(values), in_type(entries, kind.value_type)
    indices = compute.index_in(values, entries.cast(values.type)).cast(kind.index_type)
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(indices, own, ordered=kind.ordered)], type=kind
    )


def of_pandas(table: Any, *, sorts: bool = False) -> Any:
    """Return a table of pandas whose columns and index list no category without a record."""
    for name, dtype in table.dtypes.items():
        if dtype.name == "category":
            table[name] = _with_used(table[name].cat)
            if sorts and not dtype.ordered:
                listed = sorted(table[name].cat.categories, key=lambda own: (str(type(own)), own))
                table[name] = table[name].cat.reorder_categories(listed)
        elif dtype.name.startswith("dictionary"):
            used = of_arrow(table[name].array.__arrow_array__(), sorts=sorts)
            table[name] = type(table[name].array)(used)
    if hasattr(table.index, "remove_unused_categories"):
        table.index = _with_used(table.index)
    elif hasattr(table.index, "remove_unused_levels"):
        table.index = table.index.remove_unused_levels()
    return table


def _with_used(categorical: Any) -> Any:
    """Return a column or index of pandas without other categories, and without their name."""
    listed = categorical.remove_unused_categories()
    own = getattr(listed, "cat", listed)  # an index has the methods itself
    return own.set_categories(own.categories.rename(None))


def with_all_of(original: Any, table: Any) -> Any:
    """Return a released table whose types list all categories of the original, for pipelines."""
    if isinstance(table, pl.DataFrame):
        types = {name: dtype for name, dtype in original.schema.items() if dtype == pl.Enum}
        return table.cast({name: types[name] for name in table.columns if name in types})
    if not hasattr(table, "dtypes"):  # Arrow: categories are not part of the type
        return table
    own = {name: dtype for name, dtype in original.dtypes.items() if dtype.name == "category"}
    return table.astype({name: own[name] for name in table.columns if name in own})
