"""Broken templates by name: which ones a rehearsal refuses, with the reason, and which ones it accepts, and why."""

from collections.abc import Iterator

import pytest

from support import ROOT
from support.broken_templates import ACCEPTED, REFUSED
from support.rehearsal_tools import Stacks, local_stacks
from support.service_templates import BROKEN as BEYOND_THE_SCHEMA


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as running:
        yield running


@pytest.mark.parametrize("name", REFUSED)
def test_a_rehearsal_refuses_a_broken_template(stacks: Stacks, name: str) -> None:
    template, reason = REFUSED[name]
    messages = []
    try:
        stack = stacks.create(template)
    except stacks.cloudformation.exceptions.ClientError as error:
        messages.append(str(error))
    else:
        assert stacks.status(stack) == "ROLLBACK_COMPLETE"
        messages.append(stacks.reasons(stack))
    assert reason in messages[0]


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_rehearsal_accepts_what_it_cannot_judge(stacks: Stacks, name: str) -> None:
    template, why = ACCEPTED[name]
    assert why
    assert stacks.status(stacks.create(template)) == "CREATE_COMPLETE"


def test_the_page_on_verification_has_the_numbers() -> None:
    #: Quotas of CloudFormation, in the same file as the requirements of services.
    quotas = 5
    page = (ROOT / "docs/operations/verification.md").read_text()
    refused = len(BEYOND_THE_SCHEMA) + len(REFUSED) + quotas
    assert f"{refused} of {refused + len(ACCEPTED)} broken templates" in page
    assert not BEYOND_THE_SCHEMA.keys() & REFUSED.keys()
