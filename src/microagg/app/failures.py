"""What is said of an error that nobody expected: a sentence without the error's own words."""

import traceback

from microagg.core.memory import is_lack_of_memory

_NO_MEMORY = (
    "there is not enough memory. Choose effort fast or another method, drop columns, use fewer "
    "records, or use a machine with more memory."
)


def sentence_about(error: Exception) -> str:
    """Return a sentence for the page; the terminal gets the details, which may quote values."""
    if is_lack_of_memory(error):
        return _NO_MEMORY
    if isinstance(error, OSError) and error.filename is not None:
        return f"{str(error.filename)!r} cannot be used: {error.strerror}."
    traceback.print_exception(error)
    return (
        f"an unexpected {type(error).__name__} stopped this. The terminal of the app has the "
        "details: please report them, after removing any values."
    )
