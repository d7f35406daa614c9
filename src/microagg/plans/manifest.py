"""What was done: the manifest of a release, without any record's values."""

import json
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_serializer,
    model_serializer,
)

from microagg.aggregates.choices import Aggregate, Missing
from microagg.core.errors import DataError, MicroaggError, ParameterError
from microagg.core.registry import find
from microagg.core.validation import check_choice, quoted
from microagg.files.regular import text_of_small_file
from microagg.plans.earlier import as_of_now
from microagg.plans.plan import Plan
from microagg.tables.columns import ColumnType
from microagg.tables.roles import PUBLISH
from microagg.tables.scaling import SCALES

SCHEMA_VERSION = 4
# Those of tables with thousands of columns, or of draws with a million centres, have less.
MOST_BYTES = 64 << 20


class Promise(StrEnum):
    """What a release promises about the records that share a released combination."""

    K_ANONYMITY = "k-anonymity"
    BLOCKWISE = "k-anonymity within each block of columns"
    PROBABILISTIC = "probabilistic k-anonymity"
    HYBRID = "none: hybrid records keep means and covariances, not k-anonymity"
    NOTHING = "none"

    @property
    def is_verified(self) -> bool:
        """Whether it can be verified on the finished table."""
        return self in (Promise.K_ANONYMITY, Promise.BLOCKWISE)


