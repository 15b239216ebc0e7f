"""Texts onto the disk: what changed and nothing else."""

from pathlib import Path

from codegen.write.write import MARK, differences, write

FILES = {"a.pyx": f"# {MARK}\nx\n", "b.pyi": f"# {MARK}\ny\n"}


def test_a_second_run_writes_nothing(tmp_path: Path) -> None:
    assert [change.summary for change in write(tmp_path, FILES)] == ["missing   a.pyx", "missing   b.pyi"]
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert write(tmp_path, FILES) == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == stamps


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    before = (tmp_path / "b.pyi").stat().st_mtime_ns
    changed = write(tmp_path, FILES | {"a.pyx": f"# {MARK}\nx\nz\n"})
    assert [change.summary for change in changed] == ["differs   a.pyx (+1 -0)"]
    assert (tmp_path / "a.pyx").read_text() == f"# {MARK}\nx\nz\n"
    assert (tmp_path / "b.pyi").stat().st_mtime_ns == before


def test_stale_files_go_and_other_peoples_stay(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / "mine.py").write_text("# my own notes\n")
    (tmp_path / "old.so").write_bytes(b"\x7fELF")
    changed = write(tmp_path, {"a.pyx": FILES["a.pyx"]})
    assert [change.summary for change in changed] == ["stale     b.pyi"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pyx", "mine.py", "old.so"]


def test_a_folder_is_made_when_needed(tmp_path: Path) -> None:
    write(tmp_path / "new", FILES)
    assert differences(tmp_path / "new", FILES) == []


def test_looking_changes_nothing(tmp_path: Path) -> None:
    assert len(differences(tmp_path / "none", FILES)) == 2
    assert not (tmp_path / "none").exists()
