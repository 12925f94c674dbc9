"""Pull-through cache rules of Amazon ECR, by which ECR itself copies images from public registries.

The first pull of an image must not come from a VPC with interface endpoints of ECR and no NAT gateway; later pulls may:
https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html (read 2026-11-25). So `mirror` pulls each.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ultracluster.cli._aws import client
from ultracluster.cli._output import fail

if TYPE_CHECKING:
    from ultracluster.workloads import Artifact

# Those that need no credentials: https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html
# (read 2026-11-25)
_UPSTREAMS = ("public.ecr.aws", "quay.io", "registry.k8s.io")
# https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreatePullThroughCacheRule.html (read 2026-11-25)
_LONGEST_PREFIX = 30


def upstream(row: "Artifact") -> str | None:
    """Return the registry from which a rule copies an image, or None if there is no such rule."""
    host = row.source.partition("/")[0]
    return host if row.kind == "image" and host in _UPSTREAMS else None


def create_rules(rows: Iterable["Artifact"], registry: str) -> list[str]:
    """Create the rules of images, unless they exist, and return their prefixes; or end the command."""
    from ultracluster.catalogue.schedulers import registries

    host, _, prefix = registry.partition("/")
    region = registries.ecr_region(host)
    if region is None:
        fail(f"--pull-through creates rules in Amazon ECR, and the registry is {registry}; leave it out")
    ecr: Any = client("ecr", region)
    names = sorted({name for row in rows if (name := upstream(row))})
    rules = {f"{prefix}/{name}".lstrip("/"): name for name in names}
    for rule, name in rules.items():
        if len(rule) > _LONGEST_PREFIX:
            fail(f"the rule {rule} would have {len(rule)} characters; ECR accepts {_LONGEST_PREFIX}; use a registry "
                 "with a shorter name behind its host")  # fmt: skip
        account = host.partition(".")[0]
        try:
            ecr.create_pull_through_cache_rule(registryId=account, ecrRepositoryPrefix=rule, upstreamRegistryUrl=name)
        except ecr.exceptions.PullThroughCacheRuleAlreadyExistsException:
            answer = ecr.describe_pull_through_cache_rules(registryId=account, ecrRepositoryPrefixes=[rule])
            (existing,) = answer["pullThroughCacheRules"]
            if existing["upstreamRegistryUrl"] != name:
                fail(f"the rule {rule} of the account copies from {existing['upstreamRegistryUrl']} instead of {name}; "
                     "delete it, or use another registry")  # fmt: skip
    return list(rules)
