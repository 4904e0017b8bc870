"""From a bare table to a release: every step in its order, in a folder that remembers what is done."""

from aegis_provider.workflow.aim import USUAL, Aim
from aegis_provider.workflow.card import Card
from aegis_provider.workflow.released import Released
from aegis_provider.workflow.releasing import release

__all__ = ["USUAL", "Aim", "Card", "Released", "release"]
