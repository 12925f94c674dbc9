"""AWS CDK constructs for foundation-model GPU clusters.

This module imports nothing, so that `ultracluster.catalogue`, `ultracluster.planning` and `ultracluster.clusterfile`
load in milliseconds and start no Node process. Import the part that you need:
`from ultracluster import compute, network, storage`.
"""

__version__ = "0.1.0"
