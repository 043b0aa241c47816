"""Algorithms: from experience to losses."""
