"""Who is told of what: topics, addresses, warnings that are known."""

import re

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.readers.basic import did_you_mean, matching, text

#: Ids of all warnings of a cluster file; they never change.
WARNINGS = tuple(
    f"ultracluster:{id}"
    for id in (
        "alert-manager",
        "alerts-unheard",
        "association-both-ways",
        "association-exports-deletions",
        "association-foreign-bucket",
        "association-foreign-file-system",
        "association-foreign-key",
        "association-moves-nothing",
        "association-unversioned",
        "block-end",
        "controller-full",
        "declared-type",
        "docker-range",
        "existing-bucket",
        "existing-lustre",
        "grafana-private",
        "grafana-region",
        "imex-prolog",
        "instances-in-capacity-blocks",
        "interface-quota",
        "kubernetes-add-on",
        "kubernetes-no-admins",
        "kubernetes-open",
        "kubernetes-version",
        "lustre-checkpoint",
        "lustre-efa-client",
        "lustre-efa-connections",
        "lustre-efa-unused",
        "lustre-other-zone",
        "lustre-quota",
        "metrics-programs",
        "node-group-quota",
        "not-offered",
        "reservation-size",
        "reservation-unused",
        "spot-role",
        "subnet-size",
        "unknown-region",
        "unknown-setting",
        "unpinned-image",
        "users-without-home",
        "vcpu-quota",
    )
)
TOPIC_ARN = re.compile(r"arn:aws[a-z-]*:sns:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):[A-Za-z0-9_-]{1,256}", re.ASCII)
# As people have them: of what RFC 5322 allows beyond, quotes and comments, a mail server may make anything.
_DOMAIN = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
EMAIL = re.compile(rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~.-]{{1,64}}@({_DOMAIN}\.)+{_DOMAIN}", re.ASCII)


def acknowledged(value: object) -> dict[str, str]:
    """Ids of warnings, each with the reason why it is no concern."""
    if not isinstance(value, dict):
        raise ValueError(
            "must be a mapping of ids to reasons, as in {ultracluster:interface-quota: raised to 20000}, got "
            f"{shown(value)}"
        )
    wrong = []
    for key, reason in value.items():
        if key not in WARNINGS:
            hint = did_you_mean(key, WARNINGS)
            message = f"is the id of no warning; {hint or 'docs/cluster-file.md lists them'}".rstrip()
            wrong.append(Problem(path=(key,), at_key=True, message=message))
        elif not isinstance(reason, str) or not reason.strip():
            message = f"needs the reason why the warning is no concern, got {shown(reason)}"
            wrong.append(Problem(path=(key,), message=message))
    if wrong:
        raise FieldProblems(wrong)
    return dict(value)


def topic_arn(value: object) -> str:
    """The ARN of a topic of SNS."""
    return matching(value, TOPIC_ARN, "the ARN of an SNS topic, arn:aws:sns:REGION:ACCOUNT:NAME")


def email(value: object) -> str:
    """A mail address."""
    what = "a mail address, as in oncall@example.com"
    found = text(value, what)
    if EMAIL.fullmatch(found) and len(found) < 255:
        return found
    raise ValueError(f"must be {what}, got {shown(found)}")