class _Facts(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class FileFacts(_Facts):
    """A file by its name, without its folder, and its SHA-256.

    `formulas_escaped` says that an apostrophe was put before what a spreadsheet would run.
    """

    file: str | None = None
    sha256: str | None = None
    formulas_escaped: bool = False

    @model_serializer(mode="wrap")
    def _known(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: own for name, own in write(self).items() if own is not False}


class ColumnFacts(_Facts):
    """How a quasi-identifier was treated, and how many of its values were missing.

    `stored` is the type that it has in the table, such as Float32; earlier manifests do not say.
    `why` it has another type than that suggests, if nobody said so. `digits` are the decimals that
    its numbers were rounded to, or "all"; `coarse` if that is coarse beside their spread. `written`
    is how its dates are written if they are text, as in `strftime`.
    """

    type: ColumnType
    aggregate: Aggregate
    weight: float
    missing: int
    stored: str = ""
    why: str = ""
    digits: int | str = ""
    coarse: bool = False
    written: str = ""

    @model_serializer(mode="wrap")
    def _known(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # A number of digits is 0, which is not False.
        return {name: own for name, own in write(self).items() if own != "" and own is not False}


class ConstraintFacts(_Facts):
    """How many records violated each constraint, and what it took to satisfy all.

    `added_information_loss` is by how much the squared error grows, in per cent as `grouping_loss`.
    """

    records_in_violation: dict[str, int]
    groups_moved: int
    groups_not_proved_nearest: int
    farther_than_nearest_by_at_most: float
    added_information_loss: float


class MissingFacts(_Facts):
    """Missing values of each column that has any, before and after."""

    treatment: Missing
    before: dict[str, int]
    after: dict[str, int]


class StrataFacts(_Facts):
    """How many strata there are, and how many were too small and merged."""

    columns: tuple[str, ...]
    count: int
    smallest: int
    merged: int


class UnitFacts(_Facts):
    """How many units the records are about, and how many are behind the rarest combination."""

    column: str
    count: int
    records_without: int
    fewest: int


class RequirementFacts(_Facts):
    """A requirement on groups, and the figure of the combination that is farthest from it.

    It is None for p per cent and dominance: with a total it would give a contribution away.
    """

    requirement: str
    column: str
    asked: str
    checkable: bool
    worst: float | None
    combinations_failing: int
    records_failing: int


class CombinationFacts(_Facts):
    """New combinations of categories in the release, and how many records have them."""

    combinations: int
    records: int


class SharedFacts(_Facts):
    """In how many released combinations all records have one value of a sensitive column."""

    shared: int
    combinations: int


class MarginFacts(_Facts):
    """How far the totals of categories are from the original, summed over all of them.

    In records, or their weight: as released, as if each group released what loses least, and as no
    choice with so little extra loss could be below. `extra_loss` is what keeping them adds to the
    loss of the categories, in per cent of it.
    """

    deviation: float
    least_loss_deviation: float
    lower_bound: float
    extra_loss: float


class CategoryFacts(_Facts):
    """How groups chose the categories that they release.

    `incomplete_groups` have no record with a value in every categorical column, so that they
    release each column on its own. `margins` is None unless totals were to be kept.
    """

    valid_combinations: bool
    incomplete_groups: int = 0
    margins: MarginFacts | None = None


class DrawFacts(_Facts):
    """How many records each centre of a draw expected and got."""

    n_centers: int
    expected_sizes: tuple[float, ...]
    realised_sizes: tuple[int, ...]
    n_expected_below_k: int
    n_realised_below_k: int
    fuzziness: dict[str, float]
    doubt: float


class HybridFacts(_Facts):
    """How far rounding moved the means and covariances that hybrid records keep.

    Means are in standard deviations of their column, covariances in products of two: the largest of
    any group, and of the whole table. `rounded` are the columns of whole numbers.
    """

    rounded: tuple[str, ...]
    group_mean_moved: float
    group_covariance_moved: float
    table_mean_moved: float
    table_covariance_moved: float


class DatasetFile(_Facts):
    """A file of a dataset: its name, rows, and the SHA-256 of what came in and went out."""

    name: str
    records: int
    input_sha256: str
    output_sha256: str


class DatasetFacts(_Facts):
    """How a dataset beyond memory was protected, and the files that it consists of.

    `regions` are those of each round. Columns `in_folders` are named by folders, as hive does.
    """

    format: str
    region_size: int
    regions: tuple[int, ...]
    in_folders: tuple[str, ...] = ()
    files: tuple[DatasetFile, ...] = ()


class Manifest(_Facts):
    """What was done to make a release, what it cost, and what was verified.

    `created` says when, in UTC; earlier manifests do not. `information_loss` is that of the
    released values, and `worst_columns` are those that lose most. `grouping_loss` is that of the
    groups about their means, in the space in which records were compared; `sse`, `sst`,
    `lower_bound`, `gap` and `proved_optimal` belong to it. `why_no_bound` says why there is no
    bound, unless nobody asked for one.

    `Manifest.load(path)` reads the file beside a released table, also from an earlier version,
    whose `information_loss` is None if it does not say what the released values lose. `as_dict()`
    returns the contents of that file.

    Examples
    --------
    >>> import microagg
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [171, 175, 162, 160]})
    >>> done = microagg.protect(people, k=2, method="mdav").manifest
    >>> done.method, done.n_groups, done.smallest_class, done.verified
    ('mdav', 2, 2, True)
    >>> done.as_dict()["schema_version"]
    4
    """

    schema_version: int = SCHEMA_VERSION
    microagg_version: str
    libraries: dict[str, str]
    input: FileFacts
    plan: Plan
    command: str
    method: Annotated[str, AfterValidator(lambda name: find(name).name)]
    guarantee: str
    options: dict[str, Any]
    random_state: int | None
    k: Annotated[int, Field(ge=1)]
    scale: Annotated[str, AfterValidator(lambda scale: check_choice("scale", scale, tuple(SCALES)))]
    quasi_identifiers: tuple[str, ...]
    assumed_quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    strata: tuple[str, ...]
    weights: str | None
    unchanged: tuple[str, ...]
    identifiers: tuple[str, ...]
    unit: str | None = None
    columns: dict[str, ColumnFacts]
    promise: Promise
    interrupted: bool
    timed_out: bool
    n_records: int
    n_groups: int
    min_group: int
    max_group: int
    group_sizes: dict[str, int]
    smallest_class: int
    n_classes: int
    information_loss: float | None
    worst_columns: dict[str, float] = {}
    grouping_loss: float
    sse: float
    sst: float
    bound: str | None
    lower_bound: float | None
    gap: float | None
    proved_optimal: bool
    why_no_bound: str = ""
    constraints: ConstraintFacts | None
    missing_values: MissingFacts | None
    markers: dict[str, int] = {}
    strata_found: StrataFacts | None
    blocks: tuple[tuple[str, ...], ...]
    new_combinations: CombinationFacts | None
    shared_values: dict[str, SharedFacts] = {}
    categories: CategoryFacts | None = None
    draw: DrawFacts | None
    hybrid: HybridFacts | None = None
    key: str | None
    dropped: tuple[str, ...]
    units: UnitFacts | None = None
    requirements: tuple[RequirementFacts, ...] = ()
    verified: bool
    seconds: float
    created: datetime | None = None
    output: FileFacts | None = None
    dataset: DatasetFacts | None = None

    @field_serializer("plan")
    def _plain_plan(self, plan: Plan) -> dict[str, Any]:
        return plan.as_dict()

    @property
    def worth_knowing(self) -> tuple[str, ...]:
        """The columns that are published unchanged, but for those that are not sensitive."""
        harmless = self.plan.columns_as(PUBLISH)
        return tuple(name for name in self.unchanged if name not in harmless)

    @property
    def is_drawn(self) -> bool:
        """Whether records drew their values and k is not guaranteed."""
        return self.draw is not None and self.promise is not Promise.K_ANONYMITY

    def as_dict(self) -> dict[str, Any]:
        """Return the manifest as plain values, ready for json.dumps."""
        optional = ("created", "output", "hybrid", "markers", "shared_values", "categories")
        left_out = {name for name in (*optional, "dataset") if not getattr(self, name)}
        return self.model_dump(mode="json", exclude=left_out)

    def __str__(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def with_output(self, file: str, sha256: str, *, formulas_escaped: bool = False) -> Self:
        """Return the manifest of the release in this file."""
        facts = FileFacts(file=file, sha256=sha256, formulas_escaped=formulas_escaped)
        return self.model_copy(update={"output": facts})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Return the manifest in a file, of this or any earlier schema version."""
        if not isinstance(path, (str, PathLike)):
            raise ParameterError(
                f"path must be the name of a manifest file; got {type(path).__name__}."
            )
        where = repr(str(path))
        try:
            found = json.loads(text_of_small_file(Path(path), MOST_BYTES))
        except OSError as error:
            raise ParameterError(
                f"the manifest {where} cannot be read: {error.strerror or 'it is not a file'}."
            ) from None
        except (ValueError, RecursionError):
            raise DataError(f"the manifest {where} is not JSON in UTF-8.") from None
        if not isinstance(found, dict) or "microagg_version" not in found:
            raise DataError(f"{where} is not a manifest of microagg.")
        return cls._of_file(found, where)

    @classmethod
    def _of_file(cls, found: Mapping[str, Any], where: str) -> Self:
        version = found.get("schema_version", 1)
        if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
            raise DataError(
                f"the manifest {where} has the schema version {quoted(version)}, and this microagg "
                f"knows versions up to {SCHEMA_VERSION}. Install a newer microagg to read it."
            )
        try:
            found = as_of_now(found, version)
            return cls.model_validate({**found, "schema_version": SCHEMA_VERSION})
        except (ValidationError, MicroaggError) as error:
            raise DataError(f"the manifest {where} is damaged: {_damage(error)}") from None


def _damage(error: ValidationError | MicroaggError) -> str:
    """Return which entry of a manifest is not as expected, and why if that is known."""
    if isinstance(error, MicroaggError):  # of the plan as a whole
        return f"'plan' is not as expected: {error}"
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    raised = first.get("ctx", {}).get("error")
    if isinstance(raised, MicroaggError):
        return f"{field!r} is not as expected: {raised}"
    if first["type"] == "enum":
        return f"{field!r} is {quoted(first['input'])}, which this microagg does not know."
    return f"{field!r} is missing or not as expected."
