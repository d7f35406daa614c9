"""What every partitioner takes, guarantees and returns."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray

from microagg.core.arrays import Labels
from microagg.core.clusterer import Clusterer
from microagg.core.validation import check_flag, check_group_sums, check_k, check_matrix
from microagg.kernels.basics.group_sums import summarise

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule


class Partitioner(Clusterer):
    """Groups of at least k records; a scikit-learn clusterer.

    A subclass stores its parameters as given and implements `_group`. Methods that can round
    their centres have a parameter `integer`.

    Attributes
    ----------
    labels_ : group of every record, numbered in the order of the groups' first records
    centers_ : one row per group: its mean, rounded half away from zero with `integer=True`
    sse_ : sum of squared distances between the records and their group's centre
    n_groups_ : number of groups
    interrupted_, timed_out_ : whether a search was ended by Ctrl-C, or by its time budget
    """

    k: int
    draws: ClassVar[bool] = False
    single_column: ClassVar[bool] = False
    interrupted_ = False
    timed_out_ = False

    if TYPE_CHECKING:

        def __init__(self, k: int = ..., **options: Any) -> None: ...

    def fit(
        self,
        X: ArrayLike,
        y: object = None,  # noqa: ARG002
        *,
        requirements: "Iterable[GroupRule] | None" = None,
    ) -> Self:
        """Group the records of X, so that every group meets the requirements, if there are any."""
        integer = check_flag("integer", getattr(self, "integer", False))
        X = check_matrix(X, estimator=self, integer=integer, single_column=self.single_column)
        k = check_k(self.k, n_records=len(X))
        labels = self._group(X, k) if requirements is None else self._ruled(X, k, requirements)
        check_group_sums(X, labels)
        groups = summarise(X, labels)
        self.labels_ = groups.labels
        self.centers_ = groups.centers
        self.sse_ = groups.sse
        self.n_groups_ = len(groups.sizes)
        return self

    def uses_randomness(self) -> bool:
        """Whether the groups depend on a seed, with the parameters as they are."""
        return False

    def _ruled(self, X: NDArray[Any], k: int, requirements: "Iterable[GroupRule]") -> Labels:
        """Return groups that meet the requirements, if all records together do."""
        from microagg.requirements.coded import check_feasible, check_met, check_rules

        rules = check_rules(requirements, len(X))
        if not rules:
            return self._group(X, k)
        check_feasible(rules, k)
        labels = self._group_under(X, k, rules)
        check_met(rules, k, labels)
        return labels

    def _group_under(self, X: NDArray[Any], k: int, rules: "tuple[GroupRule, ...]") -> Labels:
        """Return groups that meet all rules: those of the method, repaired where they do not."""
        from microagg.partitions.search.repairing import repair
        from microagg.requirements.coded import pack

        return repair(X, self._group(X, k), pack(rules, k, len(X)))

    @abstractmethod
    def _group(self, X: NDArray[Any], k: int) -> Labels:
        """Return the group of every record: any numbers from 0 to n-1."""
