//! Operations on what is in an open file: read, write, seek, size and times by descriptor. Part of [`Vfs`]; names are in `names.rs`.

use super::errno::Errno;
use super::file::Object;
use super::stat::NewTimes;
use super::{Vfs, Whence, WriteError};
use skillcell_limits::LimitKind;

impl Vfs {
    /// Reads at the descriptor's offset and moves it. `Again` if it is standard input, and nothing came for a while.
    pub fn read(&mut self, fd: u32, buf: &mut [u8]) -> Result<usize, Errno> {
        let offset = self.table.get(fd)?.offset;
        let count = self.read_from(fd, buf, offset)?;
        self.table.get_mut(fd)?.offset += count as u64;
        Ok(count)
    }

    /// Reads at `offset` and leaves the descriptor's own alone.
    pub fn read_at(&mut self, fd: u32, buf: &mut [u8], offset: u64) -> Result<usize, Errno> {
        if self.table.get(fd)?.object.is_stream() {
            return Err(Errno::Spipe);
        }
        self.read_from(fd, buf, offset)
    }

    fn read_from(&mut self, fd: u32, buf: &mut [u8], offset: u64) -> Result<usize, Errno> {
        let descriptor = self.table.get(fd)?;
        if !descriptor.access.read {
            return Err(Errno::Badf);
        }
        if matches!(descriptor.object, Object::Stdin) {
            return self.stdin.read(buf, offset);
        }
        let count = descriptor.object.read_at(&self.scratch, &mut self.source_fault, buf, offset)?;
        if matches!(descriptor.object, Object::Device { device, .. } if device.gives_entropy()) {
            self.entropy_bytes += count as u64;
        }
        Ok(count)
    }

    /// Writes at the descriptor's offset, or at the end if it appends, and moves it.
    pub fn write(&mut self, fd: u32, data: &[u8]) -> Result<usize, WriteError> {
        let Vfs { table, scratch, stdout, stderr, .. } = self;
        let descriptor = table.get_mut(fd)?;
        if !descriptor.access.write {
            return Err(Errno::Badf.into());
        }
        let (stream, limit) = match &descriptor.object {
            Object::Stdout => (stdout, LimitKind::StdoutBytes),
            Object::Stderr => (stderr, LimitKind::StderrBytes),
            object => {
                let at = if descriptor.access.append { object.stat(scratch).size } else { descriptor.offset };
                let count = object.write_at(scratch, data, at)?;
                descriptor.offset = at + count as u64;
                return Ok(count);
            }
        };
        if stream.push(data) { Ok(data.len()) } else { Err(WriteError::Overrun(limit)) }
    }

    /// Writes at `offset` and leaves the descriptor's own alone.
    pub fn write_at(&mut self, fd: u32, data: &[u8], offset: u64) -> Result<usize, Errno> {
        let descriptor = self.table.get(fd)?;
        if !descriptor.access.write {
            return Err(Errno::Badf);
        }
        descriptor.object.write_at(&mut self.scratch, data, offset)
    }

    /// Moves the offset and says where it is now. Past the end is fine, before the start is not.
    pub fn seek(&mut self, fd: u32, by: i64, whence: Whence) -> Result<u64, Errno> {
        let descriptor = self.table.get_mut(fd)?;
        let base = match (&descriptor.object, whence) {
            (Object::Directory(_), _) => return Err(Errno::Isdir),
            (object, _) if object.is_stream() => return Err(Errno::Spipe),
            (_, Whence::Start) => 0,
            (_, Whence::Current) => descriptor.offset,
            (object, Whence::End) => object.stat(&self.scratch).size,
        };
        let target = base.checked_add_signed(by).filter(|target| i64::try_from(*target).is_ok());
        descriptor.offset = target.ok_or(Errno::Inval)?;
        Ok(descriptor.offset)
    }

    pub fn set_size(&mut self, fd: u32, size: u64) -> Result<(), Errno> {
        let descriptor = self.table.get(fd)?;
        if !descriptor.access.write {
            return Err(Errno::Inval);
        }
        descriptor.object.set_size(&mut self.scratch, size)
    }

    /// Makes the file at least `offset + len` long.
    pub fn allocate(&mut self, fd: u32, offset: u64, len: u64) -> Result<(), Errno> {
        let end = offset.checked_add(len).ok_or(Errno::Fbig)?;
        let size = self.stat(fd)?.size;
        self.set_size(fd, size.max(end))
    }

    pub fn set_times(&mut self, fd: u32, times: NewTimes) -> Result<(), Errno> {
        match &self.table.get(fd)?.object {
            Object::Directory(path) => {
                let path = path.clone();
                self.set_times_clean(&path, times)
            }
            Object::Host { path, .. } => {
                let path = path.clone();
                self.with_watch("set the times of", &path, true, |vfs| vfs.set_object_times(fd, times))
            }
            _ => self.set_object_times(fd, times),
        }
    }

    fn set_object_times(&mut self, fd: u32, times: NewTimes) -> Result<(), Errno> {
        self.table.get(fd)?.object.set_times(&mut self.scratch, times)
    }
}
