"""What can go wrong, by whose move it is: the caller's, the data's, or ours."""


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


class InterruptedSearchWarning(UserWarning):
    """The search was ended from the keyboard; what came out is valid, and the best so far."""


class PrivacyWarning(UserWarning):
    """What was asked for is allowed, but protects less than one may think."""
