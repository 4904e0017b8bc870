"""Certain bounds of the unpublished cells of a table, from all published tables together."""

from aegis_advisor.cell_bounds.bounds import UNLIMITED, CellBounds, Method, bound_cells

__all__ = ["UNLIMITED", "CellBounds", "Method", "bound_cells"]
