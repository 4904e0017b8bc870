from aegis_advisor.evidence import EvidenceFlags, MaskingFlags
from app.entries.model.entries import AttributeOutline, MaskingOutline


def evidence_flags(attribute: AttributeOutline) -> EvidenceFlags:
    """What is known of an attribute and of its maskings, in their order."""
    return EvidenceFlags(attribute.values, attribute.labels, attribute.joint, tuple(map(_flags, attribute.maskings)))


def _flags(masking: MaskingOutline) -> MaskingFlags:
    known = masking.occupied, masking.mapped, masking.counted, masking.deterministic
    return MaskingFlags(*known, masking.perturbed, masking.drawn)
