"""What a worker remembers: a ring of transitions, sampled uniformly or by priority, with n-step returns."""
