"""verify(): whether a table, a file or a dataset satisfies k and other requirements."""

from collections.abc import Iterable
from typing import Any, Unpack

from microagg.core.errors import ParameterError
from microagg.core.validation import check_choice
from microagg.doors.datasets import is_dataset
from microagg.files.dialect import Dialect
from microagg.plans.columns import RequirementOptions
from microagg.plans.plan import Plan
from microagg.plans.signatures import with_options
from microagg.release.findings import Verification
from microagg.release.release import PathName, Release
from microagg.release.verify import verify_table
from microagg.release.verify_request import Checks
from microagg.tables.columns import DATE_ORDERS
from microagg.tables.roles import Names


@with_options
def verify(
    table: Any,
    k: int | None = None,
    *,
    quasi_identifiers: Names = None,
    sensitive: Names = None,
    unit: str | None = None,
    constraints: Iterable[str] | str | None = None,
    dates: str | None = None,
    original: Any = None,
    audit: PathName | None = None,
    plan: Plan | PathName | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_expanded: int | str | None = None,
    memory: str | int | None = None,
    work_dir: PathName | None = None,
    **required: Unpack[RequirementOptions],
) -> Verification:
    """Return whether every combination in a table stands for at least k records, and what else.

    A combination is a record's values in all checked columns; a missing value is a value. None of
    the code that groups records is used here. Units and contributions are not published: without
    the original, requirements on them cannot be checked, and the answer says so, not yes.
    Requirements are given by column, as in `protect`.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow, or the path of a file, or of a folder of
        Parquet, Arrow or CSV files: a dataset, which need not fit in memory, and whose combinations
        are counted over all files together. A CSV file is compared as it is written. Unless columns
        or a plan are given, the manifest beside a released file or folder defines the columns to
        check, the blocks, k, the constraints and the requirements; those given here are checked as
        well, or in place of the same ones in the manifest.
    k : Least number of records behind a released combination.
    quasi_identifiers : columns to check; by default all that are not sensitive
    sensitive : columns to leave out
    unit : column of the original that says whom a record is about; k then counts units as well
    **required : what the records of every combination must satisfy, by column, as in `protect`
    constraints : what every record must satisfy, such as "net + tax = gross", in addition to what
        a manifest says
    dates : order of day and month in dates such as 01/02/2024 in constraints: "us" (month first) or
        "eu" (day first)
    original : the table before it was protected, or its file or folder, with the same records in
        the same order; that of a dataset must be the one that its manifest names
    audit : file that `Release.save_audit` or `microagg protect --audit` wrote, needed beside the
        original if the records were shuffled
    plan : a `Plan`, or the path of a plan file, that defines the columns to leave out, the blocks,
        k, the constraints and the requirements
    delimiter, decimal, encoding : how a CSV file is written; detected where not given
    sheet : the sheet of an Excel workbook, or the data frame in an R file; by default the only one
    max_expanded : what a compressed file of any format may expand to, in bytes or as in "8GB"; by
        default 4 GB
    memory : most memory to use, such as "4GB"; with this or `work_dir`, a single file is read in
        parts as well
    work_dir : where a dataset's private work folder is made, which is deleted at the end; by
        default where the system keeps temporary files

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [35, 35, 62], "sex": ["f", "f", "m"]})
    >>> found = verify(people, k=2)
    >>> found.satisfied, found.largest_k, found.classes.below
    (False, 1, {1: 1})
    """
    if isinstance(table, Release):
        raise ParameterError(
            "table must be a DataFrame or the path of a file; got a Release. Give its table and "
            "its plan, microagg.verify(release.table, plan=release.manifest.plan), or the file it "
            "was saved to."
        )
    if dates is not None:
        check_choice("dates", dates, DATE_ORDERS)
    dialect = Dialect(delimiter, decimal, encoding, sheet=sheet, max_expanded=max_expanded)
    by_column = {"unit": unit, **required}
    given = Checks.given(k, quasi_identifiers, sensitive, constraints, by_column)
    if audit is not None and original is None:
        raise ParameterError(
            "the audit (--audit, audit=) says which record of the original is where, and no "
            "original (--original, original=) is given. Give both, or leave it out."
        )
    if not is_dataset(table, memory, work_dir):
        return verify_table(table, given, plan, original, audit, dialect, dates)
    if audit is not None:
        raise ParameterError(
            "records of datasets are matched by their files and their order in them, not by an "
            "audit (--audit, audit=). Leave it out."
        )
    from microagg.scale.checks.verifying import verify_dataset

    return verify_dataset(
        table, given, plan, original, dialect, dates, memory=memory, work_dir=work_dir
    )
