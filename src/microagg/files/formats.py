"""The file formats, by suffix: how each is opened and written. `-` is standard input or output.

To add a format, write its reader and writer in a new file and add one entry to `FORMATS`. The
reader is a class that is called with an `InputFile` and a `Dialect` (or None) and satisfies
`Reader`; the writer is a function `(table, path, WriteOptions)`. They are named by path, so that
listing the formats loads none of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from microagg.core.errors import AnnotationWarning, ParameterError, warn
from microagg.core.sizes import as_size
from microagg.core.words import did_you_mean, listed_names
from microagg.files.atomic import Writer, atomic_write_all
from microagg.files.expansion import DEFAULT_LIMIT
from microagg.files.reading import InputFile, Reader
from microagg.files.writing import WriteOptions

if TYPE_CHECKING:  # the command line lists formats without loading polars
    import polars as pl

    from microagg.files.annotations import Annotations
    from microagg.files.dialect import Dialect

STANDARD = "-"

_DIALECT_WORDS = {
    "delimiter": "a delimiter",
    "decimal": "a decimal mark",
    "encoding": "an encoding",
    "sheet": "a sheet",
}


class DialectOption(NamedTuple):
    """How an option of a `Dialect` is given on the command line, and what it means."""

    metavar: str
    help: str


DIALECT_OPTIONS: Mapping[str, DialectOption] = MappingProxyType(
    {
        "delimiter": DialectOption(
            "D", "What separates the fields of a CSV file. Default: detected."
        ),
        "decimal": DialectOption(
            "M", "Decimal mark of a CSV file, a point or comma. Default: detected."
        ),
        "encoding": DialectOption(
            "E", "Encoding of a CSV, SPSS, Stata or R file. Default: detected."
        ),
        "sheet": DialectOption(
            "S", "Sheet of an Excel workbook, or data frame in an R file. Default: the only one."
        ),
        "max_expanded": DialectOption(
            "SIZE",
            f"What a compressed file may expand to, as in 8GB. Default: {as_size(DEFAULT_LIMIT)}.",
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format; `reader`, `writer` and `check` are `module:name` in this package.

    A format without a `writer` can only be read. `check`, if there is one, is a function
    `(table, suffix)` that refuses columns the format cannot hold. `dialect` lists the options of a
    `Dialect` that apply. `packages` are what the format needs beyond the dependencies of microagg,
    and `extra` is the extra that installs them. A protected file has the suffix of its input unless
    `output_suffix` says otherwise. `runs_formulas` says that a spreadsheet which opens the file
    takes text such as =1+1 for a formula, `keeps_labels` that it holds labels of values.
    """

    name: str
    suffixes: tuple[str, ...]
    reader: str
    writer: str | None = None
    check: str | None = None
    dialect: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    extra: str | None = None
    output_suffix: str | None = None
    runs_formulas: bool = False
    keeps_labels: bool = False

    @property
    def can_be_written(self) -> bool:
        """Whether there is a writer."""
        return self.writer is not None

    def open(self, source: InputFile, dialect: "Dialect | None") -> Reader:
        """Open a file of this format."""
        reader: Reader = self._load(self.reader)(source, dialect)
        return reader

    def check_writable(self) -> None:
        """Refuse a format that is only read."""
        if self.writer is None:
            first = [each.suffixes[0] for each in FORMATS if each.can_be_written]
            raise ParameterError(
                f"{self.name} files cannot be written. Name an output that ends in "
                f"{_either(first)}."
            )

    def check_fits(self, table: "pl.DataFrame", suffix: str) -> None:
        """Refuse a table that cannot be written in this format."""
        self.check_writable()
        if self.check is not None:
            self._load(self.check)(table, suffix)

    def write(self, table: "pl.DataFrame", path: Path, options: WriteOptions) -> None:
        """Write a table that fits."""
        assert self.writer is not None
        self._load(self.writer)(table, path, options)

    def _load(self, where: str) -> Any:
        for package in self.packages:
            try:
                import_module(package)
            except ImportError:
                raise ParameterError(
                    f"{self.name} files need the package {package}. Install it with "
                    f"pip install 'microagg[{self.extra}]'."
                ) from None
        module, _, name = where.partition(":")
        return getattr(import_module(f"microagg.files.{module}"), name)


