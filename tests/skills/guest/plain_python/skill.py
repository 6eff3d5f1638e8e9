import dataclasses
import enum
import pickle
import sys
import typing

from skillware.core.base_skill import BaseSkill


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    near: typing.Optional["Point"] = None


class PlainPython(BaseSkill):
    """There is no manifest.yaml beside this file."""

    manifest = {}

    def execute(self, params):
        copy = pickle.loads(pickle.dumps([Point(1, Point(2)), Colour.RED]))
        return {
            "copy": dataclasses.asdict(copy[0]),
            "colour": copy[1].value,
            "hints": sorted(typing.get_type_hints(Point)),
            "heavy": sorted({"numpy", "pandas", "scipy", "PIL", "lxml", "requests"} & set(sys.modules)),
        }
