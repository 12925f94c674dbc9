"""Types of deployment and of storage of a file system."""

from typing import Literal, get_args

DeploymentType = Literal["PERSISTENT_2", "SCRATCH_2"]
DEPLOYMENT_TYPES: tuple[DeploymentType, ...] = get_args(DeploymentType)
StorageType = Literal["SSD", "INTELLIGENT_TIERING"]
STORAGE_TYPES: tuple[StorageType, ...] = get_args(StorageType)
