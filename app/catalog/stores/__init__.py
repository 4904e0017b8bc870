"""The stores. Each converts rows of a few tables to domain values and back; none makes decisions or commits."""
