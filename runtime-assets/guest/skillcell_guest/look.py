"""Reads what decides about a skill, where nothing of it runs: its manifest as PyYAML sees it, and what it is sure to import."""

from skillcell_guest import early, failure, load, skill_folder


def look(folder):
    return _look(lambda: load.read_manifest(folder), early.imports(folder))


def look_script(folder, path):
    if path is None:
        return _look(lambda: skill_folder.manifest(folder, None), {})
    found = _look(lambda: skill_folder.manifest(folder, path), early.imports(folder, path))
    return found | {"imports": [module for module, _ in skill_folder.scan(folder, path)[1]]}


def _look(read_manifest, imports):
    try:
        return {"manifest": read_manifest(), "manifest_error": None, "early_imports": imports}
    except Exception as error:
        return {"manifest": {}, "manifest_error": failure.message(error), "early_imports": imports}
