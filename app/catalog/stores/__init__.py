"""The stores: each translates rows of a few tables to domain values and back. None of them decides or commits."""
