"""Name -> method: what each one guarantees, costs and cites.

A method is registered here, once. The entry names its class by path, so that listing the methods
loads none of them; dispatch, the command line and the contract tests all use this table.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from itertools import chain
from types import MappingProxyType
from typing import Any

from microagg.core.clusterer import with_sklearn
from microagg.core.errors import ParameterError
from microagg.core.estimator import Estimator
from microagg.core.validation import check_choice

ALL = "all"


class Guarantee(StrEnum):
    """What a method guarantees about the size of every group."""

    AT_LEAST_K = "at least k records in every group"
    K_TO_2K_MINUS_1 = "k to 2k-1 records in every group"
    K_ON_AVERAGE = "k records per centre on average; at least k with strict_k"


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One registered method; `cls` loads its class."""

    name: str
    path: str
    summary: str
    guarantee: Guarantee
    cost: str
    source: str
    options: tuple[str, ...] = ()
    deterministic: bool = True
    single_column: bool = False
    draws: bool = False  # records draw their values, and k is not guaranteed
    needs: str = ""  # an option of `protect` that it cannot do without

    @property
    def class_name(self) -> str:
        """The name of the estimator's class, without loading it."""
        return self.path.partition(":")[2]

    @property
    def needed_flag(self) -> str:
        """What it needs, as an option of the command line.

        >>> METHODS["tclose-first"].needed_flag
        '--t-closeness'
        """
        return f"--{self.needs.replace('_', '-')}" if self.needs else ""

    def load(self) -> type[Estimator]:
        """Return the class that does the work; scikit-learn is not loaded for that."""
        module, _, name = self.path.partition(":")
        loaded: type[Estimator] = getattr(import_module(module), name)
        return loaded

    @property
    def cls(self) -> type[Estimator]:
        """The estimator's class, a scikit-learn clusterer."""
        return with_sklearn(self.load())


_ORDERED_SOURCES = (
    "Domingo-Ferrer et al. 2006; cut: Hansen and Mukherjee 2003, Mortazavi et al. 2013"
)

DEFAULT = "auto"

# Parameters of methods that are not options of `protect`, and how to give them instead.
NOT_OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "constraints": "give it as --constraint, or constraints=[...] to protect",
        "effort": "give it as --effort, or effort=... to protect",
        "initial_centers": "centres are in scaled units; give them to the class of the method",
        "strict_k": "give it as --strict-k, or strict_k=True to protect",
        "time_budget": "give it as --time-budget, or time_budget=... to protect",
    }
)

# Options of a plan that methods take as parameters of their own, if they have them.
PLAN_OPTIONS = ("random_state", "strict_k", "effort", "time_budget")

_FUZZY_OPTIONS = (
    *("n_clusters", "constraints", "initial_centers", "n_starts", "max_iterations", "tolerance"),
    *("strict_k", "random_state", "n_jobs"),
)

