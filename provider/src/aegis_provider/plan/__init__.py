"""The plan file: what a provider intends (`model`), read strictly (`reading`, `attributes`) and written again."""
