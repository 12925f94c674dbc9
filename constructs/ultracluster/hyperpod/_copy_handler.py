"""Function that copies lifecycle scripts: its text is the code of a Lambda function, whose runtime has boto3."""

import json
import urllib.request
from typing import Any


def handle(event: dict[str, Any], context: object) -> None:
    """Copy each object under its new key, and answer CloudFormation; a deletion keeps them for nodes that name them."""
    status, reason = "SUCCESS", ""
    try:
        if event["RequestType"] != "Delete":
            copy(event["ResourceProperties"])
    except Exception as error:
        status, reason = "FAILED", f"{type(error).__name__}: {error}"
    answer = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    answer |= {"Status": status, "Reason": reason, "PhysicalResourceId": event.get("PhysicalResourceId", "scripts")}
    body = json.dumps(answer).encode()
    request = urllib.request.Request(event["ResponseURL"], data=body, method="PUT", headers={"Content-Type": ""})
    urllib.request.urlopen(request, timeout=30).close()


def copy(properties: dict[str, Any]) -> None:
    """Copy objects, which are locations by key, and write texts, which have values of the deployment."""
    import boto3

    s3 = boto3.client("s3")
    for key, location in properties["Objects"].items():
        bucket, _, source = location.removeprefix("s3://").partition("/")
        content = s3.get_object(Bucket=bucket, Key=source)["Body"].read()
        s3.put_object(Bucket=properties["Bucket"], Key=key, Body=content)
    for key, text in properties.get("Texts", {}).items():
        s3.put_object(Bucket=properties["Bucket"], Key=key, Body=text.encode())
