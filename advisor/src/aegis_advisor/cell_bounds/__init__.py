"""Between which bounds each cell lies that nobody published: what follows for certain from all tables together."""

from aegis_advisor.cell_bounds.bounds import UNLIMITED, CellBounds, Method, bound_cells

__all__ = ["UNLIMITED", "CellBounds", "Method", "bound_cells"]
