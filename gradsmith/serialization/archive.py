"""Zip archives whose members lie in them as they are."""

from __future__ import annotations

import zipfile
from typing import IO, Any

from gradsmith.serialization.errors import CorruptFileError

LOCAL_HEADER = 30  # bytes, without the name


class Archive:
    """An archive that is read.

    Members that overlap would let a small file unfold into a large one, so they are refused.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.zip = zipfile.ZipFile(file)
        self.members = {member.filename: member for member in self.zip.infolist()}
        if len(self.members) != len(self.zip.infolist()):
            raise CorruptFileError("load: the archive has two members of one name")
        self._check_members()

    def _check_members(self) -> None:
        end = 0
        for member in sorted(self.zip.infolist(), key=lambda member: member.header_offset):
            if member.header_offset < end:
                raise CorruptFileError(f"load: the archive's member {member.filename} overlaps another one")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise CorruptFileError(f"load: the archive's member {member.filename} is packed in an unusual way")
            end = member.header_offset + LOCAL_HEADER + len(member.filename) + member.compress_size

    def check_packing(self) -> None:
        """Members of a checkpoint lie in it as they are."""
        for member in self.zip.infolist():
            if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
                raise CorruptFileError(
                    f"load: the archive's member {member.filename} is packed, which it should not be"
                )

    def read(self, name: str, size: int | None = None) -> bytes:
        """The bytes of a member, of which there must be as many as `size` says."""
        member = self.members.get(name)
        if member is None:
            raise CorruptFileError(f"load: the archive has no member {name!r}")
        if size is not None and member.file_size != size:
            raise CorruptFileError(f"load: the archive's member {name} has {member.file_size} bytes, not {size}")
        return self.zip.read(member)


def write_member(archive: zipfile.ZipFile, name: str, write: Any) -> None:
    """Add a member that ``write(file)`` writes; it may be of any size."""
    with archive.open(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), "w", force_zip64=True) as file:
        write(file)
