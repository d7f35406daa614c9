"""protect(): from a table to a table that is safe to publish. Release: what came out."""

import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.bounds.choice import AUTO
from microagg.core.arrays import Labels
from microagg.core.errors import ParameterError, PrivacyWarning, warn
from microagg.core.progress import ProgressCallback, heard_by
from microagg.core.registry import DEFAULT, find
from microagg.core.validation import SeedLike, check_mapping, check_seed
from microagg.core.words import spread
from microagg.files.atomic import Writer, atomic_write_all, check_distinct, check_target
from microagg.files.formats import STANDARD, table_writer, write_table
from microagg.plans.manifest import Promise
from microagg.plans.plan import Plan, columns_by_name
from microagg.release.pipeline import Origin, Source, run
from microagg.release.request import (
    EFFORT,
    check_constraints,
)
from microagg.release.saving import audit_table, save_release, text_writer
from microagg.tables.frames import (
    to_polars,
)
from microagg.tables.roles import Names, as_names

if TYPE_CHECKING:
    from microagg.measures.measure import Risk, Utility


@dataclass(frozen=True, repr=False, eq=False)
class Release:
    """A table safe to publish, with what it cost.

    Attributes
    ----------
    table : the released table: the same kind of DataFrame as came in, the same row order, column
        order and column types; identifiers are gone, sensitive columns as they were
    labels : group of every record, numbered in the order of the groups' first records (read-only);
        where there are several blocks, a column for each
    information_loss : 100 * SSE / SST in per cent, of the groups about their means in the scaled
        space in which records were compared; rounding, medians and modes, columns of weight 0 and
        merged strata are not part of it
    lower_bound : a proven lower bound of the information loss of any grouping, within the strata
        and blocks if there are any, in per cent; None where none was computed
    manifest : what was done, ready for json.dumps; it holds no record's values
    """

    table: Any
    labels: Labels
    information_loss: float
    lower_bound: float | None
    manifest: dict[str, Any]

    _origin: "Origin"

    def save(
        self,
        path: str | PathLike[str],
        *,
        force: bool = False,
        audit: str | PathLike[str] | None = None,
        report: str | PathLike[str] | None = None,
        public_report: str | PathLike[str] | None = None,
        progress: bool | ProgressCallback = False,
    ) -> Path:
        """Write the table to a file, and beside it the manifest as NAME.manifest.json.

        Both are written whole or not at all; existing files are replaced only with `force`. The
        suffix names the format: .csv, .csv.gz, .parquet, .arrow, .feather, and with the extra
        `files` .sav and .dta. Of a pandas index only levels with a name are written. If an earlier
        release of the same table lies in the same folder, a `PrivacyWarning` says so. With `audit`,
        what `save_audit` writes is written to that file in one go; with `report` and
        `public_report`, the two versions that `report` writes. Returns the path.
        """
        target = _file_name(path)
        beside = {}
        if audit is not None:
            inside = _file_name(audit)
            beside = {Path(inside): self._audit_writer(inside)}
        beside |= self._report_writers(report, public_report, force=force, progress=progress)
        save_release(
            to_polars(self.table),
            self.manifest,
            target,
            force=force,
            dialect=self._origin.dialect,
            annotations=self._origin.annotations,
            beside=beside,
        )
        if audit is not None:
            _warn_of_audit(inside)
        return Path(target)

    def risk(
        self, *, random_state: SeedLike = 0, progress: bool | ProgressCallback = False
    ) -> "Risk":
        """Measure who could still be found, or found out about, in the released table.

        The intruder knows the quasi-identifiers and strata of the original, and wants to know the
        sensitive columns. Exact up to 100,000 records; `random_state` is the seed of samples above.
        """
        from microagg.measures.measure import measure_risk

        seed = check_seed(random_state)
        is_drawn = find(self.manifest["method"]).draws
        with heard_by(progress):
            return measure_risk(self._origin.pair(), seed=seed, is_drawn=is_drawn)

    def utility(
        self,
        *,
        target: str | None = None,
        random_state: SeedLike = 0,
        progress: bool | ProgressCallback = False,
    ) -> "Utility":
        """Measure what the released table is still good for.

        With a `target`, models of that column are trained on the released table and on the
        original, and tested on the original. `random_state` is the seed of samples, above 100,000
        records, and of the folds.
        """
        from microagg.measures.measure import measure_utility

        seed = check_seed(random_state)
        with heard_by(progress):
            return measure_utility(self._origin.pair(), target=target, seed=seed)

    def write_to_standard_output(self) -> None:
        """Write the table as CSV to standard output."""
        write_table(to_polars(self.table), STANDARD, dialect=self._origin.dialect)

    def save_audit(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Write a file that says which record is in which group: not for publication.

        It holds a line for each record: its number, from 1, its identifiers, its random key if it
        has one, and its group, from 1, in every block. Whoever has it can undo what the release
        does, and a `PrivacyWarning` says so. Returns the path.
        """
        target = _file_name(path)
        atomic_write_all({Path(target): self._audit_writer(target)}, force=force)
        _warn_of_audit(target)
        return Path(target)

    def report(
        self,
        path: str | PathLike[str],
        *,
        public: bool = False,
        title: str | None = None,
        target: str | None = None,
        random_state: SeedLike = 0,
        force: bool = False,
        progress: bool | ProgressCallback = False,
    ) -> Path:
        """Write a report that can be read, printed and signed: one HTML file, complete in itself.

        It says in plain words what was done, what is promised and what was lost, shows the columns
        before and after, and measures risk and utility. No record's values are in it: every figure
        is of at least k records. With `public`, it is for publishing with the data and tells
        nothing of the values before. `title` heads the page; without one an internal report has the
        name of the input file. `target` and `random_state` are those of `utility`. Returns the
        path.
        """
        place = _file_name(path)
        writers = self._report_writers(
            None if public else place,
            place if public else None,
            force=force,
            title=title,
            target=target,
            random_state=random_state,
            progress=progress,
        )
        atomic_write_all(writers, force=force)
        return Path(place)

    def _report_writers(
        self,
        internal: str | PathLike[str] | None,
        public: str | PathLike[str] | None,
        *,
        force: bool,
        title: str | None = None,
        target: str | None = None,
        random_state: SeedLike = 0,
        progress: bool | ProgressCallback = False,
    ) -> dict[Path, Writer]:
        """Return what writes the wanted versions; all that can fail has been done by then."""
        asked = [(path, at == 1) for at, path in enumerate((internal, public)) if path is not None]
        if not asked:
            return {}
        wanted = [(Path(_file_name(path)), is_public) for path, is_public in asked]
        check_distinct([path for path, _ in wanted])
        for path, _ in wanted:
            check_target(path, force=force)
        from microagg.report.pages import pages

        seed = check_seed(random_state)
        with heard_by(progress):
            texts = pages(
                self._origin.pair,
                self.manifest,
                dict(wanted),
                title=title,
                target=target,
                seed=seed,
            )
        return {path: text_writer(text) for path, text in texts.items()}

    def _audit_writer(self, path: str) -> Writer:
        write = table_writer(audit_table(self._origin.identifiers, self.labels), path)

        def write_for_the_owner(place: Path) -> None:
            write(place)
            place.chmod(stat.S_IRUSR | stat.S_IWUSR)

        return write_for_the_owner

    def __repr__(self) -> str:
        facts = self.manifest
        sizes = spread(facts["min_group"], facts["max_group"])
        promise = ""
        if facts["promise"] != Promise.K_ANONYMITY:
            promise = f"promises {facts['promise']}, "
        return (
            f"<Release of {facts['n_records']} records in {facts['n_groups']} groups of {sizes}: "
            f"k = {facts['k']}, {facts['method']}, {promise}information loss "
            f"{self.information_loss:.4g} %>"
        )


def _as_blocks(blocks: object) -> tuple[tuple[str, ...], ...]:
    """Return the blocks if they are lists of names; one list of names would be taken for many."""
    if isinstance(blocks, Iterable) and not isinstance(blocks, (str, Mapping)):
        listed = tuple(blocks)
        if not any(isinstance(block, str) for block in listed):
            return tuple(as_names("a block", block) for block in listed)
    raise ParameterError(
        "blocks must be a list of lists of columns, such as [['age', 'income'], ['sex']]; got "
        f"{blocks!r}."
    )


def _warn_of_audit(path: str) -> None:
    warn(
        f"{path!r} says which record is in which group: it must not leave the house.",
        PrivacyWarning,
    )


def _file_name(path: object) -> str:
    if isinstance(path, (str, PathLike)):
        name = fspath(path)
        if isinstance(name, str) and name != STANDARD and "\0" not in name:
            return name
    raise ParameterError(f"path must be the name of a file; got {path!r}.")


def protect(
    table: Any,
    k: int,
    *,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    columns: Mapping[str, Any] | None = None,
    method: str = DEFAULT,
    method_options: Mapping[str, Any] | None = None,
    constraints: Iterable[str] | str | None = None,
    strict_k: bool = False,
    scale: str = "standardise",
    missing: str = "error",
    strata: Names = None,
    small_strata: str = "error",
    weights: str | None = None,
    blocks: Iterable[Iterable[str]] = (),
    valid_combinations: bool = False,
    keep_key: bool = False,
    random_state: SeedLike = None,
    effort: str = EFFORT,
    time_budget: float | None = None,
    bound: str = AUTO,
    progress: bool | ProgressCallback = False,
) -> Release:
    """Release a table in which each combination of quasi-identifiers stands for k records or more.

    Records are grouped by their quasi-identifiers, at least k to a group, and every record gets
    its group's mean (whole numbers stay whole, rounded half away from zero), median or most
    frequent value, as fits the type of the column. The finished table is checked before it is
    handed out. `table` itself is not changed. Only the methods "fcm" and "efcm", whose records draw
    what they get, and `blocks` promise less.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow
    k : the least number of records that may share a released combination; 1 protects nobody, and
        a `PrivacyWarning` says so
    quasi_identifiers : columns that could tell who a record is: numbers, text, categories, true or
        false, dates; columns of numbers without any role count as well, and the manifest lists them
        as assumed
    identifiers : columns to drop, such as names and numbers of persons
    sensitive : columns to publish unchanged
    columns : what is said of single columns, by name: a mapping with "type" ("continuous",
        "integer", "ordinal", "nominal", "boolean", "date", "datetime"), "order" (the values of an
        ordinal column, the lowest first), "aggregate" ("mean", "median", "mode"), "resolution" of
        times ("day", "hour", "minute", "second"), "weight" in comparisons, "role"
    method : a registered name, see `microagg.methods()`; "auto" loses least
    method_options : parameters of the method that are no arguments here
    constraints : texts such as "net + tax = gross", "part <= total" or "age >= 0" that every
        released record satisfies: each group gets the nearest values that do, integers stay
        integers, and the manifest says how many records violated which
    strict_k : for methods whose records draw what they get ("fcm", "efcm"): merge small classes
        until at least k records share every released combination
    scale : how numbers are compared: "standardise" in units of their standard deviation, "robust"
        in a unit that outliers do not change, "rank" by their ranks, "log" by their sizes, "none"
        as they are
    missing : what becomes of missing values in quasi-identifiers: "error" refuses them, "value"
        takes them for a value that whole groups release or none, "impute" replaces them by their
        group's aggregate
    strata : columns within whose values records are grouped; they are published
    small_strata : what becomes of strata of fewer than k records: "error", or "merge": each joins
        the stratum whose mean is nearest, the smallest first, and takes on its values
    weights : a column that says for how many a record stands: means, medians, most frequent values
        and the loss count so; it is published as it is
    blocks : lists of quasi-identifiers that are grouped block by block, those in none as one more;
        a `PrivacyWarning` says that k holds within each block only
    valid_combinations : whether the categories that a group releases are those of one of its
        records, so that no combination appears that did not exist
    keep_key : whether the first identifier is replaced by a random number instead of being dropped
    random_state : the seed of a method with chance in it, a whole number below 2**32; the same
        seed gives the same groups. None draws one. The manifest records it; methods without chance
        give the same groups for any seed, and their manifest says None.
    effort : how much work "auto" does: "fast" takes about a second for a thousand records,
        "balanced" ten times as long, "best" eight times as long again
    time_budget : seconds after which "auto" and "icsm" end with the best groups so far, and as many
        again for a tight bound, which has 600 otherwise; the groups then depend on the machine
    bound : how to prove how far from the best possible the groups can be: "fast", "tight" (for
        some thousand records and small k; minutes), "none", or "auto": fast where that takes less
        time than grouping: up to 50,000 records with "auto", 10,000 with other methods or a
        time_budget, and any number in one column; none with weights
    progress : True for a bar where standard error is a terminal, or a function that is called
        with (task, done, total)

    An interrupt from the keyboard while "auto" searches ends the search only: the release holds the
    best groups so far, its manifest says "interrupted", and an `InterruptedSearchWarning` says so.
    One while a bound is sought ends that: a tight bound is the best so far then, a fast one is
    missing, and a warning says so. A later one ends `protect`.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [1.7, 1.8, 1.6, 1.6]})
    >>> release = protect(people, k=2)
    >>> release.table["age"].to_list()
    [35, 35, 62, 62]
    >>> release.information_loss < 10
    True
    """
    plan = Plan.of(
        k=k,
        method=method,
        options=check_mapping("method_options", method_options),
        seed=None if random_state is None else check_seed(random_state),
        effort=effort,
        time_budget=time_budget,
        bound=bound,
        scale=scale,
        missing=missing,
        constraints=tuple(constraint.text for constraint in check_constraints(constraints)),
        strict_k=strict_k,
        small_strata=small_strata,
        blocks=_as_blocks(blocks),
        valid_combinations=valid_combinations,
        keep_key=keep_key,
        columns=columns_by_name(
            columns,
            quasi_identifiers=quasi_identifiers,
            identifiers=identifiers,
            sensitive=sensitive,
            strata=strata,
            weights=weights,
        ),
    )
    return protect_as_planned(table, plan, progress=progress)


def protect_as_planned(
    table: Any,
    plan: Plan,
    *,
    source: Source | None = None,
    progress: bool | ProgressCallback = False,
) -> Release:
    """Release a table as a plan says; `source` is where it comes from, if not from memory."""
    made = run(table, plan, source, heard_by(progress))
    facts = made.manifest
    return Release(
        made.table,
        made.labels,
        facts["information_loss"],
        facts["lower_bound"],
        facts,
        made.origin,
    )
