"""What can go wrong, by whose move it is: the caller's, the data's, or ours."""

import sys
import warnings
from pathlib import Path


class MicroaggError(Exception):
    """Base of every error that microagg raises on purpose."""

    exit_code = 1


class ParameterError(MicroaggError, ValueError):
    """The request cannot be served: an option, a name or a path is wrong."""

    exit_code = 2


class DataError(MicroaggError, ValueError):
    """The data cannot be served: what is in the table or file is wrong."""

    exit_code = 3


class GuaranteeError(MicroaggError, RuntimeError):
    """A promise could not be kept, so nothing was released."""

    exit_code = 4


class AnnotationWarning(UserWarning):
    """Something that the input says about its columns is not in the output."""


class InterruptedSearchWarning(UserWarning):
    """The search was ended from the keyboard; what came out is valid, and the best so far."""


class PrivacyWarning(UserWarning):
    """What was asked for is allowed, but protects less than one may think."""


def warn(message: str, kind: type[Warning]) -> None:
    """Warn whoever called the package, however many of its functions are in between."""
    package = str(Path(__file__).parents[1])
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
