"""The networks an agent decides with."""
