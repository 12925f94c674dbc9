"""Values that nodes accept: users, directories, mount paths, scripts. The cluster file and boot scripts share them."""

from ultracluster.planning.nodes._accounts import ACCOUNT as ACCOUNT
from ultracluster.planning.nodes._accounts import OPTION as OPTION
from ultracluster.planning.nodes._directory import CERTIFICATES as CERTIFICATES
from ultracluster.planning.nodes._directory import DN as DN
from ultracluster.planning.nodes._directory import LDAPS_URI as LDAPS_URI
from ultracluster.planning.nodes._directory import is_ldap_filter as is_ldap_filter
from ultracluster.planning.nodes._lustre_client import BUNDLE_URL as BUNDLE_URL
from ultracluster.planning.nodes._lustre_client import SHA256 as SHA256
from ultracluster.planning.nodes._lustre_client import LustreEfa as LustreEfa
from ultracluster.planning.nodes._mount_paths import MOUNT as MOUNT
from ultracluster.planning.nodes._mount_paths import MOUNT_PATH as MOUNT_PATH
from ultracluster.planning.nodes._mount_paths import check_mount_path as check_mount_path
from ultracluster.planning.nodes._scripts import ON_ERROR as ON_ERROR
from ultracluster.planning.nodes._scripts import STAGES as STAGES
from ultracluster.planning.nodes._scripts import OnError as OnError
from ultracluster.planning.nodes._scripts import Stage as Stage
from ultracluster.planning.nodes._users import RESERVED_USERS as RESERVED_USERS
from ultracluster.planning.nodes._users import SSH_KEY as SSH_KEY
from ultracluster.planning.nodes._users import UIDS as UIDS
from ultracluster.planning.nodes._users import USER_NAME as USER_NAME
from ultracluster.planning.nodes._users import check_user_name as check_user_name
