"""Microaggregator: a table with protected columns, as a step of scikit-learn's pipelines."""

from collections.abc import Mapping
from typing import Any, Self, Unpack

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from microagg.core.arrays import Labels
from microagg.core.errors import ParameterError, PrivacyWarning, warn
from microagg.core.registry import find
from microagg.core.validation import SeedLike
from microagg.plans.arguments import plan_of
from microagg.plans.columns import as_columns
from microagg.plans.manifest import Manifest
from microagg.plans.plan import Plan
from microagg.plans.signatures import with_options
from microagg.release.nearest import NearestGroups
from microagg.release.protect import Stages, TransformerOptions, go_through
from microagg.release.source import Source
from microagg.tables.features import Features
from microagg.tables.frames import open_frame
from microagg.tables.markers import without_entries
from microagg.tables.roles import QUASI_IDENTIFIER, no_such_column


@with_options
class Microaggregator(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Give all records of a group of k or more the same values; a scikit-learn transformer.

    `fit_transform` returns what `microagg.protect` releases if every column is a quasi-identifier:
    every combination of values stands for k records or more, which was verified on the finished
    table (with the methods "fcm" and "efcm" only if `strict_k`).

    `transform` gives each record the values of its nearest group, without any promise: new
    records may be the only ones to get them. `fit(X).transform(X)` is not `fit_transform(X)`
    either: for groups to hold k records, some records have to join one that is not the nearest.

    Parameters
    ----------
    k : Least number of records behind a released combination.
    method : How records are grouped; see 'microagg methods'. In Python, `microagg.methods()` lists
        them. "auto" loses least.
    method_options : Options of the method. A mapping of those that are not arguments here.
    columns : What each column is, by name. A mapping with "type", "order", "aggregate",
        "resolution", "digits" or "weight", as in `microagg.protect`. The columns of an array are
        "x0", "x1" and so on.
    **options : Options of `microagg.protect`, with the same meaning and defaults.
    random_state : Seed of a method that uses randomness. None draws one; the manifest records it.

    Attributes
    ----------
    labels_ : group of every record of the fitted table, numbered by the groups' first records
    n_groups_ : number of groups
    information_loss_ : information loss in per cent, as in `Release.information_loss`
    manifest_ : the `Manifest` of the release: what was done, promised and verified
    n_features_in_ : number of columns
    feature_names_in_ : names of the columns, if they have any

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "sex": ["f", "f", "m", "m"]})
    >>> protector = Microaggregator(k=2, random_state=0)
    >>> protector.fit_transform(people).rows()
    [(35, 'f'), (35, 'f'), (62, 'm'), (62, 'm')]
    >>> protector.transform(pl.DataFrame({"age": [40], "sex": ["f"]})).rows()
    [(35, 'f')]
    """

    method: str
    columns: Mapping[str, Any] | None
    missing: str
    labels_: Labels
    n_groups_: int
    information_loss_: float
    manifest_: Manifest
    n_features_in_: int

    def __init__(
        self,
        k: int = 5,
        *,
        random_state: SeedLike = None,
        **options: Unpack[TransformerOptions],
    ) -> None:
        self.k = k
        self.random_state = random_state
        for name, value in options.items():
            setattr(self, name, value)

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        """Group the records of X, a DataFrame of pandas, polars or pyarrow, or an array."""
        self._fit(Features.of(X))
        return self

    def fit_transform(self, X: Any, y: object = None) -> Any:  # noqa: ARG002
        """Group the records of X and return their released values, in the form of X.

        A pandas index stays as it is, and a `PrivacyWarning` says so if it is more than row
        numbers.
        """
        features = Features.of(X)
        stages = self._fit(features)
        if features.index_may_identify:
            warn(
                "the index of the table is kept as it is, and may say who a record is about. Call "
                "reset_index(drop=True) before you publish it.",
                PrivacyWarning,
            )
        return features.in_form(stages.with_all_categories, self._output)

    def transform(self, X: Any) -> Any:
        """Return for every record of X what the nearest group released, without any promise.

        Records are compared as those that were fitted. What those did not have, a new category, or
        a missing value where none was missing, is taken to be in the middle of its column.
        """
        check_is_fitted(self)
        features = Features.of(X)
        validate_data(self, features.X, reset=False, skip_check_array=True)
        table = open_frame(features.table(self._groups.names))
        known, _ = without_entries(table, table.columns, self.manifest_.plan.na)
        released = self._groups.released_for(known.to_native())
        return features.in_form(released, self._output)

    def _fit(self, features: Features) -> Stages:
        validate_data(self, features.X, skip_check_array=True)
        source = Source.of(features.table())
        stages = go_through(source, self._plan(source.frame.columns))
        release = stages.release
        self.labels_ = release.labels
        self.n_groups_ = release.manifest.n_groups
        self.information_loss_ = release.information_loss
        self.manifest_ = release.manifest
        self._groups = NearestGroups.of(stages)
        return stages

    def _plan(self, names: list[str]) -> Plan:
        """Return the plan in which every column is a quasi-identifier."""
        for name, said in as_columns({} if self.columns is None else self.columns).items():
            if name not in names:
                raise no_such_column(name, names)
            if said.get("role") not in (None, QUASI_IDENTIFIER):
                raise ParameterError(
                    f"column {name!r} is given the role {said['role']}, but a Microaggregator "
                    "protects every column that it gets. Pass it only those to protect, with "
                    "ColumnTransformer, or use microagg.protect."
                )
        if needed := find(self.method).needs:
            raise ParameterError(
                f"method {self.method!r} groups for {needed} of a sensitive column, and a "
                "Microaggregator gets none. Use another method, such as 'auto', or "
                "microagg.protect."
            )
        return plan_of({**self.get_params(deep=False), "quasi_identifiers": names})

    @property
    def _output(self) -> str:
        """What `set_output` asks for, on this transformer or for all."""
        return str(_get_output_config("transform", self)["dense"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
