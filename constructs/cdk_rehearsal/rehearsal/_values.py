"""Plausible values for what AWS would have made up: physical ids, ARNs, host names and other read-only properties.

The same stack, logical id and generation always give the same values. A stack that is created again gives others, so
that a retained resource without a name of its own does not block the next one.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cdk_rehearsal.rehearsal import _patterns as patterns
from cdk_rehearsal.rehearsal._blueprint import Blueprint

HEX = "0123456789abcdef"
LOWER = "abcdefghijklmnopqrstuvwxyz0123456789"

# Beginnings of ids, by the last word of a type or property. From the examples in the CloudFormation resource
# reference, read 2026-11-21. Ids of EC2 and FSx end in 17 hexadecimal digits.
_PREFIXES = {
    "vpc": "vpc-",
    "subnet": "subnet-",
    "securitygroup": "sg-",
    "networkinterface": "eni-",
    "instance": "i-",
    "image": "ami-",
    "volume": "vol-",
    "snapshot": "snap-",
    "routetable": "rtb-",
    "subnetroutetableassociation": "rtbassoc-",
    "internetgateway": "igw-",
    "natgateway": "nat-",
    "vpcendpoint": "vpce-",
    "flowlog": "fl-",
    "launchtemplate": "lt-",
    "placementgroup": "pg-",
    "capacityreservation": "cr-",
    "filesystem": "fs-",
    "datarepositoryassociation": "dra-",
    "accesspoint": "fsap-",
    "mounttarget": "fsmt-",
    "rootvolume": "fsvol-",
    "networkacl": "acl-",
    "dhcpoptions": "dopt-",
    "transitgateway": "tgw-",
    "securitygrouprule": "sgr-",
    "prefixlist": "pl-",
}
_SERVICES = {
    "CertificateManager": "acm",
    "Cognito": "cognito-idp",
    "ElasticLoadBalancingV2": "elasticloadbalancing",
    "KinesisFirehose": "firehose",
    "OpenSearchService": "es",
    "StepFunctions": "states",
}
# What stands before the name in an ARN, where it is not "kind/":
# https://docs.aws.amazon.com/service-authorization/latest/reference/, the pages of each service, read 2026-11-21.
_ARN_NOUNS = {
    "AWS::Events::Rule": "rule/",
    "AWS::Lambda::Function": "function:",
    "AWS::Lambda::LayerVersion": "layer:",
    "AWS::Logs::LogGroup": "log-group:",
    "AWS::S3::Bucket": "",
    "AWS::SNS::Topic": "",
    "AWS::SQS::Queue": "",
    "AWS::SecretsManager::Secret": "secret:",
    "AWS::StepFunctions::StateMachine": "stateMachine:",
}
_GLOBAL = {"iam", "s3", "route53", "cloudfront", "organizations"}
_GOOD_STATES = (
    "ACTIVE",
    "AVAILABLE",
    "CREATED",
    "ENABLED",
    "READY",
    "COMPLETED",
    "SUCCEEDED",
    "Active",
    "Available",
)
# Mount names of PERSISTENT file systems are eight characters:
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html, read 2026-11-21.
_LENGTHS = {"LustreMountName": 8}
_TIME = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Values:
    """The made-up values of one resource. A model of moto, or a handler, may have given its id already."""

    blueprint: Blueprint
    generation: int
    known_id: str = ""

    def token(self, length: int, alphabet: str = HEX, label: str = "") -> str:
        """Return `length` characters that belong to this resource and `label` alone."""
        seed = f"{self.blueprint.stack_id}/{self.blueprint.logical_id}/{self.generation}/{label}"
        number = int.from_bytes(hashlib.shake_256(seed.encode()).digest(length * 2), "big")
        characters = []
        for _ in range(length):
            number, index = divmod(number, len(alphabet))
            characters.append(alphabet[index])
        return "".join(characters)

    @cached_property
    def physical_id(self) -> str:
        """Value of `Ref`: the primary identifier's parts, joined with "|"."""
        if self.known_id:
            return self.known_id
        return "|".join(str(self.at(path)) for path in self.blueprint.type.identifiers)

    def at(self, path: list[str]) -> Any:
        """Return the property at `path`: the template's own where it sets one, a made-up one otherwise."""
        node: Any = self.blueprint.properties
        for part in path:
            node = node.get(part) if isinstance(node, dict) else None
        if node is None and self.known_id and [path] == self.blueprint.type.identifiers:
            return self.known_id
        return node if node is not None else self.make(path, self.blueprint.type.subschema(path) or {"type": "string"})

    def make(self, path: list[str], schema: dict[str, Any], depth: int = 0) -> Any:
        """Make up a value that fits `schema`."""
        schema = self.blueprint.type.follow(schema)
        for choice in ("oneOf", "anyOf"):
            if choice in schema and "type" not in schema:
                return self.make(path, schema[choice][0], depth)
        kind = schema.get("type", "object" if "properties" in schema else "string")
        kinds = kind if isinstance(kind, list) else [kind]
        if "string" in kinds:
            return self._string(path, schema)
        if schema.get("default") is not None:
            return schema["default"]
        match kinds[0]:
            case "integer" | "number":
                return schema["enum"][0] if "enum" in schema else max(schema.get("minimum", 1), 1)
            case "boolean":
                return False
            case "array":
                count = max(schema.get("minItems", 1), 1)
                items = schema.get("items", {"type": "string"})
                return [self.make([*path, str(index)], items, depth + 1) for index in range(count)] if depth < 4 else []
        members = self.blueprint.type.follow(schema).get("properties", {})
        expected = members if depth < 3 else schema.get("required", [])
        return {name: self.make([*path, name], members[name], depth + 1) for name in expected if name in members}

    @cached_property
    def own_id(self) -> str:
        """The id that AWS would give this resource, in its usual form."""
        service, kind = self._words
        if self.known_id:
            return re.split("[/:|]", self.known_id)[-1]
        if service == "PCS":
            return f"pcs_{self.token(10, LOWER)}"
        if service in ("EC2", "EFS", "FSx") and (prefix := _PREFIXES.get(kind.lower())):
            return prefix + self.token(17)
        if self.blueprint.type_name == "AWS::APS::Workspace":
            return f"ws-{self._uuid('')}"
        if service == "EC2":
            return f"{''.join(re.findall('[A-Z]', kind)).lower()}-{self.token(17)}"
        return self.token(16, LOWER)

    @cached_property
    def name(self) -> str:
        """The name that CloudFormation would generate: stack, logical id, random characters."""
        return self.name_of(255)

    def name_of(self, limit: int) -> str:
        """Return the generated name with at most `limit` characters."""
        head = f"{self.blueprint.stack_name}-{self.blueprint.logical_id}"[: limit - 13].rstrip("-")
        return f"{head}-{self.token(12, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')}"

    def arn(self) -> str:
        """Return the resource's ARN in the commonest form: its name or id after what kind it is."""
        service, kind = self._words
        noun = _ARN_NOUNS.get(self.blueprint.type_name, f"{re.sub(r'(?<=[a-z])(?=[A-Z])', '-', kind).lower()}/")
        service = _SERVICES.get(service, service.lower())
        region = "" if service in _GLOBAL else self.blueprint.environment.region
        account = "" if service == "s3" else self.blueprint.environment.account
        partition = self.blueprint.environment.partition
        return f"arn:{partition}:{service}:{region}:{account}:{noun}{self._arn_name or self.own_id}"

    @property
    def _arn_name(self) -> str | None:
        """Name in the ARN, for types with a name; the ARN of others ends with their id."""
        identifiers = self.blueprint.type.identifiers
        path = identifiers[0] if len(identifiers) == 1 else [""]
        if path[-1].lower().endswith("name"):
            return self.physical_id
        key = next(
            (key for key in (f"{self._words[1]}Name", "Name") if key in self.blueprint.type.property_names), None
        )
        return (
            str(self.blueprint.properties.get(key, self.name_of(64)))
            if self.blueprint.type_name in _ARN_NOUNS and key
            else None
        )

    @property
    def _words(self) -> tuple[str, str]:
        parts = self.blueprint.type_name.split("::")
        return parts[1], parts[-1]

    def _string(self, path: list[str], schema: dict[str, Any]) -> str:
        if "const" in schema:
            return str(schema["const"])
        if enum := [str(value) for value in schema.get("enum", [])]:
            return next((state for state in _GOOD_STATES if state in enum), enum[0])
        for candidate in self._candidates(path, schema):
            if patterns.fits(candidate, schema):
                return candidate
        for attempt in range(3 if "pattern" in schema else 0):
            generated = patterns.generate(schema["pattern"], self._picker(f"{'/'.join(path)}/{attempt}"))
            if generated is not None and patterns.fits(generated, schema):
                return generated
        short = self.token(max(schema.get("minLength", 1), min(16, schema.get("maxLength", 16))), LOWER, "/".join(path))
        return short if patterns.fits(short, schema) else self._candidates(path, schema)[0]

    def _picker(self, label: str) -> Any:
        state = iter(range(1_000_000))
        return lambda allowed: self.token(1, allowed, f"{label}/{next(state)}")

    def _candidates(self, path: list[str], schema: dict[str, Any]) -> list[str]:
        last = next((part for part in reversed(path) if not part.isdigit() and part != "*"), "")
        word = last.lower()
        expected = str(schema.get("format", ""))
        service = _SERVICES.get(self._words[0], self._words[0].lower())
        host = f"{self.own_id}.{service}.{self.blueprint.environment.region}.amazonaws.com".replace("_", "-")
        is_identifier = path in self.blueprint.type.identifiers or word in ("id", "arn")
        if expected in ("date-time", "timestamp") or word.endswith(("time", "date", "at")) or "timestamp" in word:
            return [_TIME, "2026-01-01", self.name]
        if last in _LENGTHS:
            return [self.token(_LENGTHS[last], LOWER, last)]
        if word.endswith("arn") or expected.endswith(".Arn"):
            arn = self.arn()
            shorter = [arn.replace(self.own_id, self.token(length, LOWER)) for length in (12, 10)]
            return [arn if is_identifier else f"{arn}/{word.removesuffix('arn')}".rstrip("/"), arn, *shorter, self.name]
        if word.endswith(("url", "uri")):
            return [f"https://{host}/", f"https://{host}", host]
        if last == "PrometheusEndpoint":
            # https://docs.aws.amazon.com/general/latest/gr/prometheus-service.html, read 2026-11-24.
            region = self.blueprint.environment.region
            return [f"https://aps-workspaces.{region}.amazonaws.com/workspaces/{self.own_id}/"]
        if word.endswith(("endpoint", "dnsname", "domainname", "hostname", "address")):
            return [*(["10.0.0.10"] if "ip" in word else []), host, f"https://{host}", "10.0.0.10"]
        if word.endswith(("ids", "id")) or expected.endswith((".Id", ".Ids")):
            return self._ids(word, expected, is_identifier)
        if word in ("region", "awsregion"):
            return [self.blueprint.environment.region]
        if word in ("availabilityzone", "zone"):
            return [f"{self.blueprint.environment.region}a"]
        if "cidr" in word:
            return ["10.0.0.0/16"]
        if "version" in word or "port" in word:
            return ["1", "1.0.0", "1.0"]
        names = [
            self.name,
            self.name.lower(),
            self.name_of(64),
            self.name_of(32),
            self.name_of(32).lower(),
            self.own_id,
        ]
        # The ARN holds the name, so it is no candidate for a name that is still to be found.
        return names if word.endswith("name") else [*names, self.arn()]

    def _ids(self, word: str, expected: str, is_identifier: bool) -> list[str]:
        noun = word.removesuffix("s").removesuffix("id") or self._words[1].lower()
        if expected.count("::") == 2:
            noun = expected.split("::")[2].split(".")[0].lower()
        if noun in ("account", "awsaccount", "owner"):
            return [self.blueprint.environment.account]
        prefix = _PREFIXES.get(noun)
        ids = [self.own_id] if is_identifier else []
        ids += [prefix + self.token(17, label=word)] if prefix else []
        ids += [self.own_id] if noun == self._words[1].lower() else []
        return [*ids, self.token(16, LOWER, word), self._uuid(word), self.name, self.token(10, LOWER, word).upper()]

    def _uuid(self, label: str) -> str:
        digits = self.token(32, label=label)
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
