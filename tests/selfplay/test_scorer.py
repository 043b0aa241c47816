"""The policy that scores placements: the same for any order of them, blind for empty slots, and what PPO asks for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mario_rl.environment.drmario.prospects import PROSPECT_FEATURES, SITUATION_FEATURES, SLOTS, Prospects
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.learner import make_ppo
from mario_rl.selfplay.scorer import PlacementScorer, ScorerPolicy, seen_bytes, slot_masks

N = 12


@pytest.fixture
def prospects() -> Prospects:
    random = np.random.default_rng(0)
    counts = random.integers(1, SLOTS + 1, N).astype(np.int32)
    features = random.integers(0, 20, (N, SLOTS, len(PROSPECT_FEATURES))).astype(np.uint8)
    features[:, :, 0] |= 1  # never all 0
    features *= (np.arange(SLOTS) < counts[:, None])[:, :, None].astype(np.uint8)
    situations = random.integers(0, 20, (N, len(SITUATION_FEATURES))).astype(np.uint8)
    return Prospects(counts, np.zeros((N, SLOTS), np.int16), features, situations)


@pytest.fixture
def policy() -> ScorerPolicy:
    policy = make_ppo(SelfPlayConfig(hidden=16, value_hidden=8, seed=3)).policy
    assert isinstance(policy, ScorerPolicy)
    return policy


def logits_of(scorer: PlacementScorer, prospects: Prospects) -> torch.Tensor:
    situations = torch.from_numpy(prospects.situations).float() * scorer.situation_scale
    return scorer.logits(torch.from_numpy(prospects.features), situations, torch.from_numpy(slot_masks(prospects)))


def test_scores_follow_the_placements_wherever_they_stand(policy: ScorerPolicy, prospects: Prospects) -> None:
    order = np.random.default_rng(1).permutation(SLOTS)
    full = prospects._replace(counts=np.full(N, SLOTS, np.int32))
    shuffled = full._replace(features=full.features[:, order])
    torch.testing.assert_close(logits_of(policy.scorer, shuffled), logits_of(policy.scorer, full)[:, order])


def test_a_score_is_the_plain_network_of_its_row_and_situation(policy: ScorerPolicy, prospects: Prospects) -> None:
    scorer = policy.scorer
    logits = logits_of(scorer, prospects)
    for game in range(N):
        situation = torch.from_numpy(prospects.situations[game]).float() * scorer.situation_scale
        for slot in range(prospects.counts[game]):
            row = torch.from_numpy(prospects.features[game, slot]).float() * scorer.row_scale
            first = torch.relu(scorer.from_row.weight @ row + scorer.from_row.bias + scorer.from_situation(situation))
            score = scorer.score(torch.relu(scorer.middle(first)))[0]
            assert abs((score - logits[game, slot]).item()) < 1e-4
        assert (logits[game, prospects.counts[game] :] == -1e8).all()


def test_what_ppo_asks_for_fits_together(policy: ScorerPolicy, prospects: Prospects) -> None:
    seen, masks = torch.from_numpy(seen_bytes(prospects)), torch.from_numpy(slot_masks(prospects))
    actions, values, log_probabilities = policy(seen, action_masks=masks)
    assert (actions.numpy() < prospects.counts).all()
    again, evaluated, entropy = policy.evaluate_actions(seen, actions, action_masks=masks.float())
    torch.testing.assert_close(values, again)
    torch.testing.assert_close(values, policy.predict_values(seen))
    torch.testing.assert_close(log_probabilities, evaluated)
    # sb3-contrib's own distribution, which does its own masking, is the oracle
    distribution = policy.get_distribution(seen)
    distribution.apply_masking(masks.numpy())
    torch.testing.assert_close(distribution.log_prob(actions), evaluated)
    torch.testing.assert_close(distribution.entropy(), entropy, atol=1e-5, rtol=1e-4)
    best, _ = policy.predict(seen.numpy(), deterministic=True)
    assert best.tolist() == logits_of(policy.scorer, prospects).argmax(dim=1).tolist()


def test_gradients_reach_every_weight(policy: ScorerPolicy, prospects: Prospects) -> None:
    seen, masks = torch.from_numpy(seen_bytes(prospects)), torch.from_numpy(slot_masks(prospects))
    values, log_probabilities, entropy = policy.evaluate_actions(seen, torch.zeros(N, dtype=torch.long), masks)
    (values.sum() + log_probabilities.sum() + entropy.sum()).backward()
    for name, weight in policy.named_parameters():
        assert weight.grad is not None, name
        assert float(weight.grad.abs().sum()) > 0, name
