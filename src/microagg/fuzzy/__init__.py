"""Records -> memberships and centres: fuzzy c-means; each record draws its centre."""

from microagg.fuzzy.efcm import EFCM
from microagg.fuzzy.fcm import FCM

__all__ = ["EFCM", "FCM"]
