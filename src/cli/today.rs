//! The only look at the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::evidence::Day;
use crate::text::date::civil;

const SECONDS_A_DAY: u64 = 24 * 60 * 60;

/// Today in UTC; `None` when the clock stands before 1970 or after 9999.
pub fn today() -> Option<Day> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    day(since.as_secs() / SECONDS_A_DAY)
}

/// The day that many days after 1970-01-01.
fn day(since: u64) -> Option<Day> {
    let (year, month, day) = civil(since);
    Day::new(&format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (since, text) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_787, "2026-11-30"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(day(since).unwrap().as_str(), text, "{since}");
        }
        assert_eq!(day(u64::MAX / 1_000_000), None);
    }
}