FORMATS = (
    Format(
        name="CSV",
        suffixes=(
            *(".csv", ".csv.gz", ".txt", ".txt.gz"),
            *(".tsv", ".tsv.gz", ".tab", ".tab.gz"),
        ),
        reader="csv_files:CsvReader",
        writer="csv_files:write_csv",
        check="csv_files:check_csv",
        dialect=("delimiter", "decimal", "encoding"),
        runs_formulas=True,
    ),
    Format(
        name="Parquet",
        suffixes=(".parquet",),
        reader="columnar:ParquetReader",
        writer="columnar:write_parquet",
    ),
    Format(
        name="Arrow",
        suffixes=(".arrow", ".feather", ".ipc"),
        reader="columnar:ArrowReader",
        writer="columnar:write_arrow",
    ),
    Format(
        name="SPSS",
        suffixes=(".sav", ".zsav"),
        reader="statistical_reader:StatisticalReader",
        writer="statistical_writer:write_statistical",
        check="statistical_checks:check_statistical",
        dialect=("encoding",),
        packages=("pyreadstat",),
        extra="files",
        keeps_labels=True,
    ),
    Format(
        name="Stata",
        suffixes=(".dta",),
        reader="statistical_reader:StatisticalReader",
        writer="statistical_writer:write_statistical",
        check="statistical_checks:check_statistical",
        dialect=("encoding",),
        packages=("pyreadstat",),
        extra="files",
        keeps_labels=True,
    ),
    Format(
        name="SAS",
        suffixes=(".sas7bdat", ".xpt"),
        reader="statistical_reader:StatisticalReader",
        dialect=("encoding",),
        packages=("pyreadstat",),
        extra="files",
        output_suffix=".sav",  # keeps labels
    ),
    Format(
        name="Excel",
        suffixes=(".xlsx",),
        reader="excel_reader:ExcelReader",
        writer="excel_writer:write_excel",
        check="excel_writer:check_excel",
        dialect=("sheet",),
        packages=("openpyxl", "xlsxwriter"),
        extra="files",
    ),
    Format(
        name="R",
        suffixes=(".rds", ".rdata", ".rda"),
        reader="r_reader:RReader",
        dialect=("encoding", "sheet"),
        packages=("rdata",),
        extra="r",
        output_suffix=".csv",
    ),
)

_BY_SUFFIX = MappingProxyType({suffix: each for each in FORMATS for suffix in each.suffixes})


def suffix_list() -> str:
    """Return the suffixes of all formats, for help texts and messages.

    >>> suffix_list().startswith(".csv, .csv.gz, .txt, ")
    True
    """
    return _either(list(_BY_SUFFIX))


def _writable() -> list[str]:
    return [suffix for suffix, each in _BY_SUFFIX.items() if each.can_be_written]


