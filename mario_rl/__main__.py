"""`python -m mario_rl` is the `mario-rl` command."""

from mario_rl.cli import main

if __name__ == "__main__":
    main()
