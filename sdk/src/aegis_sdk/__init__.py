"""The SDK of Aegis: publish summaries of tables, and ask which masking configuration to use.

    from aegis_sdk import Client

    with Client() as client:
        advice = client.advise(entry_id, "mutual_information", require={"k": 5})

`aegis_sdk.wire` defines the documents, and `aegis_sdk.testing` has an in-memory service for tests. The provider's tools
are a separate distribution, `aegis_provider`.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aegis_sdk._client import AsyncClient, Client
    from aegis_sdk._errors import (
        AdviceFailedError,
        AdviceTimeoutError,
        AegisError,
        BadRequestError,
        BudgetSpentError,
        ConflictError,
        ForbiddenError,
        InvalidError,
        KeyExpiresWarning,
        LimitedError,
        NotFoundError,
        PackageError,
        PreconditionFailedError,
        ProblemError,
        ServiceUnreachableError,
        SettingsError,
        TooLargeError,
        UnauthorizedError,
        UnavailableError,
        UnexpectedAnswerError,
        UniqueRecordsError,
    )
    from aegis_sdk.frames import read
    from aegis_sdk.wire import (
        Advice,
        AttributeAdvice,
        CoarseAdvice,
        DataRequest,
        EntryDocument,
        EntryHead,
        Head,
        MaskingScore,
        Measure,
        Problem,
        ProblemFault,
        Progress,
        PublishedHead,
        PublishingTerms,
        RankedConfiguration,
        Reconstruction,
        VisibleTo,
    )

__all__ = [
    "Advice",
    "AdviceFailedError",
    "AdviceTimeoutError",
    "AegisError",
    "AsyncClient",
    "AttributeAdvice",
    "BadRequestError",
    "BudgetSpentError",
    "Client",
    "CoarseAdvice",
    "ConflictError",
    "DataRequest",
    "EntryDocument",
    "EntryHead",
    "ForbiddenError",
    "Head",
    "InvalidError",
    "KeyExpiresWarning",
    "LimitedError",
    "MaskingScore",
    "Measure",
    "NotFoundError",
    "PackageError",
    "PreconditionFailedError",
    "Problem",
    "ProblemError",
    "ProblemFault",
    "Progress",
    "PublishedHead",
    "PublishingTerms",
    "RankedConfiguration",
    "Reconstruction",
    "ServiceUnreachableError",
    "SettingsError",
    "TooLargeError",
    "UnauthorizedError",
    "UnavailableError",
    "UnexpectedAnswerError",
    "UniqueRecordsError",
    "VisibleTo",
    "read",
]

_MODULES = ("aegis_sdk._errors", "aegis_sdk.wire", "aegis_sdk.frames", "aegis_sdk._client")


def __getattr__(name: str) -> object:
    """Import a public name on first use: `aegis --help` needs neither httpx nor the contract."""
    for module in map(import_module, _MODULES if name in __all__ else ()):
        if hasattr(module, name):
            return getattr(module, name)
    if not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted([*globals(), *__all__])
