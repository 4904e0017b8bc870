"""Reports for people: one model of a report, rendered as text, as Markdown and as an HTML page with its charts."""
