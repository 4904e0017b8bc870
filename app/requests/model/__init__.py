"""Data requests and handovers, without SQL or HTTP."""
