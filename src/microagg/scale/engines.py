"""Who does the work: threads of this process, an executor, or the workers of a Dask client."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from microagg.core.errors import ParameterError
from microagg.core.parallel import Executor, executing_on
from microagg.core.validation import check_jobs

# How often Dask starts a task anew whose worker was lost.
_RETRIES = 3


@contextmanager
def working_with(engine: object) -> Iterator[None]:
    """Run the tasks of this block on an engine; None for threads."""
    if engine is None:
        yield
        return
    executor, n_workers = _executor_of(engine)
    with executing_on(executor, n_workers):
        yield


def check_engine(engine: object) -> None:
    """Refuse what runs no tasks."""
    if engine is not None:
        _executor_of(engine)


def _executor_of(engine: object) -> tuple[Executor, int]:
    if hasattr(engine, "get_executor") and hasattr(engine, "scheduler_info"):
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
