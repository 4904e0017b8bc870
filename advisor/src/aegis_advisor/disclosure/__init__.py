"""Between which bounds each cell lies that nobody published."""
