"""Generate the contract of the constructs from the table that the tests hold them to."""

from docs_reference.markdown import page

_ABOUT = """How each construct behaves in a CDK app. Every cell is tested in `tests/house/test_contract.py`, through
JavaScript, as the CDK's own constructs call them. A number in brackets leads to the reason below the table.

| column | meaning |
|---|---|
| connects | it is an `IConnectable`, with this default port |
| grants | methods of `grants`; each takes an `IGrantable` and returns an `iam.Grant` |
| principal | it can be granted access itself |
| tags | `Tags.of(...)` reaches its resources, instances and volumes included |
| default child | type of `node.default_child` |
| tokens | arguments accept tokens |
| twin | interface that imported resources implement as well |
| metrics | `metrics` has methods that return metrics of CloudWatch |
| uses | constructs of the CDK that accept it |"""


def contracts_page() -> str:
    """Page with the contract table."""
    # From tests/support, which `make docs-reference` and pytest have on the path.
    from support.contracts import contract_table

    return page("Contract of the constructs", _ABOUT, contract_table())
