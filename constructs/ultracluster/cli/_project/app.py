"""CDK app: the stacks of the cluster files named below. `cdk deploy -c cluster=FILE` selects one file."""

from ultracluster.stacks import main

if __name__ == "__main__":
    main("cluster.yaml")
