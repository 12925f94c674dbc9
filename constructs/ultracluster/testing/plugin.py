"""Plugin for pytest: the option `--update-snapshots`, and the report of snapshots that no test uses."""

pytest_plugins = ["cdk_rehearsal.snapshots.plugin"]
