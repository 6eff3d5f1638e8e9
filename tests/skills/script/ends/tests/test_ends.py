import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "scripts"))


def test_a_script_can_be_imported_and_its_folder_written_to():
    import left_open

    pathlib.Path("written.txt").write_text(left_open.__doc__, encoding="utf-8")
    assert pathlib.Path.cwd().name == "ends"
