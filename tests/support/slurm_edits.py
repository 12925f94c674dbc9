"""A Slurm cluster, and edits of it: compared by the guard, and deployed in a rehearsal."""

BASE = """\
name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5en.48xlarge, count: 8, image: ami-0123456789abcdef0}
slurm:
  login: {image: ami-0fedcba9876543210}
  health: {replace: 2}
storage:
  home: {}
"""
IMAGE = "ami-0123456789abcdef0"
SHA256 = "0123456789abcdef" * 4
DIRECTORY = """\
  directory:
    ldap:
      servers: [ldaps://ldap.example.com]
      base-dn: dc=example,dc=com
      bind-dn: cn=reader,dc=example,dc=com
      secret: arn:aws:secretsmanager:us-east-2:123456789012:secret:ldap-AbCdEf
"""
SCRIPT = f"{{url: 's3://my-bucket/edr.sh', sha256: {SHA256}}}"
DATA = "AWS::FSx::FileSystem", "AWS::FSx::Volume", "AWS::EC2::SecurityGroup"
ALL = {"login: replaces nodes", "train: replaces nodes"}
TRAIN = {"train: replaces nodes"}
#: Edit -> old text, new text; types that the guard refuses to lose, made and taken back; fates of the groups, made and
#: taken back; whether nodes take something over in place.
EDITS: dict[str, tuple[str, str, tuple[set[str], set[str]], tuple[set[str], set[str]], bool]] = {
    "homes": ("home: {}", "home: {type: efs}", ({*DATA}, {"AWS::EFS::FileSystem"}), (ALL, ALL), False),
    "directory": ("storage:\n", f"{DIRECTORY}storage:\n", (set(), set()), (ALL, ALL), True),
    "budget": ("replace: 2", "replace: 1", (set(), set()), (set(), set()), True),
    "replacement": ("health: {replace: 2}", "health: true", (set(), set()), (set(), set()), True),
    "script": (f"{IMAGE}}}", f"{IMAGE}, scripts: [{SCRIPT}]}}", (set(), set()), (TRAIN, TRAIN), False),
    "image": (IMAGE, "ami-0aaaaaaaaaaaaaaaa", (set(), set()), (TRAIN, TRAIN), False),
    "name": ("  train:", "  tuning:", (set(), set()), ({"train: deleted"}, {"tuning: deleted"}), True),
}
