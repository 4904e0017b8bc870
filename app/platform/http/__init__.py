"""What all HTTP responses have in common: bodies, errors, paging, limits."""
