//! Moments as logs write them.

/// Seconds since 1970 of a moment written `YYYY-MM-DDThh:mm:ss…`, taken as UTC.
pub fn seconds(text: &str) -> Option<i64> {
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    (matches!(month, 1..=12) && matches!(day, 1..=31)).then_some(())?;
    // Years begin in March, so that the day not all of them have is their last.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_seconds() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2024-02-29T12:00:01.250Z"), Some(1_709_208_001));
        assert_eq!(seconds("2026-06-08T12:00:00.000Z"), Some(1_780_920_000));
        assert_eq!((seconds("yesterday"), seconds("2026-13-01T00:00:00Z")), (None, None));
    }
}
