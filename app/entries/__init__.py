"""Catalogue entries: publishing, versions, visibility, search, and the verdict on their counts."""
