//! Dates, as audit lines and people read them: all in UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// `2026-02-28T23:59:59.999Z`. A clock before 1970 is shown as 1970.
pub fn rfc3339(time: SystemTime) -> String {
    format!("{:.3}", timestamp(time.duration_since(UNIX_EPOCH).unwrap_or_default()))
}

/// The day of a time in seconds since 1970, as `2026-11-16`.
pub fn date(seconds: u64) -> String {
    timestamp(Duration::from_secs(seconds)).strftime("%F").to_string()
}

/// What is beyond the calendar's last year is its last moment.
fn timestamp(since_1970: Duration) -> Timestamp {
    since_1970.try_into().ok().and_then(|since| Timestamp::from_duration(since).ok()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |ms| rfc3339(UNIX_EPOCH + Duration::from_millis(ms));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(1_709_251_199_999), "2024-02-29T23:59:59.999Z");
        assert_eq!(at(1_709_251_200_000), "2024-03-01T00:00:00.000Z");
        assert_eq!(at(4_107_542_400_007), "2100-03-01T00:00:00.007Z");
        assert_eq!(rfc3339(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_nanos(1_999_999_999)), "1970-01-01T00:00:01.999Z");
    }

    #[test]
    fn days_have_dates_however_far_they_are() {
        let dates = [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_763_251_200, "2025-11-16"),
            (4_107_542_399, "2100-02-28"),
            (u64::MAX, "9999-12-30"),
        ];
        for (seconds, expected) in dates {
            assert_eq!(date(seconds), expected);
        }
    }
}
