"""Compiled code on disk, with a checksum: numba itself would run whatever a damaged file holds."""

import pickle
import zlib
from typing import Any

from numba.core import caching

_File: Any = caching.IndexDataCacheFile  # numba has no types


class DamagedError(Exception):
    """What is stored is not what was compiled."""


class CheckedCacheFile(_File):  # type: ignore[misc]
    """Where numba stores what it compiled of one function."""

    def _save_data(self, name: str, data: Any) -> None:
        stored = self._dump(data)
        super()._save_data(name, (zlib.crc32(stored), stored))

    def _load_data(self, name: str) -> Any:
        checksum, stored = super()._load_data(name)
        if zlib.crc32(stored) != checksum:
            raise DamagedError
        return pickle.loads(stored)


def check_stored(compiled: Any) -> None:
    """Have a function that numba compiles and caches stored with a checksum."""
    compiled._cache._cache_file.__class__ = CheckedCacheFile
