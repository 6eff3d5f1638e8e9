//! Quotas of a cell: open files, scratch bytes, scratch files. Only counts; the owners of resources charge and refund.
//!
//! Invariant: a charge comes before the allocation it pays for, and each charge is refunded once.

use super::errno::Errno;
use skillcell_limits::LimitKind;

/// The soft limits of one cell: the skill sees an ordinary `OSError` and may go on.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// Files and directories opened by the cell at once, besides the standard streams and the root.
    pub open_files: u32,
    /// Sum of the lengths of all scratch files; holes count.
    pub scratch_bytes: u64,
    /// Scratch files and directories, besides the mount points themselves.
    pub scratch_files: u32,
}

/// Caps, current usage, and the cap that was hit last.
#[derive(Debug)]
pub struct Allowance {
    caps: Caps,
    pub open_files: u32,
    pub scratch_bytes: u64,
    pub scratch_files: u32,
    pub hit: Option<LimitKind>,
}

impl Allowance {
    pub fn new(caps: Caps) -> Allowance {
        Allowance { caps, open_files: 0, scratch_bytes: 0, scratch_files: 0, hit: None }
    }

    /// Sets the caps of the next call. What is charged stays charged.
    pub fn begin_call(&mut self, caps: Caps) {
        (self.caps, self.hit) = (caps, None);
    }

    pub fn charge_open(&mut self) -> Result<(), Errno> {
        if self.open_files >= self.caps.open_files {
            return Err(self.record_hit(LimitKind::OpenFiles, Errno::Mfile));
        }
        self.open_files += 1;
        Ok(())
    }

    pub fn charge_file(&mut self) -> Result<(), Errno> {
        if self.scratch_files >= self.caps.scratch_files {
            return Err(self.record_hit(LimitKind::ScratchFiles, Errno::Nospc));
        }
        self.scratch_files += 1;
        Ok(())
    }

    pub fn charge_bytes(&mut self, count: u64) -> Result<(), Errno> {
        match self.charge_up_to(count) {
            granted if granted == count => Ok(()),
            granted => {
                self.scratch_bytes -= granted;
                Err(Errno::Nospc)
            }
        }
    }

    /// Charges as many of `count` bytes as are left, so that a write can stop short as on a full disk.
    pub fn charge_up_to(&mut self, count: u64) -> u64 {
        let granted = count.min(self.caps.scratch_bytes.saturating_sub(self.scratch_bytes));
        if granted < count {
            self.hit = Some(LimitKind::ScratchBytes);
        }
        self.scratch_bytes += granted;
        granted
    }

    fn record_hit(&mut self, limit: LimitKind, errno: Errno) -> Errno {
        self.hit = Some(limit);
        errno
    }
}
