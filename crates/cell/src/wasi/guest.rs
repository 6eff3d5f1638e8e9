//! A guest's memory, with every access checked: a bad pointer is `Fault`, never a panic, and nothing is copied out to a
//! buffer of the guest's choosing. Offsets are added in 64 bits, so they can't wrap.

use std::ops::Range;

use skillcell_vfs::Errno;

/// Vectors of one call that are looked at; POSIX calls this `IOV_MAX`.
const MAX_VECTORS: u32 = 1024;
/// The longest text that is read, with its zero: a path.
const MAX_TEXT: usize = 4097;

/// The whole memory of a guest, for the length of one host call.
pub struct Guest<'a> {
    bytes: &'a mut [u8],
}

impl<'a> Guest<'a> {
    pub fn new(bytes: &'a mut [u8]) -> Guest<'a> {
        Guest { bytes }
    }

    fn checked_range(&self, start: u32, len: u64) -> Result<Range<usize>, Errno> {
        let end =
            u64::from(start).checked_add(len).filter(|end| *end <= self.bytes.len() as u64).ok_or(Errno::Fault)?;
        Ok(start as usize..end as usize)
    }

    /// Says `Fault` now if a later write of `len` bytes would; for functions with effects that can't be undone.
    pub fn check_range(&self, start: u32, len: u32) -> Result<(), Errno> {
        self.checked_range(start, u64::from(len)).map(drop)
    }

    pub fn slice(&self, start: u32, len: u32) -> Result<&[u8], Errno> {
        let range = self.checked_range(start, u64::from(len))?;
        Ok(&self.bytes[range])
    }

    pub fn slice_mut(&mut self, start: u32, len: u32) -> Result<&mut [u8], Errno> {
        let range = self.checked_range(start, u64::from(len))?;
        Ok(&mut self.bytes[range])
    }

    pub fn read_array<const N: usize>(&self, start: u32) -> Result<[u8; N], Errno> {
        let range = self.checked_range(start, N as u64)?;
        self.bytes[range].try_into().map_err(|_| Errno::Fault)
    }

    pub fn put_bytes(&mut self, start: u32, data: &[u8]) -> Result<(), Errno> {
        let range = self.checked_range(start, data.len() as u64)?;
        self.bytes[range].copy_from_slice(data);
        Ok(())
    }

    pub fn put_u32(&mut self, start: u32, value: u32) -> Result<(), Errno> {
        self.put_bytes(start, &value.to_le_bytes())
    }

    pub fn put_u64(&mut self, start: u32, value: u64) -> Result<(), Errno> {
        self.put_bytes(start, &value.to_le_bytes())
    }

    pub fn read_u32(&self, start: u32) -> Result<u32, Errno> {
        self.read_array(start).map(u32::from_le_bytes)
    }

    /// A text that ends with a zero, without it.
    pub fn text(&self, start: u32) -> Result<Vec<u8>, Errno> {
        let rest = self.bytes.get(start as usize..).ok_or(Errno::Fault)?;
        let longest = rest.get(..MAX_TEXT).unwrap_or(rest);
        match longest.iter().position(|byte| *byte == 0) {
            Some(end) => Ok(longest[..end].to_vec()),
            None if longest.len() == MAX_TEXT => Err(Errno::Nametoolong),
            None => Err(Errno::Fault),
        }
    }

    /// The vectors of a `readv` or `writev`: checked as a table here, each one when it is used.
    pub fn io_vectors(&self, table: u32, count: u32) -> Result<Vectors, Errno> {
        if count > MAX_VECTORS {
            return Err(Errno::Inval);
        }
        self.check_range(table, count * 8)?;
        Ok(Vectors { table, left: count })
    }
}

/// A position in a table of vectors. It borrows nothing, because the guest may let data overlap the table itself.
pub struct Vectors {
    table: u32,
    left: u32,
}

impl Vectors {
    /// Pointer and length of the next vector.
    pub fn next(&mut self, guest: &Guest<'_>) -> Result<Option<(u32, u32)>, Errno> {
        if self.left == 0 {
            return Ok(None);
        }
        let [p0, p1, p2, p3, l0, l1, l2, l3] = guest.read_array(self.table)?;
        self.left -= 1;
        // The last vector may end at the very end of a full 4 GiB memory.
        self.table = self.table.wrapping_add(8);
        Ok(Some((u32::from_le_bytes([p0, p1, p2, p3]), u32::from_le_bytes([l0, l1, l2, l3]))))
    }
}
