//! The bytes of one scratch file, in chunks, so that growing never copies the file and holes take no memory.
//!
//! Quotas are not its business: the caller has charged `len` before it writes. Memory held is at most about
//! twice `len` for small files and `len` plus one chunk for large ones.

const CHUNK: usize = 64 << 10;

/// A sparse file. Whatever lies before `len` and in no chunk reads as zeros.
#[derive(Debug, Default)]
pub struct Blob {
    chunks: Vec<Vec<u8>>,
    len: u64,
}

impl Blob {
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> usize {
        let left = self.len.saturating_sub(offset);
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        let mut done = 0;
        while done < count {
            let (index, within) = chunk_position(offset + done as u64);
            let piece = (CHUNK - within).min(count - done);
            let chunk = self.chunks.get(index).map_or(&[][..], |chunk| chunk.get(within..).unwrap_or_default());
            let held = chunk.len().min(piece);
            buf[done..done + held].copy_from_slice(&chunk[..held]);
            buf[done + held..done + piece].fill(0);
            done += piece;
        }
        count
    }

    pub fn write_at(&mut self, data: &[u8], offset: u64) {
        let mut done = 0;
        while done < data.len() {
            let (index, within) = chunk_position(offset + done as u64);
            let piece = (CHUNK - within).min(data.len() - done);
            self.chunk_mut(index, within + piece)[within..within + piece].copy_from_slice(&data[done..done + piece]);
            done += piece;
        }
        self.len = self.len.max(offset + data.len() as u64);
    }

    pub fn set_len(&mut self, len: u64) {
        if len < self.len {
            let (index, within) = chunk_position(len);
            self.chunks.truncate(index + 1);
            if let Some(chunk) = self.chunks.get_mut(index) {
                chunk.truncate(within);
                chunk.shrink_to_fit();
            }
            self.chunks.shrink_to_fit();
        }
        self.len = len;
    }

    fn chunk_mut(&mut self, index: usize, len: usize) -> &mut [u8] {
        if self.chunks.len() <= index {
            self.chunks.resize_with(index + 1, Vec::new);
        }
        let chunk = &mut self.chunks[index];
        if chunk.len() < len {
            chunk.resize(len, 0);
        }
        chunk
    }
}

fn chunk_position(offset: u64) -> (usize, usize) {
    let chunk = CHUNK as u64;
    // A blob is no longer than its quota, which is no longer than the host's memory.
    (usize::try_from(offset / chunk).expect("offset within quota"), (offset % chunk) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_and_cut_off_bytes_read_as_zeros() {
        let mut blob = Blob::default();
        blob.write_at(b"abc", 3 * CHUNK as u64 - 1);
        let mut buf = [9; 6];
        assert_eq!(blob.read_at(&mut buf, 3 * CHUNK as u64 - 3), 5);
        assert_eq!(&buf[..5], b"\0\0abc");
        blob.set_len(3 * CHUNK as u64);
        blob.set_len(4 * CHUNK as u64);
        assert_eq!(blob.read_at(&mut buf, 3 * CHUNK as u64 - 2), 6);
        assert_eq!(&buf, b"\0a\0\0\0\0");
    }

    #[test]
    fn growing_without_writing_holds_no_memory() {
        let mut blob = Blob::default();
        blob.set_len(1 << 50);
        assert_eq!(blob.chunks.capacity(), 0);
        blob.set_len(0);
        blob.write_at(b"x", 10 * CHUNK as u64);
        assert_eq!(blob.chunks.iter().map(Vec::capacity).sum::<usize>(), blob.chunks[10].capacity());
        blob.set_len(0);
        assert_eq!(blob.chunks.iter().map(Vec::capacity).sum::<usize>(), 0);
    }
}
