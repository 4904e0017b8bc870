"""Hostile input by experiment: mutated documents of providers and operators against the whole service.

`make fuzz`, or `python -m bench.hostile --cases 100000 --seed 1`
"""
