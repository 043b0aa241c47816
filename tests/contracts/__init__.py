"""One suite per protocol, run over every implementation of it."""
