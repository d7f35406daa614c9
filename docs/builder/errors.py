"""What stops a build."""


class BuildError(Exception):
    """The site cannot be built as its sources are; the message says what to change."""
