"""The contract between a provider, the service and a consumer: the only place that defines the field names.

Requests are read strictly, answers tolerantly. `read_entry` reads an entry. `faults_of` turns the `ValidationError` of
any request into faults with JSON Pointers.
"""

from aegis_sdk.wire.advice import (
    Advice,
    AdviceAnswer,
    AdviceHead,
    AdviceStatus,
    AttributeAdvice,
    CoarseAdvice,
    CoarseAttribute,
    CoarseRow,
    CoarseScore,
    JointAdvice,
    MaskingScore,
    Misfit,
    Progress,
    RankedConfiguration,
    Reconstruction,
)
from aegis_sdk.wire.advice_request import AdviceRequest
from aegis_sdk.wire.attribute import DROP, IDENTITY, Attribute, Label, Masking, MaskingFunction, Noise
from aegis_sdk.wire.catalogue import (
    EntryHead,
    EntryVersion,
    Head,
    HeadPage,
    Measure,
    MeasureList,
    PublishedHead,
    PublishingTerms,
    SeenBy,
)
from aegis_sdk.wire.configuration import (
    PRIVACY_CRITERIA,
    SUPPRESSED,
    Configuration,
    ConfigurationTable,
    Measured,
    Privacy,
)
from aegis_sdk.wire.disclosure_control import DisclosureControl
from aegis_sdk.wire.entry import EntryDocument, NotJsonError, publishable, read_entry, read_json
from aegis_sdk.wire.examples import (
    EXAMPLE_ADVICE,
    EXAMPLE_ADVICE_REQUEST,
    EXAMPLE_COARSE_ADVICE,
    EXAMPLE_DRAWN_MASKING,
    EXAMPLE_ENTRY,
    EXAMPLE_HEAD,
    EXAMPLE_MEASURE,
    EXAMPLE_NOISY_MASKING,
    EXAMPLE_PAIR,
    EXAMPLE_PROBLEM,
    EXAMPLE_TERMS,
)
from aegis_sdk.wire.faults import FAULTS_SHOWN, PointedFault, faults_of, pointer_of
from aegis_sdk.wire.joint_trace import JointTrace
from aegis_sdk.wire.members import refuse_repeated_members
from aegis_sdk.wire.pair import AssociationNoise, LabelAssociation, Pair
from aegis_sdk.wire.problem import Problem, ProblemFault
from aegis_sdk.wire.sizes import ROWS
from aegis_sdk.wire.values import COUNT_MAX, EntryName
from aegis_sdk.wire.verdict import Verdict, VerdictFinding
from aegis_sdk.wire.visibility import Visibility, VisibilityPatch, VisibleTo

__all__ = [
    "COUNT_MAX",
    "DROP",
    "EXAMPLE_ADVICE",
    "EXAMPLE_ADVICE_REQUEST",
    "EXAMPLE_COARSE_ADVICE",
    "EXAMPLE_DRAWN_MASKING",
    "EXAMPLE_ENTRY",
    "EXAMPLE_HEAD",
    "EXAMPLE_MEASURE",
    "EXAMPLE_NOISY_MASKING",
    "EXAMPLE_PAIR",
    "EXAMPLE_PROBLEM",
    "EXAMPLE_TERMS",
    "FAULTS_SHOWN",
    "IDENTITY",
    "PRIVACY_CRITERIA",
    "ROWS",
    "SUPPRESSED",
    "Advice",
    "AdviceAnswer",
    "AdviceHead",
    "AdviceRequest",
    "AdviceStatus",
    "AssociationNoise",
    "Attribute",
    "AttributeAdvice",
    "CoarseAdvice",
    "CoarseAttribute",
    "CoarseRow",
    "CoarseScore",
    "Configuration",
    "ConfigurationTable",
    "DisclosureControl",
    "EntryDocument",
    "EntryHead",
    "EntryName",
    "EntryVersion",
    "Head",
    "HeadPage",
    "JointAdvice",
    "JointTrace",
    "Label",
    "LabelAssociation",
    "Masking",
    "MaskingFunction",
    "MaskingScore",
    "Measure",
    "MeasureList",
    "Measured",
    "Misfit",
    "Noise",
    "NotJsonError",
    "Pair",
    "PointedFault",
    "Privacy",
    "Problem",
    "ProblemFault",
    "Progress",
    "PublishedHead",
    "PublishingTerms",
    "RankedConfiguration",
    "Reconstruction",
    "SeenBy",
    "Verdict",
    "VerdictFinding",
    "Visibility",
    "VisibilityPatch",
    "VisibleTo",
    "faults_of",
    "pointer_of",
    "publishable",
    "read_entry",
    "read_json",
    "refuse_repeated_members",
]
