"""Facts about AWS PCS, Slurm, SageMaker HyperPod, Amazon EKS and its add-ons; each with source and date."""

from ultracluster.catalogue.schedulers import _eks as eks
from ultracluster.catalogue.schedulers import _eks_add_ons as eks_add_ons
from ultracluster.catalogue.schedulers import _eks_updates as eks_updates
from ultracluster.catalogue.schedulers import _hyperpod as hyperpod
from ultracluster.catalogue.schedulers import _hyperpod_add_ons as hyperpod_add_ons
from ultracluster.catalogue.schedulers import _hyperpod_kubernetes as hyperpod_kubernetes
from ultracluster.catalogue.schedulers import _pcs as pcs
from ultracluster.catalogue.schedulers import _registries as registries
from ultracluster.catalogue.schedulers._eks import NodeOs, huge_pages
from ultracluster.catalogue.schedulers._eks_images import ami_type, check_driver, release_parameter
from ultracluster.catalogue.schedulers._slurm_settings import GRES_ATTRIBUTES, NOT_TAKEN, SETTINGS, Place

__all__ = [
    "GRES_ATTRIBUTES",
    "NOT_TAKEN",
    "SETTINGS",
    "NodeOs",
    "Place",
    "ami_type",
    "check_driver",
    "eks",
    "eks_add_ons",
    "eks_updates",
    "huge_pages",
    "hyperpod",
    "hyperpod_add_ons",
    "hyperpod_kubernetes",
    "pcs",
    "registries",
    "release_parameter",
]
