"""Schema of cloud-init, reduced to what the boot uses.

From schema-cloud-config-v1.json of cloud-init 22.4.2 (GPL-3 or Apache-2.0,
https://github.com/canonical/cloud-init/tree/22.4.2/cloudinit/config/schemas, read 2026-11-21): cc_write_files,
cc_bootcmd, cc_mounts, cc_runcmd, without descriptions, and nothing beside them.
"""

from typing import Any

_TEXT = {"type": "string"}
_COMMAND = [{"type": "array", "items": _TEXT}, _TEXT]
_ENCODINGS = ["gz", "gzip", "gz+base64", "gzip+base64", "gz+b64", "gzip+b64", "b64", "base64", "text/plain"]

SCHEMA: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "write_files": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["path"],
                "additionalProperties": False,
                "properties": {
                    "path": _TEXT,
                    "content": _TEXT,
                    "owner": _TEXT,
                    "permissions": _TEXT,
                    "encoding": {"type": "string", "enum": _ENCODINGS},
                    "append": {"type": "boolean"},
                    "defer": {"type": "boolean"},
                },
            },
        },
        "bootcmd": {"type": "array", "minItems": 1, "items": {"oneOf": _COMMAND}},
        "mounts": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": 6},
        },
        "runcmd": {"type": "array", "minItems": 1, "items": {"oneOf": [*_COMMAND, {"type": "null"}]}},
    },
}
