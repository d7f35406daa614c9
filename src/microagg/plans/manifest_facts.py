"""The entries of a manifest that have entries of their own: columns, constraints, files."""

from enum import StrEnum
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from microagg.aggregates.choices import Aggregate, Missing
from microagg.tables.columns import ColumnType


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


def fact(meaning: str, default: Any = ...) -> Any:
    """Declare an entry of a manifest, in words for its schema; one without default is required."""
    return Field(default, description=meaning)


class Facts(BaseModel):
    """Entries of a manifest that belong together; later versions may have more of them."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class FileFacts(Facts):
    """A file by its name, without its folder, and its SHA-256.

    `formulas_escaped` says that an apostrophe was put before what a spreadsheet would run.
    """

    file: str | None = fact("Its name, without its folder; null if it was not a file.", None)
    sha256: str | None = fact("Its SHA-256; null if it was not a file.", None)
    formulas_escaped: bool = fact(
        "Whether an apostrophe was put before what a spreadsheet would run as a formula.", False
    )

    @model_serializer(mode="wrap")
    def _known(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: own for name, own in write(self).items() if own is not False}


class ColumnFacts(Facts):
    """How a quasi-identifier was treated, and how many of its values were missing.

    `stored` is the type that it has in the table, such as Float32; earlier manifests do not say.
    `why` it has another type than that suggests, if nobody said so. `digits` are the decimals that
    its numbers were rounded to, or "all"; `coarse` if that is coarse beside their spread. `written`
    is how its dates are written if they are text, as in `strftime`.
    """

    type: ColumnType = fact("The type that its values were treated as.")
    aggregate: Aggregate = fact("What a group releases of it.")
    weight: float = fact("How much it counted when records were compared.")
    missing: int = fact("How many of its values were missing.")
    stored: str = fact(
        "The type that it has in the table, such as Float32; left out if that is not known.", ""
    )
    why: str = fact("Why it has another type than its storage suggests, if nobody said so.", "")
    digits: int | str = fact('The decimals that its numbers were rounded to, or "all".', "")
    coarse: bool = fact("Whether that is coarse beside the spread of the numbers.", False)
    written: str = fact("How its dates are written if they are text, as in strftime.", "")

    @model_serializer(mode="wrap")
    def _known(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # A number of digits is 0, which is not False.
        return {name: own for name, own in write(self).items() if own != "" and own is not False}


class ConstraintFacts(Facts):
    """How many records violated each constraint, and what it took to satisfy all.

    `added_information_loss` is by how much the squared error grows, in per cent as `grouping_loss`.
    """

    records_in_violation: dict[str, int] = fact(
        "How many records violated each constraint before they were moved."
    )
    groups_moved: int = fact("How many groups were moved to satisfy the constraints.")
    groups_not_proved_nearest: int = fact(
        "How many of them are not proved to be at the nearest point that satisfies the constraints."
    )
    farther_than_nearest_by_at_most: float = fact(
        "How much farther than the nearest point any of them can be, at most."
    )
    added_information_loss: float = fact(
        "What satisfying the constraints adds to the grouping loss, in per cent."
    )


class MissingFacts(Facts):
    """Missing values of each column that has any, before and after."""

    treatment: Missing = fact("What was done about missing values.")
    before: dict[str, int] = fact("Missing values of each column in the original.")
    after: dict[str, int] = fact("Missing values of each column in the release.")


class StrataFacts(Facts):
    """How many strata there are, and how many were too small and merged."""

    columns: tuple[str, ...] = fact("The columns whose values tell strata apart.")
    count: int = fact("How many strata there are.")
    smallest: int = fact("How many records the smallest one has.")
    merged: int = fact("How many were smaller than k and were merged with others.")


class UnitFacts(Facts):
    """How many units the records are about, and how many are behind the rarest combination."""

    column: str = fact("The column that says whom a record is about.")
    count: int = fact("How many units there are.")
    records_without: int = fact("How many records have none.")
    fewest: int = fact("How many units are behind the rarest combination.")


class RequirementFacts(Facts):
    """A requirement on groups, and the figure of the combination that is farthest from it.

    It is None for p per cent and dominance: with a total it would give a contribution away.
    """

    requirement: str = fact("Its name, such as l-diversity.")
    column: str = fact("The column that it is about.")
    asked: str = fact("What was asked for, as text.")
    checkable: bool = fact("Whether the released table alone shows if it is met.")
    worst: float | None = fact(
        "The figure of the combination farthest from it; null if it would give a contribution away."
    )
    combinations_failing: int = fact("How many combinations do not meet it.")
    records_failing: int = fact("How many records these stand for.")


class CombinationFacts(Facts):
    """New combinations of categories in the release, and how many records have them."""

    combinations: int = fact("How many combinations of categories no record had before.")
    records: int = fact("How many records have one of them.")


class SharedFacts(Facts):
    """In how many released combinations all records have one value of a sensitive column."""

    shared: int = fact("In how many released combinations all records have one value.")
    combinations: int = fact("How many released combinations there are.")


class MarginFacts(Facts):
    """How far the totals of categories are from the original, summed over all of them.

    In records, or their weight: as released, as if each group released what loses least, and as no
    choice with so little extra loss could be below. `extra_loss` is what keeping them adds to the
    loss of the categories, in per cent of it.
    """

    deviation: float = fact("How far totals are from the original, as released.")
    least_loss_deviation: float = fact(
        "How far they would be if each group released what loses least."
    )
    lower_bound: float = fact("What no choice with so little extra loss could be below.")
    extra_loss: float = fact(
        "What keeping totals adds to the loss of the categories, in per cent of it."
    )


class CategoryFacts(Facts):
    """How groups chose the categories that they release.

    `incomplete_groups` have no record with a value in every categorical column, so that they
    release each column on its own. `margins` is None unless totals were to be kept.
    """

    valid_combinations: bool = fact(
        "Whether each group releases the categories of one of its records."
    )
    incomplete_groups: int = fact(
        "How many groups have no record with a value in every categorical column.", 0
    )
    margins: MarginFacts | None = fact(
        "How near totals of categories are; null unless they were to be kept.", None
    )


class DrawFacts(Facts):
    """How many records each centre of a draw expected and got."""

    n_centers: int = fact("How many centres records drew from.")
    expected_sizes: tuple[float, ...] = fact("How many records each centre expected.")
    realised_sizes: tuple[int, ...] = fact("How many records each centre got.")
    n_expected_below_k: int = fact("How many centres expected fewer than k records.")
    n_realised_below_k: int = fact("How many centres got fewer than k records.")
    fuzziness: dict[str, float] = fact("The fuzziness of memberships, by name.")
    doubt: float = fact("How uncertain the draws were.")


class HybridFacts(Facts):
    """How far rounding moved the means and covariances that hybrid records keep.

    Means are in standard deviations of their column, covariances in products of two: the largest of
    any group, and of the whole table. `rounded` are the columns of whole numbers.
    """

    rounded: tuple[str, ...] = fact("The columns of whole numbers.")
    group_mean_moved: float = fact(
        "How far rounding moved a mean of any group, in standard deviations."
    )
    group_covariance_moved: float = fact(
        "How far it moved a covariance of any group, in products of two."
    )
    table_mean_moved: float = fact("How far it moved a mean of the table.")
    table_covariance_moved: float = fact("How far it moved a covariance of the table.")


class DatasetFile(Facts):
    """A file of a dataset: its name, rows, and the SHA-256 of what came in and went out."""

    name: str = fact("Its name within the folder.")
    records: int = fact("How many records it has.")
    input_sha256: str = fact("SHA-256 of the original file.")
    output_sha256: str = fact("SHA-256 of the released file.")


class DatasetFacts(Facts):
    """How a dataset beyond memory was protected, and the files that it consists of.

    `regions` are those of each round. Columns `in_folders` are named by folders, as hive does.
    """

    format: str = fact("The format of the files.")
    region_size: int = fact("How many records a region has at most.")
    regions: tuple[int, ...] = fact("How many regions each round had.")
    in_folders: tuple[str, ...] = fact("The columns that are named by folders.", ())
    files: tuple[DatasetFile, ...] = fact("Every file of the dataset.", ())
