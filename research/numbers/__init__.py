"""How well the measure of a label that is a number orders configurations by the R^2 of models."""
