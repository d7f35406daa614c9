"""One run from the files to the finished folder: the passes in their order."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from microagg.core.errors import DataError, ParameterError, PrivacyWarning, warn
from microagg.core.registry import find
from microagg.core.words import counted
from microagg.files.reading import sha256_of
from microagg.plans.plan import Plan
from microagg.release.cautions import warn_of_heavy_records
from microagg.release.constrained import systems_of
from microagg.release.records import judge_types
from microagg.release.required import check_required, with_types_of_values
from microagg.release.source import Source
from microagg.release.suitability import bound_for, check_method, warn_of_counts
from microagg.requirements.constraints import ConstrainedColumns
from microagg.scale.checks.checking import (
    CHECK,
    CHECKING,
    JUDGE,
    Checked,
    Checking,
    bucket_bytes,
    check_file,
    counted_in,
    judge_bucket,
    n_buckets_of,
    open_finished,
    refuse_violations,
    together,
)
from microagg.scale.checks.key_check import KEYS, has_all_keys, refuse_keys
from microagg.scale.outputs.describing import Done, add_up
from microagg.scale.steps.fitted import FITTED, DatasetStrata, Fitted, fit
from microagg.scale.steps.layout import Layout, lay_out, layout_name
from microagg.scale.steps.names import check_names, warn_of_dates_as_numbers
from microagg.scale.steps.owners import check_owners
from microagg.scale.steps.regions import (
    Outcome,
    ReleasedFacts,
    Round,
    joined_regions,
    work_on_region,
)
from microagg.scale.steps.routing import ROUTE, UNMERGED, UnitCounts, added_up, route, sum_strata
from microagg.scale.steps.searching import n_rounds
from microagg.scale.steps.statistics import JUDGED, Judged, Statistics, find_statistics
from microagg.scale.steps.types import (
    Facts,
    check_facts,
    date_orders,
    find_facts,
    merged,
    names_of_files_tell,
)
from microagg.scale.steps.writing import WRITING, Writing, Written, write_file
from microagg.scale.storage.shuffle import Slices, Sources
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.memory import too_little
from microagg.scale.tasks.opened import COPIES, part_bytes, region_bytes
from microagg.scale.tasks.passes import Passes
from microagg.scale.tasks.setting import SETTING, DatasetSetting
from microagg.tables.dates import ambiguous
from microagg.tables.frames import Frame, open_frame
from microagg.tables.judging import Judgement
from microagg.tables.strata import RecordCounts, join_small, too_small

# Rows of the sample that trees are grown on: this many, or this many per region if that is more.
SAMPLE, SAMPLE_PER_REGION = 100_000, 100

# Regions and buckets differ in size, and rows in width.
_MARGIN = 1.15


def check_memory(memory: int | None, setting: DatasetSetting) -> None:
    """Refuse less memory than the largest task will take, rather than when its turn comes."""
    if memory is None:
        return
    listing, n_columns = setting.listing, len(setting.needed)
    bucket = listing.n_rows / n_buckets_of(listing) * max(listing.width, 10.0 * n_columns)
    largest = max(
        part_bytes(listing, n_columns),
        region_bytes(min(listing.n_rows, setting.region_size), n_columns),
        bucket * COPIES,
    )
    if complaint := too_little(memory, int(largest * _MARGIN)):
        raise ParameterError(complaint)


@dataclass
class Driver:
    """What one run has found so far; every step takes what the one before found."""

    work: WorkFolder
    setting: DatasetSetting
    passes: Passes
    staging: Path
    regions: list[int] = field(default_factory=list)
    released_in: list[str] = field(default_factory=list)  # the passes with what is written

    @property
    def n_runs(self) -> int:
        """How many runs of rows there are to read."""
        return len(self.setting.listing.runs)

    def drive(self, target: str, command: Callable[[Plan], str]) -> Done:
        """Do all passes; the finished files are in the staging folder, and checked."""
        began = time.perf_counter()
        facts = self._facts()
        judged = self._judge(facts)
        warn_of_dates_as_numbers(self.setting.plan, facts, judged)
        n_units = check_names(self.passes, self.setting, facts, judged)
        check_owners(self.passes, self.setting, n_units)
        statistics = self._statistics()
        fitted = self._fit(judged, statistics, facts)
        producers = self._route()
        last = self._rounds(statistics, producers)
        released = add_up(own.released for own in last if own.released is not None)
        self._warn(released)
        written = self._write()
        checked = self._check(fitted, facts)
        return Done(
            fitted,
            facts,
            statistics,
            released,
            checked,
            written,
            self._hashes(),
            tuple(self.regions),
            n_units,
            target,
            command,
            time.perf_counter() - began,
        )

    def _facts(self) -> Facts:
        self.passes.run("types", find_facts, self.n_runs, bytes_each=self._part_bytes)
        each = [*self.passes.results("types", self.n_runs)]
        files = (file for file, _ in self.setting.listing.runs)
        for name in names_of_files_tell(zip(files, each, strict=True)):
            warn(
                f"all records of a file have the same {name!r}, so the file that a record is in "
                "reveals it, whatever is released there. Make it a stratum "
                f"(--strata {quote(name)}, or strata=[{name!r}] in Python), or mix the records of "
                "all files first.",
                PrivacyWarning,
            )
        found: Facts = merged(each)
        found = found.with_markers(self.setting.markers)
        check_facts(found, self.setting.plan, self.setting.roles)
        self._know_types_of_values(found)
        return found

    def _know_types_of_values(self, facts: Facts) -> None:
        """Let the plan say what the values are that are compared with those of the dataset."""
        setting, plan = self.setting, self.setting.plan
        for name, counted_values in facts.values.items():
            frame = open_frame(counted_values.distribution.values.alias(name).to_frame())
            plan = with_types_of_values(plan, Source(frame, dialect=setting.dialect))
        if plan != setting.plan:
            self.setting = replace(setting, plan=plan)
            self.work.keep(SETTING, self.setting)

    @property
    def _part_bytes(self) -> int:
        """How many bytes a task takes that reads parts."""
        return part_bytes(self.setting.listing, len(self.setting.needed))

    def _judge(self, facts: Facts) -> Judged:
        """Judge types by what all rows hold, as those of a table are."""
        plan, listing = self.setting.plan, self.setting.listing

        def judge(frame: Frame, name: str, **asked: Any) -> Judgement:
            asked.pop("label")
            return facts.columns[name].judge(frame, name, **asked)

        empty = open_frame(listing.files[0].schema.empty_table())
        types = judge_types(empty, self.setting.roles.quasi_identifiers, plan, {}, judge)
        writings = date_orders(facts.columns, plan.dates)
        for name, writing in writings.items():
            if writing.is_ambiguous and types[name].type in ("date", "datetime"):
                raise ambiguous(name)
        judged = Judged(
            types,
            writings,
            {name: own.largest for name, own in facts.columns.items()},
            1.0 if facts.weights is None else facts.weights.unit,
            self._sample_share(),
        )
        self.work.keep(JUDGED, judged)
        return judged

    def _sample_share(self) -> float:
        n_rows = self.setting.listing.n_rows
        wanted = max(SAMPLE, SAMPLE_PER_REGION * n_rows // self.setting.region_size)
        return min(1.0, wanted / n_rows)

    def _statistics(self) -> Statistics:
        self.passes.run("statistics", find_statistics, self.n_runs, bytes_each=self._part_bytes)
        found: Statistics = merged(self.passes.results("statistics", self.n_runs))
        return found

    def _fit(self, judged: Judged, found: Statistics, facts: Facts) -> Fitted:
        plan = self.setting.plan
        fitted = fit(self.setting, judged, found)
        distributions = {name: own.distribution for name, own in facts.values.items()}
        fitted = replace(fitted, distributions=distributions)
        if fitted.strata is not None and found.strata is not None:
            are_units_merged = plan.small_strata == "merge" and self.setting.roles.unit is not None
            if are_units_merged or (found.strata.counts < plan.k).any():
                fitted = self._with_merged_strata(fitted)
        elif self.setting.listing.n_rows < plan.k:
            raise DataError(
                f"k is {plan.k}, and the dataset has only "
                f"{counted(self.setting.listing.n_rows, 'record')}. Lower k."
            )
        sample = fitted.open(found.sample.combine_chunks())
        check_method(find(plan.method), sample)
        bound_for(plan.bound, sample)
        systems_of(plan.constraints, sample)
        check_required(plan, sample)
        self.work.keep(FITTED, fitted)
        strata = np.zeros(len(sample.X), dtype=np.intp)
        if sample.strata is not None:
            strata = sample.strata.of_record
        for number in range(1, n_rounds(plan) + 1):
            layout = lay_out(fitted, sample.X, strata, number)
            self.work.keep(layout_name(number), layout)
            self.regions.append(layout.n_regions)
            if not layout.trees:  # nothing was cut, so there are no seams
                break
            if layout.n_regions - layout.n_shared == len(layout.trees):
                break
        self.passes.n_rounds = len(self.regions)
        return fitted

    def _with_merged_strata(self, fitted: Fitted) -> Fitted:
        """Return strata of at least k records or units, small ones merged if that is asked for."""
        plan, strata = self.setting.plan, fitted.strata
        assert strata is not None
        counts = strata.found.counts
        weights = counts.astype(np.float64)
        if plan.small_strata == "error":
            names = self.setting.roles.strata
            may_merge = not {*names} & {*self.setting.listing.in_folders}
            raise too_small(counts, plan.k, names, may_merge=may_merge)
        self.work.keep(UNMERGED, fitted)
        self.passes.run("strata", sum_strata, self.n_runs, bytes_each=self._part_bytes)
        found = added_up(self.passes.results("strata", self.n_runs), plan.k)
        members = RecordCounts(weights) if found.units is None else UnitCounts(found.units)
        home = join_small(found.sums, weights, members, plan.k)
        return replace(fitted, strata=DatasetStrata(strata.found, home))

    def _route(self) -> list[tuple[str, Slices]]:
        self.passes.run(ROUTE, route, self.n_runs, bytes_each=self._part_bytes)
        found = []
        for own in self.passes.results(ROUTE, self.n_runs):
            for number, slices, _ in own:
                found.append((self._file(ROUTE, number), slices))
        return found

    def _file(self, name: str, number: int) -> str:
        return self.work.place(name, number, "arrow").relative_to(self.work.path).as_posix()

    def _rounds(self, found: Statistics, producers: list[tuple[str, Slices]]) -> list[Outcome]:
        """Group the records of all regions, and regroup them across the seams."""
        previous, outcomes = [ROUTE], dict[tuple[str, int], Outcome]()
        for number in range(1, len(self.regions) + 1):
            layout = Layout.of(self.work, number)
            is_last = number == len(self.regions)
            this = Round(
                f"round{number}",
                number,
                tuple((at,) for at in range(layout.n_regions)),
                Sources.of(producers, layout.n_regions),
                is_last,
                found.moments,
            )
            outcomes = self._round(this)
            passes = [this.name]
            if number == 1:
                outcomes, others = self._joined(this, layout, outcomes)
                passes += others
            producers = [
                (self._file(*place), own.slices)
                for place, own in outcomes.items()
                if own.slices is not None
            ]
            for name in previous:
                self.work.forget(name)
            previous = passes
        self._keep_writing(producers)
        self.released_in = previous
        return [*outcomes.values()]

    def _round(self, this: Round) -> dict[tuple[str, int], Outcome]:
        if not self.work.is_kept(this.name):
            self.work.keep(this.name, this)
        n, sizes = len(this.regions), this.sources.sizes
        most = max((int(sizes[list(own)].sum()) for own in this.regions), default=0)
        each = region_bytes(most, len(self.setting.needed))
        self.passes.run(this.name, partial(_on_region, this.name), n, bytes_each=each)
        every = enumerate(self.passes.results(this.name, n))
        return {(this.name, at): own for at, own in every}

    def _joined(
        self, this: Round, layout: Layout, outcomes: dict[tuple[str, int], Outcome]
    ) -> tuple[dict[tuple[str, int], Outcome], list[str]]:
        """Group larger regions in place of those that alone cannot meet the requirements."""
        passes: list[str] = []
        regions = {(this.name, at): own for at, own in enumerate(this.regions)}
        while failed := [place for place, own in outcomes.items() if own.is_infeasible]:
            places = [*regions]
            larger, replaced = joined_regions(
                layout, [*regions.values()], [places.index(place) for place in failed]
            )
            for at in replaced:
                del outcomes[places[at]], regions[places[at]]
            name = f"joined{len(passes) + 1}"
            again = replace(this, name=name, regions=tuple(larger))
            found = self._round(again)
            outcomes |= found
            regions |= {(name, at): own for at, own in enumerate(larger)}
            passes.append(name)
        return outcomes, passes

    def _keep_writing(self, producers: list[tuple[str, Slices]]) -> None:
        sources = Sources.of(producers, len(self.setting.listing.parts))
        self.work.keep(WRITING, Writing(self.staging, sources))

    def _warn(self, released: ReleasedFacts) -> None:
        warn_of_counts(released.violations, self.setting.listing.n_rows)
        if self.setting.plan.k > 1 and (count := released.groups_of_one_weight):
            warn_of_heavy_records(count, self.setting.roles.weights)

    def _write(self) -> list[Written]:
        n_files = len(self.setting.listing.files)
        self.passes.run("write", write_file, n_files, bytes_each=self._part_bytes)
        for name in self.released_in:
            self.work.forget(name)
        return [*self.passes.results("write", n_files)]

    def _check(self, fitted: Fitted, facts: Facts) -> Checked:
        setting, plan = self.setting, self.setting.plan
        constrained = None
        if plan.constraints:
            forms = {name: own.written for name, own in fitted.types.items()}
            largest = {name: own.largest for name, own in facts.columns.items()}
            constrained = ConstrainedColumns(plan.constraints, forms, plan.resolutions, largest)
        finished = open_finished(self.passes, setting, self.staging)
        n_buckets = n_buckets_of(finished)
        checking = Checking(finished, n_buckets, constrained)
        self.work.keep(CHECKING, checking)
        n_files = len(setting.listing.files)
        self.passes.run(CHECK, check_file, n_files, bytes_each=self._part_bytes)
        files = [*self.passes.results(CHECK, n_files)]
        refuse_violations(plan, files)
        if setting.key is not None:
            self.passes.run(KEYS, has_all_keys, setting.name_buckets)
            complete = self.passes.results(KEYS, setting.name_buckets)
            self.work.forget(KEYS)
            refuse_keys(setting, complete, [own for file in files for own in file.keys])
        slices = [(self._file(CHECK, at), own) for file in files for at, own in file.slices]
        sources, overall = Sources.of(slices, n_buckets), counted_in(files)
        self.work.keep(JUDGE, replace(checking, sources=sources, overall=overall))
        each = bucket_bytes(sources, finished, len(setting.needed))
        self.passes.run(JUDGE, judge_bucket, n_buckets, bytes_each=each)
        self.work.forget(CHECK)
        return together(self.passes.results(JUDGE, n_buckets))

    def _hashes(self) -> list[str]:
        n_files = len(self.setting.listing.files)
        self.passes.run("hashes", hash_file, n_files)
        return [*self.passes.results("hashes", n_files)]


def _on_region(name: str, work: WorkFolder, number: int) -> Outcome:
    return work_on_region(work, name, number)


def hash_file(work: WorkFolder, number: int) -> str:
    """Task: return the SHA-256 of an input file."""
    file = DatasetSetting.of(work).listing.files[number]
    file.origin.check_unchanged()
    digest = sha256_of(file.origin.local)
    file.origin.check_unchanged()
    return digest
