"""Pieces of pure Python by kind of work, for `cargo bench --bench compute`."""

from kernels import KERNELS, timed
from skillware.core.base_skill import BaseSkill


class Kernels(BaseSkill):
    @property
    def manifest(self):
        return {"name": "demo/kernels", "version": "0.1.0"}

    def execute(self, params):
        if "kernel" not in params:
            return {"kernels": list(KERNELS)}
        # The first time warms up what Python specialises and caches.
        timed(params["kernel"])
        return timed(params["kernel"])
