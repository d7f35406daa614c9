"""Every error and warning that microagg raises on purpose, by its public name."""

from microagg.core.errors import (
    AnnotationWarning,
    ColumnWarning,
    ConstraintWarning,
    DamagedCacheWarning,
    DataError,
    GuaranteeError,
    InterruptedSearchWarning,
    ManifestWarning,
    MicroaggError,
    ParameterError,
    PrivacyWarning,
)

__all__ = [
    "AnnotationWarning",
    "ColumnWarning",
    "ConstraintWarning",
    "DamagedCacheWarning",
    "DataError",
    "GuaranteeError",
    "InterruptedSearchWarning",
    "ManifestWarning",
    "MicroaggError",
    "ParameterError",
    "PrivacyWarning",
]
