"""Errors and warnings, by what has to be fixed: the request, the data, or microagg itself."""

import sys
import warnings
from pathlib import Path


class MicroaggError(Exception):
    """Base of every error that microagg raises on purpose.

    Catch it to handle all of them; any other error is a mistake in microagg, or of the system.
    """

    exit_code = 1


class ParameterError(MicroaggError, ValueError):
    """The request is invalid: an option, a name or a path is wrong.

    The data have not been looked at, or are not to blame. Change the call.
    """

    exit_code = 2


class DataError(MicroaggError, ValueError):
    """The data are invalid: something in the table or file is wrong.

    The message names the column, and how many records are concerned, but no value. Change the
    data, or say how they are meant: `missing`, `columns`, a role.
    """

    exit_code = 3


class GuaranteeError(MicroaggError, RuntimeError):
    """A guarantee could not be met, so nothing was released.

    Ask for less (a smaller k, merged strata, a weaker requirement), or give it more records.
    """

    exit_code = 4


class AnnotationWarning(UserWarning):
    """Labels or formats of columns in the input could not be kept in the output.

    The values are right. Choose an output format that can hold them.
    """


class ColumnWarning(UserWarning):
    """A column is probably not what it was taken for, and the release is worse for it.

    It is protected. Give it a role, or write its values as what they are.
    """


class ConstraintWarning(UserWarning):
    """Most records violate a constraint, which may not say what was meant.

    The release satisfies it. Check its wording: a sign, or a column.
    """


class DamagedCacheWarning(UserWarning):
    """Compiled code that was stored could not be used, and was compiled again.

    Nothing to do; the result is right, and only took longer.
    """


class InterruptedSearchWarning(UserWarning):
    """The search was interrupted with Ctrl-C; the result is valid, and the best so far.

    Run it again without interrupting it for one that can be repeated.
    """


class ManifestWarning(UserWarning):
    """There is a manifest next to a file, but it does not belong to it.

    The file was changed or replaced since; the manifest is not used. Say what to check, or restore
    the file.
    """


class PrivacyWarning(UserWarning):
    """The request is allowed, but protects less than you may think.

    The message says what remains visible. Turn it into an error with
    `warnings.simplefilter("error", microagg.errors.PrivacyWarning)` where nobody reads warnings.
    """


# Of a search and of a bound, as an `InterruptedSearchWarning`.
SEARCH_INTERRUPTED = "interrupted: these are the best groups so far, not those of the whole search."
BOUND_INTERRUPTED = "interrupted: this is the best bound so far."

# Warnings that users are shown; others are for developers.
SHOWN_WARNINGS = (
    AnnotationWarning,
    ColumnWarning,
    ConstraintWarning,
    DamagedCacheWarning,
    InterruptedSearchWarning,
    ManifestWarning,
    PrivacyWarning,
)


def warn(message: str, kind: type[Warning]) -> None:
    """Warn at the line that called the package, however deep the call is inside it."""
    package = str(Path(__file__).parents[1])
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
