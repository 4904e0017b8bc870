"""Catalogue entries: publishing, versions, visibility, search, and verdicts on their counts."""
