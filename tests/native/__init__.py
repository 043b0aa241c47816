"""The native core against independent oracles: cynes (a whole console) and py65 (a 6502)."""
