"""What a run began with: one that is resumed must have begun with the same."""

from collections.abc import Mapping
from dataclasses import dataclass

from microagg.core.errors import ParameterError
from microagg.files.dialect import Dialect
from microagg.plans.plan import Plan
from microagg.scale.sources.listing import Found
from microagg.scale.storage.work import UnfinishedError, WorkFolder
from microagg.scale.tasks.versions import difference, versions_here

BEGUN = "begun"


@dataclass(frozen=True)
class RunStart:
    """The plan, the files as they were, what was said of CSV files, and the versions in use."""

    plan: Plan
    found: Found
    dialect: Dialect
    versions: Mapping[str, str]
    reports: tuple[str, ...] = ()

    @property
    def given(self) -> tuple[str | None, str | None, str | None]:
        """Delimiter, decimal mark and encoding, as they were given."""
        return self.dialect.delimiter, self.dialect.decimal, self.dialect.encoding

    def check(self, work: WorkFolder) -> None:
        """Refuse to go on with another plan, other files, other versions or more reports."""
        if not work.is_kept(BEGUN):  # it was ended before it had begun
            return
        before: RunStart = work.facts(BEGUN)
        if before.plan != self.plan or before.dialect != self.dialect:
            raise ParameterError(
                "the run cannot be resumed: it began with another plan. Give the same options, or "
                "delete the work folder and start again."
            )
        different = {
            "files": before.found.files != self.found.files,  # the root may be relative
            "reports": not {*self.reports} <= {*before.reports},
            "versions of microagg and its libraries": before.versions != self.versions,
        }
        for what, is_other in different.items():
            if is_other:
                raise ParameterError(
                    f"the run cannot be resumed: it began with other {what}. Delete the work "
                    "folder and start again."
                )


def check_worker(work: WorkFolder) -> None:
    """Refuse to do a task of a run that began with other versions than this process has."""
    if not work.is_kept(BEGUN):  # what only reads datasets has no other workers
        return
    begun: RunStart = work.facts(BEGUN)
    if different := difference(begun.versions, versions_here()):
        raise UnfinishedError(
            f"a worker has {different}, so results could differ. Install the same versions "
            "everywhere."
        )
