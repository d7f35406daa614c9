"""Errors and warnings, by what has to be fixed: the request, the data, or microagg itself."""

import sys
import warnings
from pathlib import Path


class MicroaggError(Exception):
    """Base of every error that microagg raises on purpose."""

    exit_code = 1


class ParameterError(MicroaggError, ValueError):
    """The request is invalid: an option, a name or a path is wrong."""

    exit_code = 2


class DataError(MicroaggError, ValueError):
    """The data are invalid: something in the table or file is wrong."""

    exit_code = 3


class GuaranteeError(MicroaggError, RuntimeError):
    """A guarantee could not be met, so nothing was released."""

    exit_code = 4


class AnnotationWarning(UserWarning):
    """Labels or formats of columns in the input could not be kept in the output."""


class ConstraintWarning(UserWarning):
    """Most records violate a constraint, which may not say what was meant."""


class DamagedCacheWarning(UserWarning):
    """Compiled code that was stored could not be used, and was compiled again."""


class InterruptedSearchWarning(UserWarning):
    """The search was interrupted with Ctrl-C; the result is valid, and the best so far."""


class ManifestWarning(UserWarning):
    """There is a manifest next to a file, but it does not belong to it."""


class PrivacyWarning(UserWarning):
    """The request is allowed, but protects less than you may think."""


def warn(message: str, kind: type[Warning]) -> None:
    """Warn at the line that called the package, however deep the call is inside it."""
    package = str(Path(__file__).parents[1])
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
