"""What else could rank configurations. Every ranker gives (configurations,) scores of which higher is better."""
