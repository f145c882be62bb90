"""What mmsim takes for this user's own: nothing that another user could have written."""

import os
import sys
from pathlib import Path

import pytest

from mmsim.host import ownership
from mmsim.host.ownership import NotOwnError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has no such owners and modes")


def give_away(path, monkeypatch):
    """Make a file another user's."""
    if os.getuid() == 0:
        os.chown(path, 54321, 54321, follow_symlinks=False)
    else:
        about = os.lstat(path)
        monkeypatch.setattr(os, "getuid", lambda: about.st_uid + 1)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "caches" / "own"
    ownership.check_folder(made, make=True)
    return made


def refused(folder):
    with pytest.raises(NotOwnError) as caught:
        ownership.check_folder(folder)
    return str(caught.value)


def test_a_folder_is_made_for_its_user_alone(tmp_path):
    before = os.umask(0)
    try:
        ownership.check_folder(tmp_path / "a" / "b", make=True)
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "a", tmp_path / "a" / "b")] == [
        0o700
    ] * 2
    ownership.check_folder(tmp_path / "a" / "b", make=True)


@pytest.mark.parametrize("mode", [0o777, 0o707, 0o702, 0o1777])
@pytest.mark.parametrize("which", ["itself", "the folder around it"])
def test_a_folder_that_others_can_write_is_refused(folder, which, mode):
    path = folder if which == "itself" else folder.parent
    path.chmod(mode)
    if which != "itself" and mode & 0o1000:  # as /tmp: no other user can move what is in it
        ownership.check_folder(folder)
    else:
        assert refused(folder).startswith(f"other users can write to {path}, whose mode is drwx")
        assert f"(chmod go-w {path})" in refused(folder)


def test_a_folder_of_another_user_is_refused(folder, monkeypatch):
    give_away(folder, monkeypatch)
    assert " belongs to user " in refused(folder)


@pytest.mark.parametrize("alone", [True, False])
def test_a_group_may_write_where_it_is_the_users_own(folder, monkeypatch, alone):
    monkeypatch.setattr(ownership, "_is_own", lambda group: alone)
    folder.chmod(0o770)
    if alone and sys.platform == "linux":
        ownership.check_folder(folder)
        # A list of access that names another user hides behind the bits of the group.
        monkeypatch.setattr(os, "listxattr", lambda path: ["system.posix_acl_access"])
    assert "other users can write" in refused(folder)


def test_a_group_is_the_users_own(monkeypatch):
    grp, pwd = pytest.importorskip("grp"), pytest.importorskip("pwd")
    me = pwd.struct_passwd(("me", "x", os.getuid(), 1000, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: me)
    monkeypatch.setattr(pwd, "getpwall", lambda: [me])
    groups = {1000: ("me", []), 1001: ("me", []), 1002: ("staff", [])}
    for number, expected in ((1000, True), (1001, False), (1002, False), (1003, False)):
        made = {n: grp.struct_group((name, "x", n, them)) for n, (name, them) in groups.items()}
        monkeypatch.setattr(grp, "getgrgid", made.__getitem__)
        ownership._is_own.cache_clear()
        assert ownership._is_own(number) is expected
    for members, expected in ((["me"], True), (["me", "you"], False)):
        one = grp.struct_group(("me", "x", 1000, members))
        monkeypatch.setattr(grp, "getgrgid", lambda number, one=one: one)
        ownership._is_own.cache_clear()
        assert ownership._is_own(1000) is expected
    you = pwd.struct_passwd(("you", "x", 7, 1000, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwall", lambda: [me, you])  # it is the first group of both
    monkeypatch.setattr(grp, "getgrgid", lambda number: grp.struct_group(("me", "x", 1000, [])))
    ownership._is_own.cache_clear()
    assert not ownership._is_own(1000)
    ownership._is_own.cache_clear()


def test_links_are_followed_one_by_one(tmp_path, folder, monkeypatch):
    link = tmp_path / "link"
    link.symlink_to(folder.parent)
    ownership.check_folder(link / "own" / ".." / "own")
    folder.parent.chmod(0o777)
    assert str(folder.parent) in refused(link / "own")
    folder.parent.chmod(0o700)
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "link").symlink_to(folder)
    ownership.check_folder(shared / "link")
    shared.chmod(0o777)  # another user may let the link lead elsewhere
    assert str(shared) in refused(shared / "link")
    shared.chmod(0o1777)
    give_away(shared / "link", monkeypatch)
    assert str(shared / "link") in refused(shared / "link") or os.getuid() != 0


def test_a_link_to_itself_and_a_file_are_no_folders(tmp_path):
    (tmp_path / "round").symlink_to(tmp_path / "round")
    (tmp_path / "file").touch()
    for name in ("round", "file", "missing"):
        with pytest.raises(OSError):  # noqa: PT011  # three kinds of it
            ownership.check_folder(tmp_path / name)


def test_a_relative_path_starts_where_the_process_is(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    ownership.check_folder(Path("own"))
    folder.parent.chmod(0o777)
    assert str(folder.parent) in refused(Path("own"))


def test_a_file_is_read_where_only_its_user_can_write_it(folder, monkeypatch):
    file = folder / "file"
    file.write_bytes(b"data")
    assert ownership.read(file) == b"data"
    file.chmod(0o666)
    with pytest.raises(NotOwnError, match="other users can write"):
        ownership.read(file)
    file.chmod(0o600)
    give_away(file, monkeypatch)
    with pytest.raises(NotOwnError, match="belongs to user"):
        ownership.read(file)


def test_a_link_a_folder_and_a_pipe_are_not_read(folder):
    (folder / "file").write_bytes(b"data")
    (folder / "link").symlink_to(folder / "file")
    os.mkfifo(folder / "pipe")
    for path in (folder / "link", folder, folder / "pipe", folder / "missing"):
        with pytest.raises(OSError):  # noqa: PT011  # each in its own way
            ownership.read(path)