def _either(words: list[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}"


def suffix_of(path: str) -> str:
    """Return the suffix that decides the format, in lower case; `-` counts as .csv.

    >>> suffix_of("folder/People.CSV.gz")
    '.csv.gz'
    """
    if path == STANDARD:
        return ".csv"
    for suffix in _BY_SUFFIX:
        if path.lower().endswith(suffix):
            return suffix
    raise ParameterError(
        f"files must end in {suffix_list()} (or be - for standard input and output); got {path!r}."
        f"{did_you_mean(Path(path).suffix, _BY_SUFFIX)}"
    )


def format_of(path: str) -> Format:
    """Return the format of a file, by its suffix; standard input and output are CSV."""
    return _BY_SUFFIX[suffix_of(path)]


def check_output_format(path: str) -> None:
    """Refuse an output that has no suffix of a format that can be written."""
    if path == STANDARD:
        return
    if not path.lower().endswith(tuple(_BY_SUFFIX)):
        raise ParameterError(
            f"outputs must end in {_either(_writable())} (or be - for standard output); got "
            f"{path!r}.{did_you_mean(Path(path).suffix, _writable())}"
        )
    format_of(path).check_writable()


def check_escaping(path: str) -> None:
    """Refuse to escape formulas in a file in which text is never taken for one."""
    check_output_format(path)
    if not format_of(path).runs_formulas:
        raise ParameterError(
            "formulas are escaped in CSV and other text files (--escape-formulas, or "
            f"escape_formulas=True in Python); in {format_of(path).name} files text is never a "
            "formula. Leave it out."
        )


def protected_name(path: str) -> str:
    """Return the default name of the protected file, beside the input.

    >>> protected_name("folder/people.csv"), protected_name("study.xpt")
    ('folder/people-protected.csv', 'study-protected.sav')
    """
    if path == STANDARD:
        return STANDARD
    length = len(suffix_of(path))
    return f"{path[:-length]}-protected{format_of(path).output_suffix or path[-length:]}"


def refuse_folder(path: str) -> None:
    """Refuse a folder where a table is needed."""
    if path != STANDARD and Path(path).is_dir():
        raise ParameterError(
            f"{path!r} is a folder, and a file is needed here. Name one of its files; protect, "
            "verify and measure also take folders (in Python, protect_dataset, verify and measure)."
        )


def open_table(path: str, *, dialect: "Dialect | None" = None) -> Reader:
    """Open a table file; its `table` method reads the records.

    Whatever the `dialect` of a CSV file leaves open is detected.
    """
    refuse_folder(path)
    format_ = format_of(path)
    source = InputFile(
        path,
        suffix_of(path),
        is_standard_input=path == STANDARD,
        max_expanded=None if dialect is None else dialect.max_expanded,
    )
    for option, words in _DIALECT_WORDS.items():
        if getattr(dialect, option, None) and option not in format_.dialect:
            raise ParameterError(
                f"{format_.name} files do not take {words}; got one for {source.where}. Leave it "
                "out."
            )
    return format_.open(source, dialect)


def dialect_for(file: object, dialect: "Dialect", *others: object) -> "Dialect":
    """Return the options for one of several files: what only the others take is meant for them.

    Tables in memory take no options.
    """
    elsewhere = {option for other in others for option in _options_of(other)}
    dropped: dict[str, Any] = dict.fromkeys(elsewhere.difference(_options_of(file)))
    return replace(dialect, **dropped)


def _options_of(file: object) -> tuple[str, ...]:
    return format_of(str(file)).dialect if isinstance(file, (str, PathLike)) else ()


def check_fits(table: "pl.DataFrame", path: str) -> None:
    """Refuse columns that the format of the path cannot hold, before any long work."""
    format_of(path).check_fits(table, suffix_of(path))


def write_table(
    table: "pl.DataFrame",
    path: str,
    *,
    force: bool = False,
    dialect: "Dialect | None" = None,
    annotations: "Annotations | None" = None,
    sheet: str | None = None,
    escape_formulas: bool = False,
) -> None:
    """Write the table in the format of the path's suffix: the whole file or nothing.

    CSV is written in the `dialect`, which may be that of the input; the default is commas, decimal
    points and UTF-8. SPSS and Stata files get whatever they can hold of the `annotations`; other
    formats hold none. `sheet` is the name of the sheet in an Excel workbook. `escape_formulas` puts
    an apostrophe before text in CSV that a spreadsheet would run as a formula; other formats
    refuse it.
    """
    if path != STANDARD:
        writer = table_writer(
            table,
            path,
            dialect=dialect,
            annotations=annotations,
            sheet=sheet,
            escape_formulas=escape_formulas,
        )
        atomic_write_all({Path(path): writer}, force=force)
        return
    from microagg.files.csv_files import write_to_standard_output

    check_fits(table, path)
    write_to_standard_output(table, dialect, escape_formulas=escape_formulas)


def table_writer(
    table: "pl.DataFrame",
    path: str,
    *,
    dialect: "Dialect | None" = None,
    annotations: "Annotations | None" = None,
    sheet: str | None = None,
    escape_formulas: bool = False,
) -> Writer:
    """Return a writer of the table in the format of the path, for `atomic_write_all`.

    Columns that the format cannot hold are refused at once.
    """
    from polars.exceptions import PanicException, PolarsError

    check_output_format(path)
    format_ = format_of(path)
    if escape_formulas:
        check_escaping(path)
    options = WriteOptions(suffix_of(path), dialect, annotations, sheet, escape_formulas)
    format_.check_fits(table, options.suffix)
    if annotations is not None and not format_.keeps_labels:
        _warn_of_lost_labels(table.columns, annotations, format_)

    def write(target: Path) -> None:
        try:
            format_.write(table, target, options)
        except (PolarsError, PanicException):
            # Polars reports a full disk this way too, and its message may quote values.
            raise OSError from None

    return write


def _warn_of_lost_labels(
    columns: Iterable[str], annotations: "Annotations", format_: Format
) -> None:
    """Warn of columns whose values had labels in the input, and are bare codes in the output."""
    lost = [name for name in annotations.labelled if name in columns]
    if lost:
        keeping = _either([each.suffixes[0] for each in FORMATS if each.keeps_labels])
        warn(
            f"{format_.name} files have no value labels, which are left out in: "
            f"{listed_names(lost)}. Name an output that ends in {keeping} to keep them.",
            AnnotationWarning,
        )
