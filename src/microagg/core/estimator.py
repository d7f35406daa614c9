"""What every method provides, whether it forms groups or draws a centre for each record."""

from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from numpy.typing import ArrayLike, NDArray

from microagg.core.arrays import Labels


@runtime_checkable
class Estimator(Protocol):
    """A method with its parameters and, after `fit`, its results.

    Names that end with an underscore are learned. `interrupted_` and `timed_out_` say whether a
    search was ended by Ctrl-C or by its time budget; they are false if there is no search.
    """

    draws: ClassVar[bool]  # records draw their values, and k is not guaranteed
    single_column: ClassVar[bool]  # takes one column only

    k: int
    labels_: Labels  # the group, or centre, of every record
    centers_: NDArray[Any]  # the centre of each label: real or whole numbers
    n_groups_: int
    sse_: float  # sum of squared distances between the records and their centres
    interrupted_: bool
    timed_out_: bool

    def __init__(self, k: int = ..., **options: Any) -> None: ...

    def fit(self, X: ArrayLike, y: object = None, *, requirements: Any = None) -> Self:
        """Group the records of X, so that every group meets the requirements, if there are any."""
        ...

    def fit_predict(self, X: ArrayLike, y: object = None) -> Labels:
        """Group the records of X and return the label of each."""
        ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        ...

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name."""
        ...

    def copy(self) -> Self:
        """Return an estimator with the same parameters that has not been fitted."""
        ...

    def uses_randomness(self) -> bool:
        """Whether the result depends on a seed, with the parameters as they are."""
        ...
