"""Generate the comparison of `ultracluster plan` with published training runs."""

from docs_reference.markdown import page, table

_ABOUT = """Throughput of published training runs, and what
[`ultracluster plan`](../guides/cluster-file.md#accuracy) predicts for them. No published throughput, MFU or time is an
input. Sources are in `tests/support/published_runs.py`."""
_OUTSIDE = """The planner predicts these too high: mixtures of experts on B200 behind x86 CPUs with the software of
2025, and FSDP across two NVLink domains."""
_HELD_OUT = """No constant was fitted to these, from `tests/support/held_out_runs.py`. Megatron Bridge is in the
container of its job files, where mixtures of experts on Blackwell became faster. torchtitan is slower than predicted,
and so is PyTorch's FSDP2, which both it and `pretrain` use: plan a quarter less throughput for them."""
_HEADER = ("run", "published tokens/s per GPU", "predicted", "error")


def predictions_page() -> str:
    """Page with every published run."""
    # From tests/support, which `make docs-reference` and pytest have on the path.
    from support.held_out_runs import HELD_OUT
    from support.published_runs import OUTSIDE, RUNS, Run, predicted

    def row(run: Run) -> tuple[str, ...]:
        tokens = predicted(run)
        return run.name, f"{run.tokens_per_second:,.0f}", f"{tokens:,.0f}", f"{tokens / run.tokens_per_second - 1:+.1%}"

    return page(
        "Predictions and published runs",
        _ABOUT,
        table(_HEADER, map(row, RUNS)),
        f"## Outside the range\n\n{_OUTSIDE}\n\n{table(_HEADER, map(row, OUTSIDE))}",
        f"## Runs that are not in the fit\n\n{_HELD_OUT}\n\n{table(_HEADER, map(row, HELD_OUT))}",
    )
