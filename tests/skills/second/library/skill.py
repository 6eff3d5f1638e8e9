"""Parts of the standard library that Pyodide leaves to JavaScript or to packages of its own."""

import datetime
import pydoc
import sqlite3
import webbrowser
import zoneinfo

from skillware.core.base_skill import BaseSkill


class Library(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return {name: getattr(self, name)() for name in ("zone", "document", "database", "browser")}

    def zone(self):
        summer = datetime.datetime(2026, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
        return [str(zoneinfo.ZoneInfo("UTC")), summer.utcoffset().total_seconds()]

    def document(self):
        return pydoc.render_doc(Library).splitlines()[0]

    def database(self):
        """In a file, which SQLite locks."""
        with sqlite3.connect("/tmp/rows.db") as database:
            database.execute("create table rows (name)")
            database.execute("insert into rows values ('kept')")
        with sqlite3.connect("/tmp/rows.db") as database:
            return database.execute("select name from rows").fetchall()

    def browser(self):
        return webbrowser.open("https://example.org")
