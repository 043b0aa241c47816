"""How fast we are, measured beside our peers in the same run. `mario-rl bench` runs these from the source tree."""
