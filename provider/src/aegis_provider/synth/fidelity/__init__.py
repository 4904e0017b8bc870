"""The utility of a release for training models, and its fidelity to its table."""

from aegis_provider.synth.fidelity.measuring import fidelity
from aegis_provider.synth.fidelity.result import ColumnAssociation, Compared, Embedding, Fidelity, ModelValue, Relation

__all__ = ["ColumnAssociation", "Compared", "Embedding", "Fidelity", "ModelValue", "Relation", "fidelity"]
