"""The plan file: what a provider intends (`model`), read strictly (`file`, a module a part) and written again."""
