"""MDAV."""
from typing import Any
import numpy as np
from numpy.typing import NDArray
from microagg.partitions.base import Labels, Partitioner

class MDAV(Partitioner):
    """Interim: replaced by the fast one."""
    def __init__(self, k: int = 3, *, leftover: str = "group") -> None:
        self.k = k
        self.leftover = leftover

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        n=len(X); labels=np.zeros(n,dtype=np.intp); rem=np.arange(n); g=0
        def take(p, rem):
            nonlocal g
            o=np.argsort(((X[rem]-X[p])**2).sum(1),kind="stable")[:k]
            labels[rem[o]]=g; g+=1
            return np.delete(rem,o)
        while len(rem)>=3*k:
            r=rem[((X[rem]-X[rem].mean(0))**2).sum(1).argmax()]
            s=rem[((X[rem]-X[r])**2).sum(1).argmax()]
            rem=take(r,rem); rem=take(s,rem)
        if len(rem)>=2*k:
            r=rem[((X[rem]-X[rem].mean(0))**2).sum(1).argmax()]
            rem=take(r,rem)
        labels[rem]=g
        return labels
