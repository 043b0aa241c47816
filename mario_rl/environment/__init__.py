"""Games as Gymnasium problems. Importing this package makes their ids known to `gymnasium.make` and `make_vec`."""

import gymnasium

SMB = "mario_rl/SuperMarioBros-v0"


def register_environments() -> None:
    """Tell Gymnasium the ids; doing so twice changes nothing."""
    if SMB not in gymnasium.registry:
        gymnasium.register(
            SMB,
            entry_point="mario_rl.environment.smb.env:SmbEnv",
            vector_entry_point="mario_rl.environment.smb.vector:SmbVectorEnv",
        )


register_environments()
