"""What a release is worth to someone who trains models on it, and how faithful it is to its table."""

from aegis_provider.synth.fidelity.measuring import fidelity
from aegis_provider.synth.fidelity.result import Association, Compared, Embedding, Fidelity, ModelValue, Relation

__all__ = ["Association", "Compared", "Embedding", "Fidelity", "ModelValue", "Relation", "fidelity"]
