"""A flow of least cost, by OR-tools."""

import numpy as np

from aegis_provider.independence.vectors import IntArray


def cheapest_flow(
    tails: IntArray, heads: IntArray, capacities: IntArray, costs: IntArray, supplies: IntArray
) -> IntArray:
    """(arcs,) how much flows on each arc, by cost scaling (Goldberg 1997), exact for these integers.

    `tails`, `heads`: (arcs,) nodes; `supplies`: (nodes,) of the first nodes, negative where there is demand, of sum 0;
    nodes beyond keep nothing.
    """
    # The rest of the provider's part works without the extra `independence`.
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow  # noqa: PLC0415

    problem = SimpleMinCostFlow()
    arcs = problem.add_arcs_with_capacity_and_unit_cost(
        tails.astype(np.int32), heads.astype(np.int32), capacities, costs
    )
    problem.set_nodes_supplies(np.arange(len(supplies), dtype=np.int32), supplies)
    status = problem.solve()
    if status != problem.OPTIMAL:
        raise RuntimeError(f"a flow on {len(tails)} arcs has no optimum: {status.name}")
    found: IntArray = problem.flows(arcs)
    return found
