"""measure(): how safe a protected table, file or dataset is, and what it is still good for."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

from microagg.core.errors import ParameterError
from microagg.core.keywords import with_hints
from microagg.core.progress import ProgressCallback, reporting_to
from microagg.core.validation import SeedLike, check_seed
from microagg.doors.datasets import is_dataset
from microagg.files.dialect import Dialect
from microagg.measures.measured import Measures, measure_tables
from microagg.measures.subject import KnownColumns
from microagg.plans.plan import Plan
from microagg.release.release import PathName
from microagg.tables.roles import Names


@with_hints
def measure(
    original: Any,
    protected: Any,
    *,
    key: str | None = None,
    audit: PathName | None = None,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    unit: str | None = None,
    weights: str | None = None,
    columns: Mapping[str, Any] | None = None,
    target: str | None = None,
    random_state: SeedLike = 0,
    plan: Plan | str | PathLike[str] | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_expanded: int | str | None = None,
    memory: str | int | None = None,
    work_dir: PathName | None = None,
    progress: bool | ProgressCallback = False,
) -> Measures:
    """Return how safe a protected table is and what it is still good for, whatever made it.

    Both tables have the same records in the same order, or a key to match them by, or the protected
    one was shuffled by microagg and the audit says which record is where. Print the result to read
    it.

    Parameters
    ----------
    original, protected : DataFrames of pandas, polars or pyarrow, or paths of files, or of folders
        of Parquet, Arrow or CSV files: datasets, which need not fit in memory, with the same files
        and rows. Unless columns or a plan are given, the manifest beside a protected file or
        folder says which columns are which.
    key : column to match records by; the protected table may have fewer records then. It is not
        measured
    audit : file that `Release.save_audit` or `microagg protect --audit` wrote, needed to match the
        records of a release that was shuffled
    quasi_identifiers : columns that an intruder may know; by default all that were changed
    identifiers : columns to leave out
    sensitive : columns that an intruder wants to know; unchanged columns without a role also
        count as sensitive
    unit : column of the original that says whom a record is about, such as a patient or a firm;
        figures are then given for units as well. By default that of the plan or the manifest;
        "rows" if every record is about a different person
    weights : column of the original with sampling weights, how many of the population each record
        stands for: figures of columns are then weighted, and the risk in the population is
        estimated. By default that of the plan or the manifest
    columns : options for single columns, by name, as in `protect`: "type", "order" and "weight",
        which counts in the information loss; others are refused
    target : column to predict with models trained on the protected table and on the original
    random_state : seed of the samples, which are drawn only above 100,000 records, and of the folds
        of the models; that of a dataset is drawn by the numbers of its rows
    plan : the `Plan` of the release, or the path of a plan file, that says which columns are which;
        columns named beside it are refused
    delimiter, decimal, encoding : how CSV files are written; detected where not given
    sheet : the sheet of Excel workbooks, or the data frame in R files; by default the only one
    max_expanded : what a compressed file of any format may expand to, in bytes or as in "8GB"; by
        default 4 GB
    memory : most memory to use, such as "4GB"; with this or `work_dir`, single files are read in
        parts as well
    work_dir : where the private work folder of datasets is made, which holds original values and is
        deleted at the end; by default where the system keeps temporary files
    progress : True for a progress bar where standard error is a terminal, or a function that is
        called with (task, done, total)

    Examples
    --------
    >>> import polars as pl
    >>> from microagg import protect
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [1.7, 1.8, 1.6, 1.6]})
    >>> found = measure(people, protect(people, k=2).table)
    >>> found.risk.linkage.linked[1]
    0.5
    """
    given = KnownColumns.given(quasi_identifiers, identifiers, sensitive, columns)
    seed, listener = check_seed(random_state), reporting_to(progress)
    dialect = Dialect(delimiter, decimal, encoding, sheet=sheet, max_expanded=max_expanded)
    asked: dict[str, Any] = {"unit": unit, "weights": weights, "target": target, "seed": seed}
    are_datasets = [is_dataset(own, memory, work_dir) for own in (original, protected)]
    if not any(are_datasets):
        with listener:
            return measure_tables(
                original, protected, given, plan, dialect, key=key, audit=audit, **asked
            )
    if not all(are_datasets):
        raise ParameterError(
            "the original and the protected table must both be folders, or both be files; one of "
            "them is a folder."
        )
    if key is not None or audit is not None:
        raise ParameterError(
            "records of datasets are matched by their files and their order in them, not by a key "
            "(--key, key=) or an audit (--audit, audit=). Leave it out."
        )
    from microagg.scale.measures.measuring import measure_datasets

    with listener:
        return measure_datasets(
            original, protected, given, plan, dialect, memory=memory, work_dir=work_dir, **asked
        )
