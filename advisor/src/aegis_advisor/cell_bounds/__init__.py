"""Bounds of the unpublished cells of a table: what follows for certain from all published tables together."""

from aegis_advisor.cell_bounds.bounds import UNLIMITED, CellBounds, Method, bound_cells

__all__ = ["UNLIMITED", "CellBounds", "Method", "bound_cells"]
