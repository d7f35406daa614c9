"""What was done: the manifest of a release, without any record's values."""

import json
from collections.abc import Mapping
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    field_serializer,
)

from microagg.core.errors import DataError, MicroaggError, ParameterError
from microagg.core.registry import find
from microagg.core.validation import check_choice, quoted
from microagg.files.regular import text_of_small_file
from microagg.plans.earlier import as_of_now
from microagg.plans.manifest_facts import (
    CategoryFacts,
    ColumnFacts,
    CombinationFacts,
    ConstraintFacts,
    DatasetFacts,
    DrawFacts,
    Facts,
    FileFacts,
    HybridFacts,
    MissingFacts,
    Promise,
    RequirementFacts,
    SharedFacts,
    StrataFacts,
    UnitFacts,
    fact,
)
from microagg.plans.plan import Plan
from microagg.tables.roles import PUBLISH
from microagg.tables.scaling import SCALES

SCHEMA_VERSION = 4
# Those of tables with thousands of columns, or of draws with a million centres, have less.
MOST_BYTES = 64 << 20


class Manifest(Facts):
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

    schema_version: int = fact("Version of the keys of this file.", SCHEMA_VERSION)
    microagg_version: str = fact("Version of microagg that made the release.")
    libraries: dict[str, str] = fact("Versions of the libraries that it used.")
    input: FileFacts = fact("The original file.")
    plan: Plan = fact("What was asked for.")
    command: str = fact(
        "The command or call that makes the release again, except for what is drawn anew."
    )
    method: Annotated[str, AfterValidator(lambda name: find(name).name)] = fact(
        "The method that formed groups."
    )
    guarantee: str = fact("What the method guarantees in general.")
    options: dict[str, Any] = fact("Options of the method, with defaults.")
    random_state: int | None = fact("The seed, if randomness was used.")
    k: Annotated[int, Field(ge=1)] = fact(
        "Least number of records, or units, behind a released combination."
    )
    scale: Annotated[
        str, AfterValidator(lambda scale: check_choice("scale", scale, tuple(SCALES)))
    ] = fact("How numbers were compared.")
    quasi_identifiers: tuple[str, ...] = fact("The columns that were protected.")
    assumed_quasi_identifiers: tuple[str, ...] = fact("Those of them that nobody named.")
    sensitive: tuple[str, ...] = fact("Columns published unchanged that an intruder wants to know.")
    strata: tuple[str, ...] = fact("The columns within whose values records were grouped.")
    weights: str | None = fact("The column of weights.")
    unchanged: tuple[str, ...] = fact("All columns that are published unchanged.")
    identifiers: tuple[str, ...] = fact("Columns that name somebody.")
    unit: str | None = fact("The column that says whom a record is about.", None)
    columns: dict[str, ColumnFacts] = fact("How each quasi-identifier was treated.")
    promise: Promise = fact("What this release promises.")
    interrupted: bool = fact("Whether the search was ended by Ctrl-C.")
    timed_out: bool = fact("Whether the time budget ended the search.")
    n_records: int = fact("How many records the table has.")
    n_groups: int = fact("How many groups there are.")
    min_group: int = fact("The size of the smallest group.")
    max_group: int = fact("The size of the largest group.")
    group_sizes: dict[str, int] = fact("How many groups there are of each size.")
    smallest_class: int = fact("How many records have the rarest released combination.")
    n_classes: int = fact("How many released combinations there are.")
    information_loss: float | None = fact(
        "What the released values lose, in per cent; null if nothing varied before."
    )
    worst_columns: dict[str, float] = fact(
        "The columns that lose most, up to five, in per cent.", {}
    )
    grouping_loss: float = fact("What the groups lose about their means, in per cent.")
    sse: float = fact("Sum of squared distances between records and the mean of their group.")
    sst: float = fact("Sum of squared distances between records and the overall mean.")
    bound: str | None = fact("Which bound was computed.")
    lower_bound: float | None = fact("The grouping loss, in per cent, that no groups go below.")
    gap: float | None = fact("How many per cent above the optimum the loss is at most.")
    proved_optimal: bool = fact("Whether the groups are proved to be optimal.")
    why_no_bound: str = fact("Why there is no bound, unless nobody asked for one.", "")
    constraints: ConstraintFacts | None = fact(
        "What it took to satisfy the constraints; null without any."
    )
    missing_values: MissingFacts | None = fact(
        "Missing values before and after; null if there were none."
    )
    markers: dict[str, int] = fact(
        "How many entries such as NA of each column are missing values.", {}
    )
    strata_found: StrataFacts | None = fact("What the strata are like; null without any.")
    blocks: tuple[tuple[str, ...], ...] = fact("Which columns were grouped together.")
    new_combinations: CombinationFacts | None = fact(
        "Combinations of categories that no record had before; null if there are none."
    )
    shared_values: dict[str, SharedFacts] = fact(
        "For each sensitive column, how many combinations have one value of it.", {}
    )
    categories: CategoryFacts | None = fact("How groups chose categories; null without any.", None)
    draw: DrawFacts | None = fact("How records drew their values; null if they did not.")
    hybrid: HybridFacts | None = fact("What hybrid records keep; null if there are none.", None)
    key: str | None = fact("The column that a random key replaced.")
    dropped: tuple[str, ...] = fact("The columns that are not in the release.")
    units: UnitFacts | None = fact("Whom the records are about; null without a unit.", None)
    requirements: tuple[RequirementFacts, ...] = fact(
        "What else was asked of groups, and how far they are from it.", ()
    )
    verified: bool = fact("Whether the promise was checked on the finished table.")
    seconds: float = fact("How long the release took.")
    created: datetime | None = fact("When it was made, in UTC.", None)
    output: FileFacts | None = fact("The released file.", None)
    dataset: DatasetFacts | None = fact("The files of a dataset; null if it is a table.", None)

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
