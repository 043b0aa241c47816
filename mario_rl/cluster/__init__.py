"""Beyond one machine: workers and coordinator as Ray actors, and independent games and runs as Ray tasks.

Nothing else in the package imports this one unless `--cluster` is given: Ray is an extra (`pip install
'mario-rl[cluster]'`).
"""
