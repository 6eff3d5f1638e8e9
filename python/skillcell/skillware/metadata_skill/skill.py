"""Reads another skill's manifest and checks params against it: a YAML parser and a JSON Schema validator, in a cell.

A manifest is a stranger's text. Anchors can make it grow without end, a `pattern` of its schema can take for ever to match, and
a `$ref` can lead to any address. All of that ends at the limits of this cell, and has no network to lead to.
"""

import base64
import datetime
from types import SimpleNamespace

import yaml
from skillware.core.base_skill import BaseSkill, SkillwareParamValidationError
from skillware.core.manifest_schema import normalize_manifest_v2


class Metadata(BaseSkill):
    @property
    def manifest(self):
        return {"name": "skillcell/metadata", "version": "0.1.0"}

    def execute(self, params):
        if "manifest_text" in params:
            return read_manifest(params["manifest_text"])
        return check_params(params["manifest"], params["params"])


def read_manifest(text):
    found = yaml.safe_load(text) or {}
    if not isinstance(found, dict):
        raise ValueError("the manifest is no mapping")
    return as_json(normalize_manifest_v2(found))


def check_params(manifest, params):
    """Skillware's own words for what is wrong; none if nothing is."""
    try:
        BaseSkill.validate_params(SimpleNamespace(manifest=manifest), params)
    except SkillwareParamValidationError as error:
        return {"wrong": str(error)}
    return {}


def as_json(value):
    """YAML has dates, sets, bytes and keys of any type; JSON has none of them."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): as_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [as_json(one) for one in value]
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value
