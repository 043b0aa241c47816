"""The agent that presses buttons: it sees a bottle every few frames and says what to hold (docs/frames.md)."""
