//! A directory that begins with files: what is written there is the cell's own, and the tree stays as it is.

use super::*;

const WRITE: Open = Open { write: true, ..READ };

fn tree() -> Arc<Tree> {
    let mut tree = Tree::new();
    for (path, text) in [("SKILL.md", "about"), ("scripts/a.py", "print(1)"), ("assets/large.bin", "0123456789")] {
        tree.insert(path, Content::Bytes(text.as_bytes().into())).unwrap();
    }
    Arc::new(tree)
}

fn seeded(caps: Caps) -> Vfs {
    let mounts = [Mount::seeded("/skills/x", tree()), Mount::scratch("/tmp")];
    Vfs::new(mounts.into_iter().flatten().collect(), caps, Output::new(8), Output::new(8))
}

fn write(vfs: &mut Vfs, path: &str, how: Open, text: &str) -> Result<(), Errno> {
    let fd = vfs.open(ROOT, path.as_bytes(), how)?;
    let written = vfs.write(fd, text.as_bytes());
    vfs.close(fd)?;
    match written {
        Ok(_) => Ok(()),
        Err(WriteError::Errno(errno)) => Err(errno),
        Err(other) => panic!("{other}"),
    }
}

fn written(vfs: &Vfs) -> Vec<(String, String)> {
    let text = |file: WrittenFile| (file.path, String::from_utf8(file.bytes).unwrap());
    vfs.written_files().into_iter().map(text).collect()
}

#[test]
fn what_is_untouched_costs_nothing_and_is_not_told() {
    let mut vfs = seeded(Caps { open_files: 8, scratch_bytes: 0, scratch_files: 0 });
    let fd = vfs.open(ROOT, b"/skills/x/scripts/a.py", READ).unwrap();
    let mut buf = [0; 16];
    assert_eq!(vfs.read(fd, &mut buf), Ok(8));
    assert_eq!((&buf[..8], vfs.scratch_usage(), vfs.written_files().len()), (&b"print(1)"[..], (0, 0), 0));
    assert_eq!(write(&mut vfs, "/skills/x/scripts/a.py", WRITE, "x"), Err(Errno::Nospc));
    vfs.unlink(ROOT, b"/skills/x/SKILL.md").unwrap();
    assert_eq!((vfs.stat_at(ROOT, b"/skills/x/SKILL.md"), vfs.scratch_usage()), (Err(Errno::Noent), (0, 0)));
}

#[test]
fn the_first_write_copies_and_is_charged_and_the_next_cell_has_it_as_it_was() {
    let mut vfs = seeded(ROOMY);
    write(&mut vfs, "/skills/x/assets/large.bin", WRITE, "ab").unwrap();
    write(&mut vfs, "/skills/x/SKILL.md", Open { truncate: true, ..WRITE }, "new").unwrap();
    vfs.rename(ROOT, b"/skills/x/scripts/a.py", ROOT, b"/skills/x/b.py").unwrap();
    write(&mut vfs, "/skills/x/scripts/c.py", CREATE, "c").unwrap();
    write(&mut vfs, "/tmp/elsewhere", CREATE, "z").unwrap();
    let expected =
        [("SKILL.md", "new"), ("assets/large.bin", "ab23456789"), ("b.py", "print(1)"), ("scripts/c.py", "c")];
    assert_eq!(written(&vfs), expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    assert_eq!(vfs.scratch_usage(), (10 + 3 + 1 + 1, 4));
    for path in ["SKILL.md", "assets/large.bin", "b.py", "scripts/c.py"] {
        vfs.unlink(ROOT, format!("/skills/x/{path}").as_bytes()).unwrap();
    }
    assert_eq!((vfs.scratch_usage(), vfs.written_files().len()), ((1, 1), 0), "each charge is refunded once");
    assert_eq!(seeded(ROOMY).stat_at(ROOT, b"/skills/x/SKILL.md").unwrap().size, 5);
}

#[test]
fn a_copy_that_does_not_fit_leaves_the_file_and_the_quota_as_they_were() {
    let mut vfs = seeded(Caps { scratch_bytes: 9, ..ROOMY });
    assert_eq!(write(&mut vfs, "/skills/x/assets/large.bin", WRITE, "a"), Err(Errno::Nospc));
    assert_eq!((vfs.scratch_usage(), vfs.written_files().len()), ((0, 0), 0));
    assert_eq!(vfs.stat_at(ROOT, b"/skills/x/assets/large.bin").unwrap().size, 10);
}

#[test]
fn standard_input_is_read_once_from_its_beginning() {
    let mut vfs = seeded(ROOMY);
    let mut buf = [0; 4];
    assert_eq!(vfs.read(0, &mut buf), Ok(0));
    vfs.set_stdin(Input::Bytes(b"abcdef".as_slice().into()));
    assert_eq!((vfs.read(0, &mut buf), &buf), (Ok(4), b"abcd"));
    assert_eq!((vfs.read(0, &mut buf), vfs.read(0, &mut [0])), (Ok(2), Ok(0)));
}
