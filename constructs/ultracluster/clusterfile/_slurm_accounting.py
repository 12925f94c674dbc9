"""Accounts, QoS and users of Slurm, from the Slurm section."""

from ultracluster.boot import SlurmAccount, SlurmQos, SlurmUser
from ultracluster.boot import accounting_script as render
from ultracluster.clusterfile._slurm_enforcement import enforces_associations
from ultracluster.clusterfile._slurm_plan import cluster_settings
from ultracluster.clusterfile.sections._slurm import Slurm


def accounts(slurm: Slurm) -> list[SlurmAccount]:
    """Return the accounts of Slurm."""
    return [
        SlurmAccount(
            name=name,
            parent=account.parent or "root",
            fairshare=account.fairshare,
            qos=account.qos,
            options=account.settings,
        )
        for name, account in slurm.accounts.items()
    ]


def _members(slurm: Slurm) -> list[SlurmUser]:
    """Return the users of a directory, whose administrators the file does not name."""
    names = dict.fromkeys(name for account in slurm.accounts.values() for name in account.members)
    return [
        SlurmUser(
            name=name,
            accounts=[word for word, account in slurm.accounts.items() if name in account.members],
            admin=None,
        )
        for name in names
    ]


def accounting_script(slurm: Slurm) -> str | None:
    """Return the script that creates accounts, QoS and users on a login node, or None if Slurm needs none."""
    if not (slurm.accounts or slurm.qos or enforces_associations(cluster_settings(slurm))):
        return None
    return render(
        version=slurm.version,
        accounts=accounts(slurm),
        qos=[SlurmQos(name=name, priority=qos.priority, options=qos.settings) for name, qos in slurm.qos.items()],
        users=[
            *(SlurmUser(name=name, accounts=user.accounts, admin=user.admin) for name, user in slurm.users.items()),
            *_members(slurm),
        ],
    )
