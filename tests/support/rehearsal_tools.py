"""Stacks on a local cloud, through boto3: what the tests of the rehearsal share."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ClientError
from werkzeug.test import create_environ, run_wsgi_app

from cdk_rehearsal.rehearsal import Entry, LocalCloud
from ultracluster.testing import TEMPLATE_RULES, UPDATE_RULES

REGION = "us-east-2"
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html (read 2026-11-22)
LONGEST_BODY = 51_200
Template = dict[str, Any]
_numbers = count(1)


class Stacks:
    """Deploys templates with the API that the CDK CLI uses."""

    def __init__(self, cloud: LocalCloud) -> None:
        self.cloud = cloud
        self._clients: dict[str, Any] = {}
        self._bucket = False
        self.cloudformation = self.client("cloudformation")

    def client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self.cloud.client(service, REGION)
            # A request in this process needs no connection, a third of its time; test_http.py and the CDK CLI have one.
            self._clients[service].meta.events.register("before-send", self._send)
        return self._clients[service]

    def _send(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
        body = request.body.encode() if isinstance(request.body, str) else request.body or b""
        if not isinstance(body, bytes | bytearray):
            return None
        headers = {name: _text(value) for name, value in request.headers.items()}
        url = urlsplit(_text(request.url))
        environ = {
            **create_environ(url.path, f"http://{url.netloc}", method=request.method, headers=headers),
            **{"QUERY_STRING": url.query, "CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body)},
            **{"RAW_URI": f"{url.path}?{url.query}", "REQUEST_URI": f"{url.path}?{url.query}"},
        }
        content, status, answered = run_wsgi_app(self.cloud._server.result().app, environ, buffered=True)
        return AWSResponse(request.url, int(status.partition(" ")[0]), dict(answered), _Raw(b"".join(content)))

    def name(self) -> str:
        return f"stack{next(_numbers)}"

    def create(self, resources: Template, name: str | None = None, **sections: Any) -> str:
        """Create a stack and return its name; `status` has the result."""
        name = name or self.name()
        self.cloudformation.create_stack(StackName=name, **self._template(body(resources, **sections)))
        return name

    def update(self, name: str, resources: Template, **sections: Any) -> None:
        self.cloudformation.update_stack(StackName=name, **self._template(body(resources, **sections)))

    def _template(self, text: str) -> dict[str, str]:
        """Return the template of a request: a longer text than CloudFormation takes is uploaded."""
        if len(text.encode()) <= LONGEST_BODY:
            return {"TemplateBody": text}
        s3 = self.client("s3")
        if not self._bucket:
            s3.create_bucket(Bucket="templates", CreateBucketConfiguration={"LocationConstraint": REGION})
            self._bucket = True
        s3.put_object(Bucket="templates", Key="long.json", Body=text.encode())
        return {"TemplateURL": f"https://templates.s3.{REGION}.amazonaws.com/long.json"}

    def delete(self, name: str) -> str:
        stack = self.describe(name)
        self.cloudformation.delete_stack(StackName=name)
        return str(self.describe(stack["StackId"])["StackStatus"])

    def describe(self, name: str) -> dict[str, Any]:
        return dict(self.cloudformation.describe_stacks(StackName=name)["Stacks"][0])

    def template(self, name: str) -> Template | None:
        """Return the template of a stack, or None if there is no stack."""
        try:
            return dict(self.cloudformation.get_template(StackName=name)["TemplateBody"])
        except ClientError:
            return None

    def status(self, name: str) -> str:
        return str(self.describe(name)["StackStatus"])

    def reasons(self, name: str) -> str:
        """Return the reasons of every failed resource, as the CDK CLI shows them."""
        events = self.cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        failed = [event for event in events if event["ResourceStatus"].endswith("_FAILED")]
        return "\n".join(event["ResourceStatusReason"] for event in failed)

    def outputs(self, name: str) -> dict[str, str]:
        return {item["OutputKey"]: item["OutputValue"] for item in self.describe(name).get("Outputs", [])}

    def ids(self, name: str) -> dict[str, str]:
        result = self.cloudformation.describe_stack_resources(StackName=name)["StackResources"]
        return {item["LogicalResourceId"]: item["PhysicalResourceId"] for item in result}

    def entries(self, name: str) -> list[Entry]:
        return [entry for entry in self.cloud.journal if entry.stack == name]

    def happened(self, name: str) -> list[tuple[str, str]]:
        return [(entry.action.value, entry.logical_id) for entry in self.entries(name)]

    def refusal(self, resources: Template, **sections: Any) -> str:
        """Return the message with which a template is rejected before anything is created."""
        try:
            self.create(resources, **sections)
        except ClientError as error:
            return str(error)
        raise AssertionError("the template was not refused")


class _Raw(BytesIO):
    """Content of a response, as botocore reads it."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.read()


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


@contextmanager
def local_stacks() -> Iterator[Stacks]:
    with LocalCloud(update_rules=UPDATE_RULES, template_rules=TEMPLATE_RULES) as cloud:
        yield Stacks(cloud)


def body(resources: Template, **sections: Any) -> str:
    return json.dumps({"Resources": resources, **sections})


def parameter(value: Any, **more: Any) -> Template:
    """Return the smallest resource that shows what a value resolves to."""
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}, **more}


def file_system(**properties: Any) -> Template:
    given: Template = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-0123456789abcdef0"], "StorageCapacity": 1200}
    given["LustreConfiguration"] = {"DeploymentType": "SCRATCH_2"}
    return {"Type": "AWS::FSx::FileSystem", "Properties": given | properties}
