"""Reads what decides about a skill, where nothing of it runs: its manifest as PyYAML sees it, and what it is sure to import."""

from skillcell_guest import early, failure, load


def look(folder):
    imports = early.imports(folder)
    try:
        return {"manifest": load.read_manifest(folder), "manifest_error": None, "early_imports": imports}
    except Exception as error:
        return {"manifest": {}, "manifest_error": failure.message(error), "early_imports": imports}
