"""Estimators that are scikit-learn clusterers, but also work without it.

Loading scikit-learn takes longer than protecting a small file, and grouping needs nothing from its
base class except parameters by name. So methods have their own base class, and scikit-learn's is
added for users who ask for the class of a method.
"""

import inspect
from functools import cache
from typing import Any, Self, TypeVar

from numpy.typing import ArrayLike

from microagg.core.arrays import Labels
from microagg.core.errors import ParameterError
from microagg.core.words import did_you_mean

Kind = TypeVar("Kind")


@cache
def with_sklearn(method: type[Kind]) -> type[Kind]:
    """Return the class of a method with scikit-learn's base classes added."""
    from sklearn.base import BaseEstimator, ClusterMixin

    # Where pickle finds the class under its own name.
    body = {"__module__": "microagg.partitions", "__doc__": method.__doc__}
    return type(method.__name__, (method, ClusterMixin, BaseEstimator), body)


class Clusterer:
    """An estimator whose parameters are those of its constructor; a subclass implements `fit`."""

    labels_: Labels
    n_features_in_: int

    @classmethod
    def _get_param_names(cls) -> list[str]:
        parameters = inspect.signature(cls.__init__).parameters.values()
        kept = (p for p in parameters if p.name != "self" and p.kind is not p.VAR_KEYWORD)
        return sorted(parameter.name for parameter in kept)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep`, also those of nested estimators."""
        own = {name: getattr(self, name) for name in self._get_param_names()}
        if not deep:
            return own
        nested = {
            f"{name}__{inner}": value
            for name, parameter in own.items()
            if hasattr(parameter, "get_params") and not isinstance(parameter, type)
            for inner, value in parameter.get_params().items()
        }
        return own | nested

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name; NAME__INNER is a parameter of the parameter NAME."""
        known = self._get_param_names()
        for name, value in params.items():
            outer, nested, inner = name.partition("__")
            if outer not in known:
                raise ParameterError(
                    f"Invalid parameter {outer!r} for {type(self).__name__}; its parameters are "
                    f"{', '.join(map(repr, known))}.{did_you_mean(outer, known)}"
                )
            if nested:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def copy(self) -> Self:
        """Return an estimator with the same parameters that has not been fitted."""
        return type(self)(**self.get_params(deep=False))

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Group the records of X."""
        raise NotImplementedError  # abstract

    def fit_predict(self, X: ArrayLike, y: object = None) -> Labels:
        """Group the records of X and return the label of each."""
        return self.fit(X, y).labels_

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type="clusterer", target_tags=TargetTags(required=False))
