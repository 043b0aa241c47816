"""One process per measured system. Peers run in .venv-peers, so nothing here but our own workers imports mario_rl."""
