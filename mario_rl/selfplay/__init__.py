"""Dr. Mario agents that learn by playing against themselves, and a ladder that tells who is better."""
