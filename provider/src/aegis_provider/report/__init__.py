"""Reports for readers: one model, rendered as text, as Markdown, and as an HTML page with charts."""