_METHODS = (
    Method(
        name="auto",
        path="microagg.partitions.auto:Auto",
        summary="the default: local search, trials and recombination, as much as effort allows",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="near O(n d) above 50,000 records, O(n^2 d) at worst to find neighbours below",
        source="docs/methods/auto.md; steps as in Mortazavi and Jalili 2015",
        options=("effort", "time_budget", "random_state", "n_jobs"),
        deterministic=False,
    ),
    Method(
        name="mdav",
        path="microagg.partitions.mdav:MDAV",
        summary="maximum distance to average vector: groups from the outside in",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d / k) at worst",
        source="Domingo-Ferrer and Torra 2005",
        options=("leftover",),
    ),
    Method(
        name="md",
        path="microagg.partitions.fixed_size:MD",
        summary="maximum distance: group each of the two most distant records with its nearest",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^3 d / k) at worst, near O(n^2 d / k) in practice",
        source="Domingo-Ferrer and Mateo-Sanz 2002",
    ),
    Method(
        name="cbfs",
        path="microagg.partitions.fixed_size:CBFS",
        summary="centroid-based fixed size: group the record farthest from the mean first",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d / k) at worst",
        source="Laszlo and Mukherjee 2005",
    ),
    Method(
        name="v-mdav",
        path="microagg.partitions.vmdav:VMDAV",
        summary="MDAV about a fixed mean with groups that grow where records are close",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d) at worst",
        source="Solanas and Martinez-Balleste 2006",
        options=("gain",),
    ),
    Method(
        name="tfrp",
        path="microagg.partitions.tfrp:TFRP",
        summary="two fixed reference points, then groups not worth keeping are dissolved",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d / k) at worst, for each of a few sweeps",
        source="Chang, Li and Huang 2007",
        options=("refine",),
    ),
    Method(
        name="igd",
        path="microagg.partitions.igd:IGD",
        summary="dissolve or shrink the groups of another method while that lowers the error",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d / k) at worst, for each of a few sweeps, besides the start",
        source="Khomnotai, Lin, Peng and Santra 2018",
        options=("initial", "random_state"),
    ),
    Method(
        name="mst",
        path="microagg.partitions.mst:MST",
        summary="cut the longest edges of the minimum spanning tree, split large parts",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d) at worst",
        source="Laszlo and Mukherjee 2005",
        options=("split",),
    ),
    Method(
        name="dba",
        path="microagg.partitions.dba:DBA",
        summary="density-based: group the densest records first, then dissolve groups backwards",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="near O(n^2 d) at worst",
        source="Lin, Wen, Hsieh and Chang 2010",
        options=("preprocess", "refine"),
    ),
    Method(
        name="gsms",
        path="microagg.partitions.gsms:GSMS",
        summary="take the group that leaves the least error behind, then dissolve as tfrp does",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="near O(n^2 d) at worst",
        source="Panagiotakis and Tziritas 2013",
        options=("criterion", "refine"),
    ),
    Method(
        name="mu-approx",
        path="microagg.partitions.mu_approx:MuApprox",
        summary="join small trees by short edges, take large trees apart",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d) at worst",
        source="Domingo-Ferrer, Sebe and Solanas 2008",
    ),
    Method(
        name="hac",
        path="microagg.partitions.hac:HAC",
        summary="hierarchical agglomerative: merge the nearest clusters while sizes allow",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d) in practice, O(n^3 d) at worst",
        source="Alarte Aleixandre 2018",
        options=("linkage", "max_size", "priority"),
    ),
    Method(
        name="kmeans",
        path="microagg.partitions.kmeans:KMeansMicro",
        summary="k-means: split until sizes fit, then assign by a min-cost flow",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="near O(n^1.5 d) in practice",
        source="Kabir, Mahmood and Mustafa 2012",
    ),
    Method(
        name="univariate",
        path="microagg.partitions.univariate:Univariate",
        summary="the optimal partition of one column, real or integer",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n k) after sorting",
        source="Hansen and Mukherjee 2003; Mortazavi 2020 (integers)",
        single_column=True,
        options=("integer",),
    ),
    Method(
        name="npn-mhm",
        path="microagg.partitions.ordered:NPNMHM",
        summary="walk to the nearest unvisited record, cut the path optimally",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d) at worst",
        source=_ORDERED_SOURCES,
        options=("integer", "tour"),
    ),
    Method(
        name="pca-mhm",
        path="microagg.partitions.ordered:PCAMHM",
        summary="sort by the first principal component, cut the path optimally",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n d (d + k))",
        source="Nin, Herranz and Torra 2008",
        options=("integer", "tour"),
    ),
    Method(
        name="zscore-mhm",
        path="microagg.partitions.ordered:ZScoreMHM",
        summary="sort by the sum of the standardised columns, cut the path optimally",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n d k)",
        source="Nin, Herranz and Torra 2008",
        options=("integer", "tour"),
    ),
    Method(
        name="tsp-mhm",
        path="microagg.partitions.ordered:TSPMHM",
        summary="follow a short tour through all records, cut the path optimally",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d) at worst",
        source="Heaton and Mukherjee 2011; Mortazavi and Jalili 2014",
        options=("integer", "tour", "n_starts"),
    ),
    Method(
        name="mdav-mhm",
        path="microagg.partitions.ordered:MDAVMHM",
        summary="visit the groups of MDAV one after another, cut the path optimally",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d / k) at worst",
        source=_ORDERED_SOURCES,
        options=("integer", "tour"),
    ),
    Method(
        name="md-mhm",
        path="microagg.partitions.ordered:MDMHM",
        summary="visit the groups of MD one after another, cut the path optimally",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="as md",
        source=_ORDERED_SOURCES,
        options=("integer", "tour"),
    ),
    Method(
        name="cbfs-mhm",
        path="microagg.partitions.ordered:CBFSMHM",
        summary="visit the groups of CBFS one after another, cut the path optimally",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d / k) at worst",
        source=_ORDERED_SOURCES,
        options=("integer", "tour"),
    ),
    Method(
        name="reporder",
        path="microagg.partitions.reporder:RepOrdMic",
        summary="order by groups, cut, repeat until nothing improves; best of many starts",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d) at worst for each start",
        source="Mortazavi 2020 (repeated ordering)",
        options=("initial", "n_starts", "time_budget", "random_state", "n_jobs"),
        deterministic=False,
    ),
    Method(
        name="icsm",
        path="microagg.partitions.icsm:ICSM",
        summary="improve groups by moves, exchanges, cyclic shifts and cuts of a tour",
        guarantee=Guarantee.K_TO_2K_MINUS_1,
        cost="O(n^2 d) at worst for each round, far less in practice; O(n k^2) for a cut",
        source="Mortazavi and Jalili 2015",
        options=(
            *("initial", "n_restarts", "max_iterations", "time_budget"),
            *("random_state", "n_jobs"),
        ),
    ),
    Method(
        name="tclose-first",
        path="microagg.partitions.tclose:TCloseFirst",
        summary="t-closeness first: deal out the records by the sensitive value, nearest together",
        guarantee=Guarantee.AT_LEAST_K,
        cost="O(n^2 d / size of a group)",
        source="Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015, algorithm 3",
        needs="t_closeness",
    ),
    Method(
        name="tclose-merge",
        path="microagg.partitions.tclose:TCloseMerge",
        summary="groups of MDAV, merged until each is as close to the table as t asks for",
        guarantee=Guarantee.AT_LEAST_K,
        cost="O(n^2 d / k) at worst",
        source="Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015, algorithm 1",
        needs="t_closeness",
    ),
    Method(
        name="fcm",
        path="microagg.fuzzy.fcm:FCM",
        summary="fuzzy c-means: records draw a centre, weighted by their memberships",
        guarantee=Guarantee.K_ON_AVERAGE,
        cost="O(n^2 d / k) for each of many iterations",
        source="Torra 2020 (fuzzy microaggregation with constraints)",
        options=("m1", "m2", *_FUZZY_OPTIONS),
        deterministic=False,
        draws=True,
    ),
    Method(
        name="efcm",
        path="microagg.fuzzy.efcm:EFCM",
        summary="entropy fuzzy c-means: records draw a centre, weighted by their memberships",
        guarantee=Guarantee.K_ON_AVERAGE,
        cost="O(n^2 d / k) for each of many iterations",
        source="Torra 2020; Miyamoto and Mukaidono 1997",
        options=("lambda1", "lambda2", *_FUZZY_OPTIONS),
        deterministic=False,
        draws=True,
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _METHODS})


def methods() -> Mapping[str, Method]:
    """Every registered method by name.

    >>> methods()["mdav"].guarantee.value
    'k to 2k-1 records in every group'
    """
    return METHODS


def find(name: str) -> Method:
    """Return the registered method with this name, or fail and suggest a similar one."""
    return METHODS[check_choice("method", name, METHODS)]


def method_names(methods: object) -> list[Any]:
    """Return the names as a list; a string may contain several, separated by commas.

    >>> method_names("mdav, hac")
    ['mdav', 'hac']
    """
    if isinstance(methods, str):
        names: list[Any] = [name.strip() for name in methods.split(",") if name.strip()]
    else:
        names = list(methods) if isinstance(methods, Iterable) else [methods]
    if not names:
        raise ParameterError("methods must name at least one method, or be 'all'; got none.")
    return names


def find_all(names: Iterable[Any]) -> list[Method]:
    """Return the methods with these names, each once; "all" means every method."""
    known = [ALL, *METHODS]
    checked = [check_choice("methods", name, known) for name in names]
    each = chain.from_iterable(METHODS if name == ALL else [name] for name in checked)
    return [find(name) for name in dict.fromkeys(each)]
