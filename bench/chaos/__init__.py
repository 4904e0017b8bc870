"""Faults by experiment: the whole service under a steady load, while its processes are killed and its network breaks.

`make chaos`, or `python -m bench.chaos --faults 1000 --seed 1`
"""
