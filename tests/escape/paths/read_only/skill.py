"""Changes what is in a read-only mount, by every route that there is."""

import os
import pathlib
import shutil
import sqlite3
import tempfile
import zipfile

from skillware.core.base_skill import BaseSkill


class ReadOnly(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        getattr(self, params["attempt"])()
        return "done"

    def write(self):
        with open("/data/a.txt", "w") as file:
            file.write("changed")

    def append(self):
        with open("/data/a.txt", "a") as file:
            file.write("changed")

    def update(self):
        with open("/data/a.txt", "r+") as file:
            file.write("changed")

    def create(self):
        with open("/data/new.txt", "x") as file:
            file.write("changed")

    def create_to_read(self):
        os.close(os.open("/data/new.txt", os.O_RDONLY | os.O_CREAT))

    def truncate_to_read(self):
        os.close(os.open("/data/a.txt", os.O_RDONLY | os.O_TRUNC))

    def append_flag(self):
        os.write(os.open("/data/a.txt", os.O_WRONLY | os.O_APPEND), b"changed")

    def truncate(self):
        os.truncate("/data/a.txt", 0)

    def truncate_descriptor(self):
        os.ftruncate(os.open("/data/a.txt", os.O_RDWR), 0)

    def rename(self):
        os.rename("/data/a.txt", "/data/renamed.txt")

    def replace(self):
        os.replace("/data/b.txt", "/data/a.txt")

    def rename_folder(self):
        os.rename("/data/empty", "/data/renamed")

    def unlink(self):
        os.unlink("/data/a.txt")

    def remove_folder(self):
        os.rmdir("/data/empty")

    def make_folder(self):
        os.mkdir("/data/made")

    def make_folders(self):
        os.makedirs("/data/made/in/made")

    def times(self):
        os.utime("/data/a.txt", (1, 1))

    def times_of_folder(self):
        os.utime("/data/empty/..", (1, 1))

    def touch(self):
        pathlib.Path("/data/a.txt").touch()

    def copy_into(self):
        shutil.copyfile("/data/b.txt", "/data/a.txt")

    def copy_tree(self):
        shutil.copytree("/data/empty", "/data/copied")

    def move_out(self):
        shutil.move("/data/a.txt", "/tmp/a.txt")

    def move_in(self):
        pathlib.Path("/tmp/new.txt").write_text("changed")
        shutil.move("/tmp/new.txt", "/data/new.txt")

    def remove_tree(self):
        shutil.rmtree("/data/sub")

    def temporary(self):
        with tempfile.NamedTemporaryFile(dir="/data", delete=False) as file:
            file.write(b"changed")

    def database(self):
        with sqlite3.connect("/data/new.db") as database:
            database.execute("create table t (a)")

    def archive(self):
        with zipfile.ZipFile("/data/new.zip", "w") as archive:
            archive.writestr("a", "changed")

    def from_descriptor(self):
        folder = os.open("/data", os.O_RDONLY)
        os.close(os.open("new.txt", os.O_WRONLY | os.O_CREAT, dir_fd=folder))

    def after_chdir(self):
        os.chdir("/data")
        with open("new.txt", "w") as file:
            file.write("changed")

    def through_the_writable_part(self):
        """/data/sub is mounted writable; the way back up is not."""
        with open("/data/sub/../new.txt", "w") as file:
            file.write("changed")

    def unlink_from_descriptor(self):
        os.unlink("a.txt", dir_fd=os.open("/data", os.O_RDONLY))

    def rename_from_descriptor(self):
        folder = os.open("/data", os.O_RDONLY)
        os.rename("a.txt", "renamed.txt", src_dir_fd=folder, dst_dir_fd=folder)

    def positional_write(self):
        os.pwrite(os.open("/data/a.txt", os.O_RDONLY), b"changed", 0)

    def write_to_reader(self):
        os.write(os.open("/data/a.txt", os.O_RDONLY), b"changed")

    def truncate_reader(self):
        os.ftruncate(os.open("/data/a.txt", os.O_RDONLY), 0)

    def times_of_reader(self):
        os.utime(os.open("/data/a.txt", os.O_RDONLY), (1, 1))
