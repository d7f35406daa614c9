"""Records -> groups: one estimator per method, all with the contract of `Partitioner`."""

from microagg.core.estimator import Estimator
from microagg.core.registry import find
from microagg.partitions.auto import Auto
from microagg.partitions.base import Partitioner
from microagg.partitions.fixed_size import CBFS, MD
from microagg.partitions.hac import HAC
from microagg.partitions.icsm import ICSM
from microagg.partitions.igd import IGD
from microagg.partitions.kmeans import KMeansMicro
from microagg.partitions.mdav import MDAV
from microagg.partitions.mst import MST
from microagg.partitions.ordered import (
    CBFSMHM,
    MDAVMHM,
    MDMHM,
    NPNMHM,
    PCAMHM,
    TSPMHM,
    ZScoreMHM,
    cut_path,
)
from microagg.partitions.reporder import RepOrdMic
from microagg.partitions.tfrp import TFRP
from microagg.partitions.univariate import Univariate
from microagg.partitions.vmdav import VMDAV

__all__ = [
    "CBFS",
    "CBFSMHM",
    "HAC",
    "ICSM",
    "IGD",
    "MD",
    "MDAV",
    "MDAVMHM",
    "MDMHM",
    "MST",
    "NPNMHM",
    "PCAMHM",
    "TFRP",
    "TSPMHM",
    "VMDAV",
    "Auto",
    "KMeansMicro",
    "Partitioner",
    "RepOrdMic",
    "Univariate",
    "ZScoreMHM",
    "cut_path",
    "get",
]


def get(name: str) -> type[Estimator]:
    """Return the class of a registered method.

    >>> get("mdav")(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0]]).tolist()
    [0, 1, 0, 1]
    """
    return find(name).cls
