"""Benchmarks: the speed of Aegis, and the growth of time and memory with the amount of work."""
