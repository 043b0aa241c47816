"""Games as Gymnasium problems. Importing this package makes their ids known to `gymnasium.make` and `make_vec`."""

import gymnasium

__all__ = ["DRMARIO", "DRMARIO_PLACEMENT", "SMB", "register_environments"]

SMB = "mario_rl/SuperMarioBros-v0"
DRMARIO = "mario_rl/DrMario-v0"
DRMARIO_PLACEMENT = "mario_rl/DrMarioPlacement-v0"

_ENTRY_POINTS = {
    SMB: ("smb.env:SmbEnv", "smb.vector:SmbVectorEnv"),
    DRMARIO: ("drmario.env:DrMarioEnv", "drmario.vector:DrMarioVectorEnv"),
    DRMARIO_PLACEMENT: ("drmario.placement:DrMarioPlacementEnv", "drmario.vector:DrMarioPlacementVectorEnv"),
}


def register_environments() -> None:
    """Tell Gymnasium the ids; doing so twice changes nothing."""
    for name, (single, vector) in _ENTRY_POINTS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point=f"mario_rl.environment.{single}",
                vector_entry_point=f"mario_rl.environment.{vector}",
            )


register_environments()
