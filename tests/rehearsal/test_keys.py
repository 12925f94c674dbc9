"""KMS keys of the local cloud."""

from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError

from support.rehearsal_tools import Stacks, local_stacks


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as result:
        yield result


def test_each_symmetric_key_decrypts_only_what_it_has_encrypted(stacks: Stacks) -> None:
    kms = stacks.client("kms")
    data, logs = (kms.create_key()["KeyMetadata"]["KeyId"] for _ in range(2))
    encrypted = kms.encrypt(KeyId=data, Plaintext=b"secret")["CiphertextBlob"]
    assert kms.decrypt(KeyId=data, CiphertextBlob=encrypted)["Plaintext"] == b"secret"
    with pytest.raises(ClientError):
        kms.decrypt(KeyId=logs, CiphertextBlob=encrypted)


def test_asymmetric_keys_differ(stacks: Stacks) -> None:
    kms = stacks.client("kms")
    new = [kms.create_key(KeySpec="RSA_2048", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["KeyId"] for _ in range(2)]
    assert len({kms.get_public_key(KeyId=key)["PublicKey"] for key in new}) == 2
