"""Saved consoles put to use: where Mario dies, states to practise from, and an archive that finds the way."""
