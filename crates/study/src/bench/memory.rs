//! Page faults and memory of cells, read from `/proc`.

use super::BenchError;
use skillcell_host::call::Call;
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::Skill;

/// Minor faults of this thread, per call.
pub fn faults_per_call(calls: u32, mut call: impl FnMut() -> Result<(), BenchError>) -> Result<f64, BenchError> {
    let before = minor_faults();
    for _ in 0..calls {
        call()?;
    }
    Ok(minor_faults().saturating_sub(before) as f64 / f64::from(calls))
}

/// Anonymous memory and page tables that a cell adds while it is alive, after its call.
pub fn bytes_per_live_cell(host: &Host, skill: &Skill, call: &Call, cells: usize) -> Result<f64, BenchError> {
    // The first use of a pool slot has a cost of its own, once; it is paid before measuring.
    drop(keep_cells_alive(host, skill, call, cells)?);
    let before = private_bytes();
    let held = keep_cells_alive(host, skill, call, cells)?;
    let after = private_bytes();
    drop(held);
    Ok(after.saturating_sub(before) as f64 / cells.max(1) as f64)
}

fn keep_cells_alive(
    host: &Host,
    skill: &Skill,
    call: &Call,
    cells: usize,
) -> Result<Vec<skillcell_cell::Cell>, HostError> {
    (0..cells).map(|_| host.leave_alive(skill, call)).collect()
}

pub fn resident_bytes() -> u64 {
    status_field("VmRSS:")
}

fn private_bytes() -> u64 {
    status_field("RssAnon:") + status_field("VmPTE:")
}

fn status_field(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kib: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.unwrap_or(0) << 10
}

/// `minflt`, field 10 of `stat`. Fields are counted from the last `)`, since the command's name may contain anything.
fn minor_faults() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default();
    fields.split_whitespace().nth(7).and_then(|count| count.parse().ok()).unwrap_or(0)
}
