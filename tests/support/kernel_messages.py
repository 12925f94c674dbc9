"""jsii's messages, written and read in one step each: its converter copies every request twice before it is text.

The same messages as by jsii: test_the_same_file_gives_the_same_templates_byte_for_byte compares what they give.
"""

import json
from collections.abc import Callable
from typing import Any

import jsii._kernel as kernel
from jsii._kernel.providers import process
from jsii._kernel.types import (
    CreateRequest,
    CreateResponse,
    GetRequest,
    GetResponse,
    InvokeRequest,
    InvokeResponse,
    ObjRef,
    Override,
    SetRequest,
    SetResponse,
    StaticGetRequest,
    StaticInvokeRequest,
)
from jsii._stack_trace import is_enabled
from jsii.errors import ErrorType, JavaScriptError, JSIIError

_send = process._NodeProcess.send
_make_reference = kernel._make_reference_for_native
_RESPONSE: Any = process._ProcessResponse
# Nearly all messages. All others, errors and callbacks go the way of jsii.
_APIS: dict[type, tuple[str, tuple[str, ...]]] = {
    CreateRequest: ("create", ("fqn", "args", "overrides", "interfaces")),
    GetRequest: ("get", ("objref", "property")),
    SetRequest: ("set", ("objref", "property", "value")),
    InvokeRequest: ("invoke", ("objref", "method", "args")),
    StaticGetRequest: ("sget", ("fqn", "property")),
    StaticInvokeRequest: ("sinvoke", ("fqn", "method", "args")),
}
_ANSWERS: dict[type, Callable[[Any], Any]] = {
    CreateResponse: lambda ok: CreateResponse(ref=ok.ref),
    GetResponse: lambda ok: GetResponse(ok.get("value")),
    InvokeResponse: lambda ok: InvokeResponse(ok.get("result")),
    SetResponse: lambda _: SetResponse(),
}


def install() -> None:
    """Write and read the messages of this process so."""
    node: Any = process._NodeProcess
    node.send, node._next_message = send, next_message
    module: Any = kernel
    module._make_reference_for_native = make_reference


def make_reference(of: kernel.Kernel, value: Any) -> Any:
    """Return what the message has for an argument."""
    kind = type(value)
    if kind in (str, int, bool, float, type(None)):
        return value
    if kind is list:
        return [make_reference(of, item) for item in value]
    if kind is dict:
        return {"$jsii.map": {key: make_reference(of, item) for key, item in value.items()}}
    return _make_reference(of, value)


def send(node: process._NodeProcess, request: Any, response_type: Any) -> Any:
    """Send a request and return the answer."""
    api = _APIS.get(type(request))
    answer = _ANSWERS.get(response_type)
    if api is None or answer is None or is_enabled():
        return _send(node, request, response_type)
    name, fields = api
    message = {field: getattr(request, field) for field in fields}
    message["api"] = name
    stdin = node._process.stdin
    assert stdin is not None
    stdin.write(_encode(message).encode() + b"\n")
    stdin.flush()
    received = node._next_message()
    if "ok" in received:
        return answer(received["ok"])
    response: Any = node._serializer.structure(received, _RESPONSE)
    if isinstance(response, process._CallbackResponse):
        return response.callback
    kind = JSIIError if response.name == ErrorType.JSII_FAULT.value else RuntimeError
    raise kind(response.error) from JavaScriptError(response.stack)  # type: ignore[no-untyped-call]


def next_message(node: process._NodeProcess) -> Any:
    """Read a message."""
    stdout = node._process.stdout
    assert stdout is not None
    return _decode(stdout.readline().decode())


def _default(value: Any) -> Any:
    if isinstance(value, ObjRef):
        return process._unstructure_ref(value)  # type: ignore[no-untyped-call]
    if isinstance(value, Override):
        return {"method": value.method, "property": value.property, "cookie": value.cookie}
    return process.jdefault(value)  # type: ignore[no-untyped-call]


def _hook(value: dict[str, Any]) -> Any:
    return process.ohook(value) if next(iter(value), "").startswith("$jsii.") else value  # type: ignore[no-untyped-call]


_encode = json.JSONEncoder(default=_default).encode
_decode = json.JSONDecoder(object_hook=_hook).decode
