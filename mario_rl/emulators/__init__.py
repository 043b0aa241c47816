"""Consoles: the native NES core, and the ROM files it runs."""
