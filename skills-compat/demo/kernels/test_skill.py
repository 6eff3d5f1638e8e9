import pytest
from kernels import KERNELS
from skill import Kernels


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_gives_the_same_each_time(kernel):
    one, other = (Kernels().execute({"kernel": kernel}) for _ in range(2))
    assert one["result"] == other["result"] and one["ms"] > 0
