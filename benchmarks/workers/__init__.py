"""One process per measured system. Peers run in .venv-peers, so nothing here but our own workers imports mario_rl."""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is the benchmark's to talk about, also while a worker imports
