"""Environment variables that say how many threads libraries start, checked before these read them.

They would panic, fail with a traceback, or warn with one.
"""

import os

from microagg.core.errors import ParameterError


def check_threads(variable: str) -> None:
    """Refuse a variable that is set, but not to a whole number of at least 1."""
    value = os.environ.get(variable)
    if value is None or (value.strip().isdecimal() and int(value) >= 1):
        return
    raise ParameterError(
        f"the environment variable {variable} must be a whole number of at least 1; got "
        f"{value.strip()!r}. Change it, or unset it to use all cores."
    )
