"""What chance does to figures of a sample: the tables of research/results/chance."""
