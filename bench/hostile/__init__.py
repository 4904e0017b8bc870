"""Hostile input by experiment: the whole service, while it is sent mutated entries, questions, patches and requests.

`make fuzz`, or `python -m bench.hostile --cases 100000 --seed 1`
"""
