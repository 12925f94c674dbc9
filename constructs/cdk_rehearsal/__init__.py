"""Rehearse CDK apps offline: a local cloud, a guard for stateful resources, template snapshots."""
