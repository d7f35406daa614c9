"""What a release is: the table, its groups, what it cost, and what can be done with it."""

import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.core.arrays import Labels, Order
from microagg.core.errors import PrivacyWarning, warn
from microagg.core.progress import ProgressCallback, reporting_to
from microagg.core.validation import SeedLike, check_flag, check_seed
from microagg.core.words import percent, spread
from microagg.files.atomic import Private, Writer, atomic_write_all, check_distinct, check_target
from microagg.files.formats import (
    STANDARD,
    check_escaping,
    check_output_format,
    format_of,
    table_writer,
    write_table,
)
from microagg.files.writing import text_writer
from microagg.plans.manifest import Manifest
from microagg.plans.manifest_facts import Promise
from microagg.plans.required import least_behind
from microagg.release.origin import Origin
from microagg.release.saving import audit_table, file_name, save_release
from microagg.tables.frames import to_polars

if TYPE_CHECKING:
    from microagg.measures.measure import Risk, Utility
    from microagg.report.contents import Subject

PathName = str | PathLike[str]


@dataclass(frozen=True, repr=False, eq=False)
class Release:
    """A table safe to publish, with what it cost.

    It can be pickled; like the release itself, the pickle contains the original records, so keep it
    internal.

    Attributes
    ----------
    table : the released table: the same kind of DataFrame as the input, with the same row order
        (unless it was shuffled), column order and column types; identifiers are dropped, sensitive
        columns are unchanged
    labels : group of every record of the released table, numbered in the order of the groups' first
        records (read-only); with several blocks, a column for each
    order : row of the input, from 0, of every record of the released table (read-only): 0, 1, 2 and
        so on, unless it was shuffled. Keep it internal, as the audit
    information_loss : what the released values lose, in per cent: the squared error of each
        quasi-identifier over its variance, averaged by the weights of the columns, as `utility()`
        and `measure` report it; NaN if no quasi-identifier varies but the release does
    grouping_loss : 100 * SSE / SST in per cent, of the groups about their means in the scaled space
        in which records were compared, before rounding, medians, modes and constraints
    lower_bound : a proven lower bound of the grouping loss of any groups, within the strata and
        blocks if there are any, in per cent; None if none was computed
    manifest : what was done, as a `microagg.Manifest`; it contains no record's values

    Examples
    --------
    >>> import microagg
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [171, 175, 162, 160]})
    >>> release = microagg.protect(people, k=2)
    >>> release.table["height"].to_list(), release.labels.tolist()
    ([173, 173, 161, 161], [0, 0, 1, 1])
    >>> release.manifest.promise.value
    'k-anonymity'
    >>> release.risk().classes.smallest
    2
    """

    table: Any
    labels: Labels
    manifest: Manifest

    _origin: Origin

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.labels.flags.writeable = False  # a pickle does not keep that

    @property
    def order(self) -> Order:
        """The row of the input, from 0, of every record of the released table."""
        own = self._origin.order
        order = np.arange(len(self.labels)) if own is None else own.copy()
        order.flags.writeable = False
        return order

    @property
    def information_loss(self) -> float:
        """What the released values lose, in per cent."""
        loss = self.manifest.information_loss
        return math.nan if loss is None else loss

    @property
    def grouping_loss(self) -> float:
        """100 * SSE / SST in per cent, of the groups about their means."""
        return self.manifest.grouping_loss

    @property
    def lower_bound(self) -> float | None:
        """A proven lower bound of the grouping loss in per cent, if one was computed."""
        return self.manifest.lower_bound

    def save(
        self,
        path: PathName,
        *,
        force: bool = False,
        audit: PathName | None = None,
        report: PathName | None = None,
        public_report: PathName | None = None,
        escape_formulas: bool = False,
        progress: bool | ProgressCallback = False,
    ) -> Path:
        """Write the table to a file such as t.csv, and beside it the manifest, t.csv.manifest.json.

        Both are written or neither; existing files are replaced only with `force`. The suffix sets
        the format: .csv, .tsv, .txt (also .gz), .parquet, .arrow, .feather, and with the extra
        `files` .xlsx, .sav and .dta. Of a pandas index only levels with a name are written. If an
        earlier release of the same table lies in the same folder, a `PrivacyWarning` says so. With
        `audit`, the file of `save_audit` is written in the same step; with `report` and
        `public_report`, the two versions of the report. With `escape_formulas`, text in a CSV or
        other text file that a spreadsheet would run as a formula gets an apostrophe before it, in
        the audit as well; the manifest says so. Returns the path.
        """
        self._save(
            file_name(path),
            audit,
            report,
            public_report,
            escape_formulas=escape_formulas,
            force=force,
            progress=progress,
        )
        return Path(path)

    def _save(
        self,
        path: str,
        audit: PathName | None = None,
        report: PathName | None = None,
        public_report: PathName | None = None,
        *,
        escape_formulas: bool = False,
        force: bool,
        progress: bool | ProgressCallback = False,
    ) -> Manifest:
        """Write all files, and return the manifest as it is written."""
        if check_flag("escape_formulas", escape_formulas):
            check_escaping(path)
        beside = self._writers_beside(
            audit,
            report,
            public_report,
            escape_formulas=escape_formulas,
            force=force,
            progress=progress,
        )
        saved = save_release(
            to_polars(self.table),
            self.manifest,
            path,
            force=force,
            dialect=self._origin.dialect,
            annotations=self._origin.annotations,
            sheet=self._origin.sheet,
            escape_formulas=escape_formulas,
            beside=beside,
        )
        _warn_of_audit(audit)
        return saved

    def risk(
        self, *, random_state: SeedLike = 0, progress: bool | ProgressCallback = False
    ) -> "Risk":
        """Measure what an intruder could still find out from the released table.

        The intruder knows the quasi-identifiers and strata of the original, and wants to know the
        sensitive columns. Exact up to 100,000 records; `random_state` is the seed of samples above.
        Where records are about units, `units` has the risk of these.
        """
        from microagg.measures.measure import measure_risk

        seed = check_seed(random_state)
        is_drawn = self.manifest.plan.draws_values
        with reporting_to(progress):
            return measure_risk(self._origin.pair, seed=seed, is_drawn=is_drawn)

    def utility(
        self,
        *,
        target: str | None = None,
        random_state: SeedLike = 0,
        progress: bool | ProgressCallback = False,
    ) -> "Utility":
        """Measure how useful the released table still is.

        With a `target`, models of that column are trained on the released table and on the
        original, and tested on the original. `random_state` is the seed of samples, above 100,000
        records, and of the folds.
        """
        from microagg.measures.measure import measure_utility

        seed = check_seed(random_state)
        with reporting_to(progress):
            return measure_utility(self._origin.pair, target=target, seed=seed)

    def write_to_standard_output(
        self,
        audit: PathName | None = None,
        report: PathName | None = None,
        public_report: PathName | None = None,
        *,
        escape_formulas: bool = False,
        force: bool = False,
    ) -> None:
        """Write the table as CSV to standard output, once the other files are there, all or none.

        They stay if standard output does not take the table.
        """
        beside = self._writers_beside(
            audit, report, public_report, escape_formulas=escape_formulas, force=force
        )
        atomic_write_all(beside, force=force)
        _warn_of_audit(audit)
        write_table(
            to_polars(self.table),
            STANDARD,
            dialect=self._origin.dialect,
            escape_formulas=escape_formulas,
        )

    def save_audit(
        self, path: PathName, *, escape_formulas: bool = False, force: bool = False
    ) -> Path:
        """Write which record is in which group to a file, for internal use only.

        It has a line for each record: its number, from 1, its row in the released table if that was
        shuffled, its identifiers, its random key if it has one, and its group, from 1, in every
        block. It can be used to undo the release, and a `PrivacyWarning` says so.
        `escape_formulas` is that of `save`. Returns the path.
        """
        target = file_name(path)
        if check_flag("escape_formulas", escape_formulas):
            check_escaping(target)
        writer = self._audit_writer(target, escape_formulas=escape_formulas)
        atomic_write_all({Path(target): writer}, force=force)
        _warn_of_audit(target)
        return Path(target)

    def report(
        self,
        path: PathName,
        *,
        public: bool = False,
        title: str | None = None,
        target: str | None = None,
        random_state: SeedLike = 0,
        force: bool = False,
        progress: bool | ProgressCallback = False,
    ) -> Path:
        """Write a report to read, print and sign: one self-contained HTML file.

        It explains what was done, what is guaranteed and what was lost, shows the columns before
        and after, and measures risk and utility. It contains no record's values: every figure is
        based on at least k records. With `public`, it is meant to be published with the data and
        reveals nothing about the original values. The default `title` of an internal report is the
        name of the input file. `target` and `random_state` are those of `utility`. Returns the
        path.
        """
        place = file_name(path)
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

    def _writers_beside(
        self,
        audit: PathName | None,
        report: PathName | None,
        public_report: PathName | None,
        *,
        escape_formulas: bool,
        force: bool,
        progress: bool | ProgressCallback = False,
    ) -> dict[Path, Writer]:
        """Return the writers of the files that are written with the table."""
        own = {}
        if audit is not None:
            internal = file_name(audit)
            check_output_format(internal)
            # In another format than that of the table, text may be safe as it is.
            escapes = escape_formulas and format_of(internal).runs_formulas
            own = {Path(internal): self._audit_writer(internal, escape_formulas=escapes)}
        return own | self._report_writers(report, public_report, force=force, progress=progress)

    def _report_writers(
        self,
        internal: PathName | None,
        public: PathName | None,
        *,
        force: bool,
        title: str | None = None,
        target: str | None = None,
        random_state: SeedLike = 0,
        progress: bool | ProgressCallback = False,
    ) -> dict[Path, Writer]:
        """Return the writers of the reports; everything that can fail is done here."""
        wanted = {
            Path(file_name(path)): is_public
            for path, is_public in ((internal, False), (public, True))
            if path is not None
        }
        if not wanted:
            return {}
        asked = [path for path in (internal, public) if path is not None]
        check_distinct([Path(path) for path in asked])
        for path in wanted:
            check_target(path, force=force)
        from microagg.report.pages import pages

        seed = check_seed(random_state)
        with reporting_to(progress):
            texts = pages(
                self._origin.pair, self.manifest, wanted, title=title, target=target, seed=seed
            )
        return {path: text_writer(text) for path, text in texts.items()}

    def _audit_writer(self, path: str, *, escape_formulas: bool) -> Writer:
        table = audit_table(self._origin.identifiers, self.labels, self._origin.order)
        return Private(table_writer(table, path, escape_formulas=escape_formulas))

    def __repr__(self) -> str:
        done = self.manifest
        sizes = spread(done.min_group, done.max_group)
        promise = ""
        if done.promise is not Promise.K_ANONYMITY:
            said = {Promise.NOTHING: "nothing", Promise.HYBRID: "no k-anonymity (hybrid records)"}
            promised = said.get(done.promise, done.promise)
            promise = f"promises {promised}, "
        k = str(done.k) if done.units is None else least_behind(done)
        loss = "not defined" if done.information_loss is None else percent(done.information_loss)
        return (
            f"<Release of {done.n_records} records in {done.n_groups} groups of {sizes}: "
            f"k = {k}, {done.method}, {promise}information loss {loss}>"
        )


def subject_of(release: Release) -> "Subject":
    """Measure a release, and return what its internal report describes."""
    from microagg.report.contents import Subject
    from microagg.report.pages import measured_rows

    pair = release._origin.pair
    return Subject(pair, release.manifest, *measured_rows(pair, release.manifest))


def _warn_of_audit(path: PathName | None) -> None:
    if path is not None:
        warn(
            f"{str(path)!r} says which record is in which group: keep this file internal.",
            PrivacyWarning,
        )
