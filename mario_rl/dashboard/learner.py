"""The learner's page: what the optimiser and the algorithm say, each with its recent course."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rich.text import Text

from mario_rl.dashboard.drawing import spark
from mario_rl.dashboard.figures import count, number, percent
from mario_rl.dashboard.lines import joined
from mario_rl.dashboard.session import TrainingSession
from mario_rl.metrics.aggregator import COORDINATOR, MetricAggregator

NAME_WIDTH = 20
VALUE_WIDTH = 9


class Line(NamedTuple):
    """A metric as a line. Metrics of workers are shown as the mean over them."""

    title: str
    metric: str
    shown: Callable[[float | None], str] = number
    of_workers: bool = False
    healthy: Callable[[float], bool] | None = None  # whether the value is what a run in good health has


OPTIMISER = (
    Line("loss", "loss"),
    Line("gradient norm", "grad_norm"),
    Line("learning rate", "lr"),
    Line("updates/s", "updates_per_second"),
)
ALGORITHMS = {
    "ddqn": (
        Line("Q mean", "q_mean", of_workers=True),
        Line("Q max", "q_max", of_workers=True),
        Line("TD error", "td_error", of_workers=True),
        Line("replay", "replay_size", count, of_workers=True),
        Line("beta", "beta", of_workers=True),
    ),
    "dreamer": (
        Line("world loss", "wm_loss", of_workers=True),
        Line("recalled, MSE", "recon_mse", of_workers=True, healthy=lambda value: value < 0.01),
        Line("recalled, SSIM", "ssim", of_workers=True, healthy=lambda value: value > 0.9),
        Line("surprise, nats", "kl", of_workers=True),
        Line("reward loss", "reward_loss", of_workers=True),
        Line("ends seen", "ends_seen", percent, of_workers=True, healthy=lambda value: value > 0.9),
        Line("ends foreseen", "ends_foreseen", percent, of_workers=True),
        Line("actor loss", "actor_loss", of_workers=True),
        Line("critic loss", "critic_loss", of_workers=True),
        Line("imagined return", "imagined_return", of_workers=True),
        Line("value", "value_mean", of_workers=True, healthy=lambda value: value > 0),
        Line("entropy", "entropy", of_workers=True),
        Line("mean x", "x_mean", count, of_workers=True),
        Line("replay", "replay_size", count, of_workers=True),
    ),
    "ppo": (
        Line("policy loss", "policy_loss", of_workers=True),
        Line("value loss", "value_loss", of_workers=True),
        Line("entropy", "entropy", of_workers=True),
        Line("KL", "approx_kl", of_workers=True),
        Line("clipped", "clip_fraction", percent, of_workers=True),
        Line("explained variance", "explained_variance", of_workers=True),
    ),
}


def learner_page(session: TrainingSession, width: int) -> Text:
    """The page for a screen of this width."""
    aggregator = session.aggregator
    standing = aggregator.learner
    said = f"{standing.status}: {standing.text}" if standing.text else standing.status
    lines = [Text(f"the learner is {said}", "bold"), Text()]
    lines += [_line(aggregator, line, width) for line in (*OPTIMISER, *ALGORITHMS.get(session.config.model, ()))]
    return joined([*lines, Text(), *_counts(aggregator)], width)


def _line(aggregator: MetricAggregator, line: Line, width: int) -> Text:
    if line.of_workers:
        value, recent = aggregator.mean(line.metric), aggregator.recent_of_workers(line.metric)
    else:
        value, recent = aggregator.latest(COORDINATOR, line.metric), aggregator.recent(COORDINATOR, line.metric)
    well = value is None or line.healthy is None or line.healthy(value)
    style = "bold" if line.healthy is None else "bold green" if well else "bold yellow"
    text = Text(line.title.ljust(NAME_WIDTH), "dim").append(line.shown(value).rjust(VALUE_WIDTH), style)
    text.append("  " if well else "! ", style)
    return text.append(spark(recent, width - NAME_WIDTH - VALUE_WIDTH - 2), "cyan")


def _counts(aggregator: MetricAggregator) -> list[Text]:
    def last(name: str) -> str:
        return count(aggregator.latest(COORDINATOR, name))

    evaluated = percent(aggregator.latest(COORDINATOR, "evaluation_rate"))
    lines = [
        f"{last('updates')} updates, weights {last('weight_version')}, workers in the latest: {last('workers_in')}",
        f"{last('grads_received')} gradients: {last('grads_nonfinite')} not finite, {last('grads_stale')} too old",
        f"latest evaluation: {evaluated} at the flag, mean x {last('evaluation_mean_x')}",
    ]
    return [Text(line) for line in lines]
