"""Dreamer: learn the game's world from what was seen, and how to act from what is imagined in it.

Hafner et al. 2023 (DreamerV3, arXiv 2301.04104; sections are named where their formulas are). A minibatch has two
phases:

1. **world**: replayed sequences are seen again; the model learns to tell what comes next (`world_phase`);
2. **behaviour**: from the states of these sequences the actor plays on in the model alone, and actor and critic learn
   from that (`behaviour_phase`).

Both give one loss. World, actor and critic share no weights and see each other's numbers without gradients, so the
gradient of the sum is each one's own; the coordinator clips and steps them separately (`parts`).
The networks are in `models/dreamer.py`, the worker's side in `dreamer_experience.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional as F

from mario_rl.config import TrainingConfig
from mario_rl.learners.base import Metrics, TrainedPart
from mario_rl.models.base import Model
from mario_rl.models.dreamer import DreamerModel, choose
from mario_rl.models.dynamics import State, divergence, draw, noise
from mario_rl.models.sights import PixelSight, newest
from mario_rl.models.similarity import structural_similarity

# Section "World model learning": weights of the dynamics and of the representation loss, and the nats that are free.
DYNAMICS_WEIGHT, REPRESENTATION_WEIGHT, FREE_NATS = 1.0, 0.1, 1.0
# Beside 1500 numbers that are to be seen again, one reward and one end are easily overlooked (the paper has 1 and 1).
REWARD_WEIGHT, GOING_ON_WEIGHT = 2.0, 5.0
# Section "Actor learning": returns are divided by their range between these quantiles, averaged over time, but by no
# less than 1, so that small ones are not blown up.
LOW, HIGH, RANGE_MEMORY = 0.05, 0.95, 0.99
COMPARED = 4  # pictures of a minibatch that are compared with the truth for the similarity


@dataclass(slots=True)
class Replayed:
    """Sequences as tensors, [length, sequences, ...] (see `replay.sequences.Sequences`)."""

    observations: Tensor
    actions: Tensor
    rewards: Tensor
    first: Tensor
    terminal: Tensor
    before: State


class DreamerLearner:
    """The maths (see `Learner`)."""

    def __init__(self, config: TrainingConfig, model: Model):
        self.config = config
        self.model = cast(DreamerModel, model)
        self.entropy_weight = config.entropy
        self.return_range = 0.0  # of imagined returns, averaged over minibatches; 0 before the first
        self.generator = torch.Generator().manual_seed(config.seed)
        self._critic = list(self.model.critic.parameters())
        self._slow = list(self.model.slow_critic.parameters())

    def parts(self) -> list[TrainedPart]:
        """World, actor and critic, in the order in which their gradients lie."""
        config, model = self.config, self.model
        rates = (config.lr, config.actor_lr, config.critic_lr)
        norms = (config.max_grad_norm, config.behaviour_grad_norm, config.behaviour_grad_norm)
        modules = (model.world, model.actor, model.critic)
        sizes = (sum(weights.numel() for weights in module.parameters()) for module in modules)
        return [TrainedPart(*part) for part in zip(("world", "actor", "critic"), sizes, rates, norms, strict=True)]

    def compute_loss(
        self,
        states: Tensor,
        actions: Tensor,
        rewards: Tensor,
        next_states: Tensor,
        dones: Tensor,
        gamma: float | Tensor = 0.99,
    ) -> tuple[Tensor, Metrics]:
        """Of plain transitions: sequences of two, each the beginning of an episode."""
        nothing = torch.zeros_like(rewards)
        replayed = Replayed(
            torch.stack([newest(states), newest(next_states)]),
            torch.stack([torch.zeros_like(actions), actions]),
            torch.stack([nothing, rewards]),
            torch.stack([nothing == 0, nothing == 1]),
            torch.stack([nothing == 1, dones > 0.5]),
            self.model.world.dynamics.nothing(len(actions), states.device),
        )
        loss, metrics, _ = self.loss(replayed, gamma)
        return loss, metrics

    def loss(self, replayed: Replayed, gamma: float | Tensor) -> tuple[Tensor, Metrics, State]:
        """Both phases; also the states of the sequences as they are now known, [length * sequences, ...]."""
        world_loss, metrics, states = self.world_phase(replayed)
        starts = self._starts(states, replayed.terminal.flatten())
        behaviour_loss, of_behaviour = self.behaviour_phase(starts, gamma)
        loss = world_loss + behaviour_loss
        return loss, {"loss": loss.item()} | metrics | of_behaviour, states

    # --- the world ------------------------------------------------------------------------------------------------

    def world_phase(self, replayed: Replayed) -> tuple[Tensor, Metrics, State]:
        """Section "World model learning": prediction, dynamics and representation loss."""
        world = self.model.world
        seen = replayed.observations.flatten(0, 1)
        states, posterior = self.recognise(replayed)
        prior = world.dynamics.prior(states.deterministic)
        features = states.features

        decoded = world.sight.decode(features)
        of_sight = world.sight.loss(decoded, seen).mean()
        # Rewards and ends are told from what was seen, and from what was expected before it was seen: that is all that
        # there is in imagination. A model that learns the first only sees most deaths, and foresees a third of them.
        # (One step of the latent overshooting of Hafner et al. 2019, PlaNet, section 4.)
        ringing = noise(tuple(prior.shape), self.generator, prior.device)
        expected = State(states.deterministic, draw(prior.detach(), ringing)).features
        both = torch.cat([features, expected])
        rewards, terminal = replayed.rewards.flatten(), replayed.terminal.flatten()
        of_reward = self.model.two_hot.loss(world.reward(both), rewards.repeat(2)).mean()
        going_on = world.going_on(both)[:, 0]
        of_end = F.binary_cross_entropy_with_logits(going_on, (~terminal).float().repeat(2))
        # KL balancing: the prior learns to foresee the posterior, and that only a little to be foreseeable; neither is
        # pushed below the free nats.
        dynamics = divergence(posterior.detach(), prior).mean()
        representation = divergence(posterior, prior.detach()).mean()
        loss = of_sight + REWARD_WEIGHT * of_reward + GOING_ON_WEIGHT * of_end
        loss = loss + DYNAMICS_WEIGHT * dynamics.clamp(min=FREE_NATS)
        loss = loss + REPRESENTATION_WEIGHT * representation.clamp(min=FREE_NATS)

        with torch.no_grad():
            recalled, truth = world.sight.mean(decoded), world.sight.truth(seen)
            metrics = {
                "wm_loss": loss.item(),
                "recon_mse": F.mse_loss(recalled, truth).item(),
                "kl": dynamics.item(),
                "reward_loss": of_reward.item(),
                "end_loss": of_end.item(),
            }
            if terminal.any():
                seen_over, expected_over = 1 - going_on.sigmoid().reshape(2, -1)[:, terminal].mean(dim=1)
                metrics |= {"ends_seen": seen_over.item(), "ends_foreseen": expected_over.item()}
            if isinstance(world.sight, PixelSight):
                metrics["ssim"] = structural_similarity(recalled[:COMPARED], truth[:COMPARED]).item()
        return loss, metrics, states.detached()

    def recognise(self, replayed: Replayed) -> tuple[State, Tensor]:
        """States and their posteriors along the sequences, all flat: [length * sequences, ...]."""
        dynamics = self.model.world.dynamics
        length, count = replayed.actions.shape
        device = replayed.actions.device
        seen = self.model.world.sight.encode(replayed.observations.flatten(0, 1)).reshape(length, count, -1)
        ringing = noise((length, count, dynamics.variables, dynamics.classes), self.generator, device)
        kept = (~replayed.first).float()[..., None]
        actions = F.one_hot(replayed.actions, self.model.actions).float() * kept
        terminal = replayed.terminal.float()
        state = replayed.before
        states, posteriors = [], []
        for step in range(length):
            carried = dynamics.go_on(state.where(kept[step]), actions[step])
            posterior = dynamics.posterior(carried, seen[step], terminal[step])
            state = State(carried, draw(posterior, ringing[step]))
            states.append(state)
            posteriors.append(posterior)
        whole = State(*(torch.cat(parts) for parts in zip(*states, strict=True)))
        return whole, torch.cat(posteriors)

    # --- behaviour ------------------------------------------------------------------------------------------------

    def _starts(self, states: State, terminal: Tensor) -> State:
        """Where imagination begins: some of the replayed states, but none behind which nothing follows."""
        going_on = (~terminal).nonzero()[:, 0]
        order = torch.randperm(len(going_on), generator=self.generator)[: self.config.imagined]
        chosen = going_on[order.to(going_on.device)]
        return State(states.deterministic[chosen], states.stochastic[chosen])

    def behaviour_phase(self, starts: State, gamma: float | Tensor) -> tuple[Tensor, Metrics]:
        """Sections "Critic learning" and "Actor learning"."""
        model, two_hot = self.model, self.model.two_hot
        with torch.no_grad():
            features, actions = self.imagine(starts, self.config.horizon)
            rewards = two_hot.mean(model.world.reward(features[1:]))
            going_on = model.world.going_on(features[1:])[..., 0].sigmoid()
            values = two_hot.mean(model.slow_critic(features))
            returns = lambda_returns(rewards, gamma * going_on, values, self.config.return_lambda)
            # what comes after an imagined end counts as little as it is likely to come
            reached = torch.cat([torch.ones_like(going_on[:1]), going_on[:-1].cumprod(0)])
            self._note_range(returns)

        critic_logits = model.critic(features[:-1])
        critic_loss = (reached * two_hot.loss(critic_logits, returns)).mean()
        with torch.no_grad():
            advantages = (returns - two_hot.mean(critic_logits)) / max(self.return_range, 1.0)
        log_policy = model.policy(features[:-1]).log()
        entropy = -(log_policy.exp() * log_policy).sum(-1)
        log_chosen = log_policy.gather(-1, actions[..., None])[..., 0]
        actor_loss = -(reached * (advantages * log_chosen + self.entropy_weight * entropy)).mean()
        return actor_loss + critic_loss, {
            "actor_loss": actor_loss.item(),
            "critic_loss": critic_loss.item(),
            "imagined_return": returns.mean().item(),
            "imagined_reward": rewards.mean().item(),
            "value_mean": values[0].mean().item(),
            "return_range": self.return_range,
            "entropy": entropy.mean().item(),
        }

    def imagine(self, starts: State, horizon: int) -> tuple[Tensor, Tensor]:
        """Play on in the model alone: features [horizon + 1, n, ...] and the actions between them [horizon, n]."""
        model, dynamics = self.model, self.model.world.dynamics
        count, device = len(starts.deterministic), starts.deterministic.device
        ringing = noise((horizon, count, dynamics.variables, dynamics.classes), self.generator, device)
        state, features, actions = starts, [starts.features], []
        for step in range(horizon):
            action = choose(model.policy(features[-1]), self.generator)
            carried = dynamics.go_on(state, F.one_hot(action, model.actions).float())
            state = State(carried, draw(dynamics.prior(carried), ringing[step]))
            features.append(state.features)
            actions.append(action)
        return torch.stack(features), torch.stack(actions)

    def _note_range(self, returns: Tensor) -> None:
        """Section "Actor learning": the range of returns without the rarest, averaged over time."""
        low, high = torch.quantile(returns.flatten().cpu(), torch.tensor([LOW, HIGH])).tolist()
        memory = RANGE_MEMORY if self.return_range else 0.0
        self.return_range = memory * self.return_range + (1 - memory) * (high - low)

    def imitation_loss(self, states: Tensor, actions: Tensor) -> Tensor:
        """Cross-entropy at first sight. Encoder and actor learn; the memory does not take part."""
        return F.nll_loss(self.model.forward(states), actions)

    def update_targets(self, tau: float = 0.005) -> None:
        """Move the slow critic by tau towards the critic (section "Critic learning")."""
        torch._foreach_lerp_([p.data for p in self._slow], [p.data for p in self._critic], tau)


def lambda_returns(rewards: Tensor, discounts: Tensor, values: Tensor, lam: float) -> Tensor:
    """R_t = r_t + d_t ((1 - lam) v_{t+1} + lam R_{t+1}), R_H = v_H (section "Critic learning").

    `rewards` and `discounts`, [horizon, n], come with the step that leads to t + 1; `values` are [horizon + 1, n].
    """
    following = values[-1]
    returns = []
    for step in reversed(range(len(rewards))):
        following = rewards[step] + discounts[step] * ((1 - lam) * values[step + 1] + lam * following)
        returns.append(following)
    return torch.stack(returns[::-1])
