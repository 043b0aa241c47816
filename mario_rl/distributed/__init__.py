"""How gradients and weights move between the processes of a run, and who keeps those processes alive."""
