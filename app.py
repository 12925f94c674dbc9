"""The app of this repository: the stacks of the cluster file that `-c cluster=FILE` names."""

from stacks import main

if __name__ == "__main__":
    main("examples/slurm-512-gpus.yaml")
