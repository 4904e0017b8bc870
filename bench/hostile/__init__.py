"""Hostile input by experiment: the whole service, while it is sent mutated documents of providers and of operators.

`make fuzz`, or `python -m bench.hostile --cases 100000 --seed 1`
"""
