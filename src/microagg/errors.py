"""Every error and warning that microagg raises on purpose, by its public name."""

from microagg.core.errors import (
    AnnotationWarning,
    ConstraintWarning,
    DamagedCacheWarning,
    DataError,
    GuaranteeError,
    InterruptedSearchWarning,
    ManifestWarning,
    MicroaggError,
    ParameterError,
    PrivacyWarning,
    RoleWarning,
)

__all__ = [
    "AnnotationWarning",
    "ConstraintWarning",
    "DamagedCacheWarning",
    "DataError",
    "GuaranteeError",
    "InterruptedSearchWarning",
    "ManifestWarning",
    "MicroaggError",
    "ParameterError",
    "PrivacyWarning",
    "RoleWarning",
]
