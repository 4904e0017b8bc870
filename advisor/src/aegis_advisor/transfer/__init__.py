"""Transfer utility: how well a rule learned from a release predicts the labels of held-out real records."""

from aegis_advisor.transfer.additive import AdditiveRule, additive_rule, joint_transfer
from aegis_advisor.transfer.figure import Figure
from aegis_advisor.transfer.single import SMOOTHING, chi_square_transfer, g3_transfer, information_transfer

__all__ = [
    "SMOOTHING",
    "AdditiveRule",
    "Figure",
    "additive_rule",
    "chi_square_transfer",
    "g3_transfer",
    "information_transfer",
    "joint_transfer",
]
