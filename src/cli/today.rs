//! The only look at the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::evidence::Day;

const SECONDS_A_DAY: u64 = 24 * 60 * 60;

/// Today in UTC; `None` when the clock stands before 1970 or after 9999.
pub fn today() -> Option<Day> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    day(since.as_secs() / SECONDS_A_DAY)
}

/// The day that many days after 1970-01-01: the calendar repeats every 400 years, and years counted from March end
/// with the day that not all of them have.
fn day(since: u64) -> Option<Day> {
    let days = since + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
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
