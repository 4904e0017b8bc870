"""What chance does to figures of a sample: the tables of docs/model.md."""
