"""Reads a file of the host with whatever in the libraries opens files."""

import linecache
import os
import pathlib
import runpy
import shutil
import sys
import tokenize
import urllib.request

from skillware.core.base_skill import BaseSkill


class Libraries(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return getattr(self, params.pop("attempt"))(**params)

    def nothing(self):
        return None

    def pathlib(self, path):
        return pathlib.Path(path).read_text()

    def url(self, path):
        return urllib.request.urlopen(f"file://{path}").read().decode()

    def copy(self, path):
        shutil.copyfile(path, "/tmp/copy")
        return pathlib.Path("/tmp/copy").read_text()

    def scandir(self, path):
        with os.scandir(os.path.dirname(path)) as entries:
            return sorted(entry.name for entry in entries)

    def stat(self, path):
        return os.stat(path).st_size > 0

    def exists(self, path):
        return os.path.exists(path)

    def linecache(self, path):
        return linecache.getline(path, 1)

    def tokenize(self, path):
        with tokenize.open(path) as file:
            return file.read()

    def entity(self, path):
        """XML's own way to read files."""
        from lxml import etree

        text = f'<!DOCTYPE a [<!ENTITY secret SYSTEM "file://{path}">]><a>&secret;</a>'
        parser = etree.XMLParser(resolve_entities=True, load_dtd=True, no_network=False)
        return etree.fromstring(text.encode(), parser).text

    def xinclude(self, path):
        from lxml import etree

        text = f'<a xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="{path}" parse="text"/></a>'
        tree = etree.fromstring(text).getroottree()
        tree.xinclude()
        return tree.getroot().text

    def run_path(self, path):
        return runpy.run_path(path)["WORD"]

    def import_from(self, path):
        sys.path.insert(0, os.path.dirname(path))
        import planted

        return planted.WORD
