"""What CloudFormation knows: resource types by their registry schemas, templates as text, what an update does.

Needs cfn-lint, which carries the schemas: `cdk-ultracluster[guard]` or `[rehearsal]`. Nothing is imported here, because
cfn-lint takes most of a second to load.
"""
