"""Dr. Mario: the rules engine, and the environments on it."""
