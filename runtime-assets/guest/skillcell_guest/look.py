"""Reads a skill's manifest as PyYAML sees it, where nothing of the skill runs."""

from skillcell_guest import failure, load


def look(folder):
    try:
        return {"manifest": load.read_manifest(folder), "manifest_error": None}
    except Exception as error:
        return {"manifest": {}, "manifest_error": failure.message(error)}
