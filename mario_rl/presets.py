"""Settings that were measured (docs/results.md), by preset and model."""

from __future__ import annotations

from typing import Any

# For two cores. Everything not named stays at its default.
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "laptop": {
        "ppo": {
            "workers": 2,
            "lanes": 8,
            "collect_steps": 128,
            "batch_size": 128,
            "epochs": 6,
            "lr": 5e-4,
            "lr_min": 2e-5,
            "gamma": 0.97,
            "max_grad_norm": 0.5,
            "steps": 400_000,
            "stop_at": 0.99,
        },
        "ddqn": {
            "workers": 2,
            "lanes": 8,
            "collect_steps": 4,
            "gradients_per_collect": 4,
            "batch_size": 64,
            "buffer_size": 25_000,
            "learning_starts": 1_500,
            "priority_alpha": 0.0,
            "q_scale": 100.0,
            # Flags must not hang on single actions: some stick, and the value is that of a policy that slips at times.
            "sticky": 0.1,
            "target_epsilon": 0.03,
            "tau_min": 7e-4,
            "lr": 5e-4,
            "lr_min": 2e-5,
            "gamma": 0.97,
            "steps": 148_000,
            "evaluate_every": 10_000,
            "evaluate_episodes": 100,
            "stop_at": 0.97,
        },
    },
    # Trained with the sticky actions it is judged by: slower, and it plays on when its fingers slip.
    "robust": {
        "ppo": {
            "workers": 2,
            "lanes": 16,
            "collect_steps": 64,
            "batch_size": 256,
            "epochs": 4,
            "lr": 5e-4,
            "gamma": 0.98,
            "max_grad_norm": 0.5,
            "sticky": 0.25,
            "steps": 4_000_000,
            "evaluate_every": 100_000,
            "evaluate_episodes": 64,
            "evaluate_protocol": "sticky",
            "stop_at": 0.9,
        },
    },
}
