"""Repositories of Amazon ECR."""

from typing import Any

from ultracluster.cli._aws import client


def has_image(target: str) -> bool:
    """Return True if a registry in Amazon ECR, or on this machine, has an image with this tag; False for others.

    Raises:
        CopyError: If Amazon ECR does not answer.
        OSError: If the registry on this machine does not answer.
    """
    from ultracluster import platform
    from ultracluster.catalogue.schedulers import registries
    from ultracluster.cli._copies import CopyError

    host, _, path = target.partition("/")
    region = registries.ecr_region(host)
    if region is None:
        return platform.is_local(host) and platform.has(target, None)
    from botocore.exceptions import BotoCoreError, ClientError

    ecr: Any = client("ecr", region)
    name, _, tag = path.partition(":")
    account = host.partition(".")[0]
    try:
        ecr.describe_images(registryId=account, repositoryName=name, imageIds=[{"imageTag": tag}])
    except (ecr.exceptions.RepositoryNotFoundException, ecr.exceptions.ImageNotFoundException):
        return False
    except (BotoCoreError, ClientError) as error:
        raise CopyError(f"the repository {name} cannot be read: {error}") from error
    return True


def create_repository(target: str) -> None:
    """Create the repository of an image in Amazon ECR, which a push does not.

    Raises:
        CopyError: If it cannot be created.
    """
    from ultracluster.catalogue.schedulers import registries
    from ultracluster.cli._copies import CopyError

    host, _, path = target.partition("/")
    region = registries.ecr_region(host)
    if region is None:
        return
    from botocore.exceptions import BotoCoreError, ClientError

    ecr: Any = client("ecr", region)
    name = path.partition("@")[0].partition(":")[0]
    try:
        ecr.create_repository(
            registryId=host.partition(".")[0],
            repositoryName=name,
            imageTagMutability="IMMUTABLE",
            imageScanningConfiguration={"scanOnPush": True},
        )
    except ecr.exceptions.RepositoryAlreadyExistsException:
        return
    except (BotoCoreError, ClientError) as error:
        raise CopyError(f"the repository {name} is not created: {error}") from error
