//! Clocks, and dates of the one time zone that a cell has: UTC.

use wasmtime::{Caller, Linker};

use super::guest::{Guest, run};
use crate::State;
use skillcell_vfs::Errno;

const DAY: i64 = 86_400;
/// Dates further away than this have a year that C can't hold.
const MAX_SECONDS: i64 = 1 << 55;

pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "emscripten_date_now", |caller: Caller<'_, State>| milliseconds(caller, 0))?;
    linker.func_wrap("env", "emscripten_get_now", |caller: Caller<'_, State>| milliseconds(caller, 1))?;
    linker.func_wrap(
        "env",
        "_tzset_js",
        |mut caller: Caller<'_, State>, zone: u32, daylight: u32, name: u32, other: u32| {
            run(&mut caller, |_, guest| {
                guest.put_u32(zone, 0)?;
                guest.put_u32(daylight, 0)?;
                guest.put_bytes(name, b"UTC\0")?;
                Ok(guest.put_bytes(other, b"UTC\0")?)
            })
            .map(drop)
        },
    )?;
    for name in ["_localtime_js", "_gmtime_js"] {
        linker.func_wrap("env", name, |mut caller: Caller<'_, State>, seconds: i64, out: u32| {
            run(&mut caller, |_, guest| Ok(put_date(guest, out, seconds)?)).map(drop)
        })?;
    }
    for name in ["_timegm_js", "_mktime_js"] {
        linker.func_wrap("env", name, |mut caller: Caller<'_, State>, date: u32| -> wasmtime::Result<i64> {
            let seconds = run(&mut caller, |_, guest| {
                let seconds = read_date(guest, date)?;
                put_date(guest, date, seconds)?;
                Ok(seconds)
            })?;
            Ok(seconds.unwrap_or(-1))
        })?;
    }
    Ok(())
}

/// A clock of WASI's, as Emscripten reads clocks.
fn milliseconds(mut caller: Caller<'_, State>, clock: u32) -> wasmtime::Result<f64> {
    let read = run(&mut caller, |host, _| Ok(host.wasi.clock_ns(clock)?))?;
    Ok(read.unwrap_or_default() as f64 / 1e6)
}

/// Writes a `struct tm`: second, minute, hour, day, month from 0, year from 1900, weekday, day of the year, then
/// nothing of daylight saving and no offset.
fn put_date(guest: &mut Guest<'_>, out: u32, seconds: i64) -> Result<(), Errno> {
    let seconds = seconds.clamp(-MAX_SECONDS, MAX_SECONDS);
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = date_of(days);
    let of_year = days - days_to(year, 1, 1);
    let fields = [
        second % 60,
        second / 60 % 60,
        second / 3600,
        day,
        month - 1,
        year - 1900,
        (days + 4).rem_euclid(7),
        of_year,
        0,
        0,
    ];
    let mut bytes = [0; 40];
    for (place, field) in bytes.chunks_exact_mut(4).zip(fields) {
        place.copy_from_slice(&(field as i32).to_le_bytes());
    }
    guest.put_bytes(out, &bytes)
}

fn read_date(guest: &Guest<'_>, date: u32) -> Result<i64, Errno> {
    let bytes: [u8; 24] = guest.read_array(date)?;
    let mut fields = [0; 6];
    for (field, place) in fields.iter_mut().zip(bytes.chunks_exact(4)) {
        *field = i64::from(i32::from_le_bytes(place.try_into().unwrap_or_default()));
    }
    let [second, minute, hour, day, month, year] = fields;
    Ok(days_to(year + 1900, month + 1, day) * DAY + hour * 3600 + minute * 60 + second)
}

/// Days since 1970 as year, month and day of the Gregorian calendar; years begin in March here, so that leap days end them.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The reverse. Months and days may be out of their range, as `mktime` allows.
fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_is_itself_again_and_follows_the_one_before() {
        let mut before = date_of(-800_000);
        for days in -799_999..800_000 {
            let date = date_of(days);
            assert_eq!(days_to(date.0, date.1, date.2), days);
            assert!(date > before, "{before:?} {date:?}");
            before = date;
        }
        assert_eq!((date_of(0), date_of(11_016), date_of(-1)), ((1970, 1, 1), (2000, 2, 29), (1969, 12, 31)));
    }

    #[test]
    fn no_date_is_too_far_away() {
        let mut memory = vec![0; 64];
        for seconds in [i64::MIN, i64::MAX, 0, -1, 1 << 54] {
            let mut guest = Guest::new(&mut memory);
            put_date(&mut guest, 0, seconds).unwrap();
            read_date(&guest, 0).unwrap();
        }
        memory.fill(0x7f);
        read_date(&Guest::new(&mut memory), 0).unwrap();
        memory.fill(0x80);
        read_date(&Guest::new(&mut memory), 0).unwrap();
        assert_eq!(read_date(&Guest::new(&mut memory), 60), Err(Errno::Fault));
    }
}
