#!/usr/bin/env python3
"""A stand-in for the AWS CLI: Parameter Store, TerminateInstances and Publish, which refuse what AWS refuses.

Its state is in the folder of the node's stand-in, or in STAND_IN_AWS for several nodes: `parameters.json`, `instances`
(ids that run), `own` (the instance that calls), `denied` (actions without permission) and `log`.
"""

import fcntl
import json
import os
import sys
from pathlib import Path

HERE = Path(os.environ.get("STAND_IN_AWS") or os.environ["STAND_IN_STATE"])
OPTIONS = {
    "ssm get-parameter": {"name", "region", "query", "output"},
    "ssm get-parameters-by-path": {"path", "region", "query", "output"},
    "ssm put-parameter": {"name", "type", "value", "region", "overwrite"},
    "sns publish": {"topic-arn", "subject", "message", "region"},
    "ec2 terminate-instances": {"instance-ids", "region"},
}


def refuse(code: str, operation: str) -> None:
    print(f"An error occurred ({code}) when calling the {operation} operation", file=sys.stderr)
    sys.exit(254)


def parsed(words: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    while words:
        name = words.pop(0).removeprefix("--")
        options[name] = "" if name == "overwrite" else words.pop(0)
    return options


def main() -> None:
    command, options = " ".join(sys.argv[1:3]), parsed(sys.argv[3:])
    if command not in OPTIONS or not options.keys() <= OPTIONS[command] or "region" not in options:
        print(f"the stand-in does not know: {sys.argv[1:]}", file=sys.stderr)
        sys.exit(64)
    if options.get("name", "").endswith("/health-mode") and os.environ.get("AWS_RETRY_MODE") != "adaptive":
        # Nodes that fail together read it together: all of an account share 40 requests a second.
        print("the stand-in needs adaptive retries", file=sys.stderr)
        sys.exit(64)
    denied = HERE / "denied"
    if denied.exists() and command in denied.read_text().splitlines():
        refuse("AccessDenied", command)
    store = HERE / "parameters.json"
    parameters: dict[str, str] = json.loads(store.read_text()) if store.exists() else {}
    name = options.get("name", "")
    match command:
        case "ssm get-parameter":
            if name not in parameters:
                refuse("ParameterNotFound", "GetParameter")
            print(parameters[name])
        case "ssm get-parameters-by-path":
            for key in sorted(parameters):
                if key.rpartition("/")[0] == options["path"]:
                    print(f"{key}\t{parameters[key]}")
        case "ssm put-parameter":
            if name in parameters and "overwrite" not in options:
                refuse("ParameterAlreadyExists", "PutParameter")
            store.write_text(json.dumps(parameters | {name: options["value"]}))
        case "sns publish":
            if not options["topic-arn"].startswith("arn:") or len(options["subject"]) > 100:
                refuse("InvalidParameter", "Publish")
        case "ec2 terminate-instances":
            running, instance = (HERE / "instances").read_text().split(), options["instance-ids"]
            if instance not in running:
                refuse("InvalidInstanceID.NotFound", "TerminateInstances")
            # The role of a node terminates no other one.
            caller = os.environ.get("STAND_IN_INSTANCE", instance)
            if instance != caller:
                refuse("UnauthorizedOperation", "TerminateInstances")
            (HERE / "instances").write_text("\n".join(item for item in running if item != instance))
    with (HERE / "log").open("a") as log:
        print(command, *(value for key, value in options.items() if key != "region"), file=log)


with (HERE / "aws.lock").open("w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    main()
