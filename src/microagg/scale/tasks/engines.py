"""Who does the work: threads of this process, an executor, or the workers of a Dask client."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from microagg.core.errors import ParameterError
from microagg.core.parallel import Executor, executing_on
from microagg.core.validation import check_jobs
from microagg.scale.storage.work import UnfinishedError
from microagg.scale.tasks.versions import difference, versions_here

# How often Dask restarts a task whose worker was lost.
_RETRIES = 3
# Seconds that a cluster may be without any worker, and between looking whether it is.
PATIENCE, _BETWEEN_LOOKS = 600.0, 2.0


@contextmanager
def working_with(engine: object) -> Iterator[None]:
    """Run the tasks of this block on an engine; None for threads."""
    if engine is None:
        yield
        return
    executor, n_workers = _executor_of(engine)
    watch = _Watch(engine).look if _is_client(engine) else None
    with executing_on(executor, n_workers, watch):
        yield


def check_engine(engine: object) -> None:
    """Refuse what runs no tasks, and workers with other versions than this process."""
    if engine is not None:
        _executor_of(engine)
    if _is_client(engine):
        _check_workers(engine)


def _is_client(engine: object) -> bool:
    return hasattr(engine, "get_executor") and hasattr(engine, "scheduler_info")


def _executor_of(engine: object) -> tuple[Executor, int]:
    if _is_client(engine):
        client: Any = engine
        n_threads = sum(client.nthreads().values())
        return client.get_executor(pure=False, retries=_RETRIES), max(1, n_threads)
    if callable(getattr(engine, "submit", None)):
        executor: Any = engine
        return executor, int(getattr(executor, "_max_workers", 0) or check_jobs(-1))
    raise ParameterError(
        "engine must be None for the cores of this machine, a concurrent.futures.Executor or a "
        f"dask.distributed.Client; got {type(engine).__name__}."
    )


def _check_workers(client: Any) -> None:
    """Refuse workers with other versions; those that join later are refused by their tasks."""
    own = versions_here()
    for address, found in client.run(versions_here, on_error="return").items():
        if isinstance(found, Exception):
            raise ParameterError(
                f"the Dask worker {address} cannot run microagg ({type(found).__name__}). Install "
                "the same versions there as here."
            )
        if different := difference(own, found):
            raise ParameterError(
                f"the Dask worker {address} has {different}, so results could differ. Install "
                "the same versions everywhere."
            )


class _Watch:
    """Looks now and then whether a cluster has workers, and gives up after a while without any."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._looked = self._seen = time.monotonic()

    def look(self) -> None:
        """End the run if there has been no worker for too long."""
        now = time.monotonic()
        if now - self._looked < _BETWEEN_LOOKS or self._client.status != "running":
            return
        self._looked = now
        if self._client.nthreads():
            self._seen = now
        elif now - self._seen > PATIENCE:
            raise UnfinishedError(
                f"the Dask cluster has had no worker for {PATIENCE:.0f} seconds. Start some."
            )


def client_at(address: str) -> Any:
    """Return a client of the Dask scheduler at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise ParameterError(
            "a scheduler needs Dask. Install it with pip install 'microagg[dask]'."
        ) from None
    try:
        return Client(address, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError):
        raise ParameterError(
            f"no Dask scheduler answers at {address!r}. Start one, or correct the address."
        ) from None
