"""From a trained policy to a player inside the cartridge: distilled, compiled to 6502, burned."""
