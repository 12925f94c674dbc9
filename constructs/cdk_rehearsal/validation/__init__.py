"""Validation of any CDK app by the requirements of services that registry schemas lack.

Needs aws-cdk-lib and cfn-lint: `pip install "cdk-ultracluster[guard]"`.
"""

from cdk_rehearsal.validation._cluster_rules import ClusterRules as ClusterRules
