"""Where the reports of a dataset go: files beside it, written just before its manifest."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from microagg.core.errors import ParameterError
from microagg.files.atomic import Writer, atomic_write_all, check_distinct, check_target
from microagg.files.writing import check_html_name, text_writer
from microagg.release.release import PathName
from microagg.release.saving import file_name
from microagg.scale.storage.urls import Place
from microagg.scale.storage.work import UnfinishedError

Pages = Mapping[Path, str]


@dataclass(frozen=True)
class ReportFiles:
    """The reports that were asked for; the values of `paths` say which of them are public."""

    paths: Mapping[Path, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, report: PathName | None, public_report: PathName | None) -> "ReportFiles":
        """Return where reports go that may be asked for."""
        asked = [(path, at == 1) for at, path in enumerate((report, public_report))]
        named = [(Path(file_name(path)), public) for path, public in asked if path is not None]
        check_distinct([path for path, _ in named])
        return cls(dict(named))

    @property
    def names(self) -> tuple[str, ...]:
        """Where they go, as it was given."""
        return tuple(map(str, self.paths))

    def check(self, source: Place, target: Place, *, force: bool) -> None:
        """Refuse reports that cannot be written, or that would be files of a dataset."""
        datasets = [Path(os.path.realpath(p)) for p in (source, target) if isinstance(p, Path)]
        for path in self.paths:
            check_html_name(path)
            real = Path(os.path.realpath(path))
            if any(own == real or own in real.parents for own in datasets):
                raise ParameterError(
                    f"the report {str(path)!r} must not be in the input or the output, which are "
                    "datasets. Choose another place."
                )
            check_target(path, force=force)


def write_pages(pages: Pages, *, force: bool) -> None:
    """Write reports, all or none of them; those that an ended run has written stay."""
    write_last(
        {path: text_writer(text) for path, text in pages.items() if not _holds(path, text)},
        force=force,
    )


def write_last(writers: Mapping[Path, Writer], *, force: bool) -> None:
    """Write files beside the finished ones, which others may have taken the names of by now."""
    try:
        atomic_write_all(writers, force=force)
    except ParameterError as error:
        raise UnfinishedError(str(error)) from None


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()
