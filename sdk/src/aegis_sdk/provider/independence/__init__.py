"""Attributes made independent of others, with the fewest masked values (Tao et al. 2010)."""
