from collections import Counter

import pytest

from ultracluster.catalogue.ec2 import NCCL_FIGURES, nccl_figure, nccl_nodes
from ultracluster.catalogue.monitoring import XIDS, XidPolicy, xids
from ultracluster.catalogue.monitoring._xid_generations import GpuGeneration, xid_policy
from ultracluster.catalogue.monitoring._xids import _APPLICATION, _FATAL, _RESET, _WATCH


def test_each_code_has_one_policy() -> None:
    assert max(Counter((*_FATAL, *_RESET, *_WATCH, *_APPLICATION)).values()) == 1
    assert len(XIDS) == len((*_FATAL, *_RESET, *_WATCH, *_APPLICATION))


def test_a_gpu_that_fell_off_the_bus_is_fatal_and_a_segfault_of_the_program_is_not() -> None:
    assert XIDS[79] is XidPolicy.FATAL
    assert XIDS[31] is XidPolicy.APPLICATION
    assert xids(XidPolicy.FATAL) == (54, 79, 142, 151, 168)


def test_policies_differ_by_generation_of_gpus() -> None:
    assert [xid_policy(64, each) for each in GpuGeneration] == [XidPolicy.FATAL, *[XidPolicy.RESET] * 3]
    assert [xid_policy(74, each) for each in GpuGeneration] == [XidPolicy.RESET, XidPolicy.RESET, None, None]
    assert [xid_policy(149, each) for each in GpuGeneration] == [None, None, XidPolicy.WATCH, XidPolicy.WATCH]
    assert [xid_policy(142, each) for each in GpuGeneration] == [None, None, None, XidPolicy.FATAL]
    assert [xid_policy(136, each) for each in GpuGeneration] == [None, XidPolicy.RESET, None, None]
    assert xid_policy(999, GpuGeneration.AMPERE) is XidPolicy.WATCH


def test_the_figure_of_a_type_is_that_of_the_largest_message_on_the_fewest_nodes() -> None:
    figure = nccl_figure("p5.48xlarge")
    assert figure is not None
    assert (figure.nodes, figure.message_bytes) == (2, 16 * 2**30)
    assert figure.floor_gb_per_s == pytest.approx(487 * 0.8, abs=0.1)
    assert nccl_figure("p5en.48xlarge") is None
    assert [nccl_nodes(name) for name in ("p6-b200.48xlarge", "p5en.48xlarge")] == [4, 2]


def test_no_two_figures_are_for_the_same_run() -> None:
    assert max(Counter((f.instance_type, f.nodes, f.message_bytes) for f in NCCL_FIGURES).values()) == 1
    assert all(figure.source for figure in NCCL_FIGURES)
