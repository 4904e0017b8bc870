"""The SDK of Aegis: publish summaries, ask which masking configuration to use.

    from aegis_sdk import Client

    with Client() as client:
        advice = client.advise(entry_id, "mutual_information", require={"k": 5})

The documents are in `aegis_sdk.wire`, a service in memory for tests in `aegis_sdk.testing`, and the
provider's tools, which need the extra `provider`, in `aegis_sdk.provider`.
"""

from aegis_sdk._client import Client
from aegis_sdk._errors import (
    AdviceFailedError,
    AdviceTimeoutError,
    AegisError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    PreconditionFailedError,
    ProblemError,
    ServiceUnreachableError,
    SettingsError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
    UnexpectedAnswerError,
)
from aegis_sdk.wire import (
    Advice,
    AttributeAdvice,
    EntryDocument,
    EntryHead,
    Head,
    MaskingScore,
    Measure,
    Problem,
    ProblemFault,
    Progress,
    RankedConfiguration,
    Reconstruction,
    VisibleTo,
)

__all__ = [
    "Advice",
    "AdviceFailedError",
    "AdviceTimeoutError",
    "AegisError",
    "AttributeAdvice",
    "BadRequestError",
    "Client",
    "ConflictError",
    "EntryDocument",
    "EntryHead",
    "ForbiddenError",
    "Head",
    "InvalidError",
    "MaskingScore",
    "Measure",
    "NotFoundError",
    "PreconditionFailedError",
    "Problem",
    "ProblemError",
    "ProblemFault",
    "Progress",
    "RankedConfiguration",
    "Reconstruction",
    "ServiceUnreachableError",
    "SettingsError",
    "TooLargeError",
    "UnauthorizedError",
    "UnavailableError",
    "UnexpectedAnswerError",
    "VisibleTo",
]
