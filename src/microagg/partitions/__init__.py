"""Records -> groups."""
from microagg.partitions.base import Partitioner
from microagg.partitions.mdav import MDAV
from microagg.registry import find
__all__ = ["MDAV", "Partitioner", "get"]
def get(name: str) -> type[Partitioner]:
    """Class of a registered method."""
    return find(name).cls
