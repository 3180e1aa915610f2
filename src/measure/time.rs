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

/// Milliseconds since 1970 of a moment written with its offset or none (UTC), or as that number itself.
pub fn millis(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(number);
    }
    let seconds = seconds(text)?;
    let rest = text.get(19..)?;
    let digits = |t: &str| t.bytes().take_while(u8::is_ascii_digit).count();
    let fraction = rest.strip_prefix('.').map_or("", |r| r.get(..digits(r)).unwrap_or_default());
    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    let zone = rest.get(if fraction.is_empty() { 0 } else { fraction.len() + 1 }..)?;
    let minutes = match (zone.get(..1), zone.get(1..3), zone.get(zone.len().saturating_sub(2)..)) {
        (None | Some("Z"), ..) => 0,
        (Some(sign @ ("+" | "-")), Some(hours), Some(minutes)) => {
            let offset = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            if sign == "-" { -offset } else { offset }
        }
        _ => return None,
    };
    Some((seconds - minutes * 60) * 1000 + thousandths.parse::<i64>().ok()?)
}

/// A moment in milliseconds since 1970, written as UTC; the inverse of [`millis`].
pub fn written(millis: i64) -> String {
    let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    // Days since the first of March of the year 0, in eras of 400 years.
    let since = days + 719_468;
    let (era, day) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + later;
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", rest % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fractions_and_offsets_count() {
        let noon = 1_709_208_000_000;
        for text in
            ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00", "2024-02-29T14:00:00.000+02:00", "2024-02-29T06:30:00-0530"]
        {
            assert_eq!(millis(text), Some(noon), "{text}");
        }
        assert_eq!(millis("2024-02-29T12:00:00.25Z"), Some(noon + 250));
        assert_eq!(millis("2024-02-29T12:00:00.123456789Z"), Some(noon + 123));
        assert_eq!(millis("1709208000000"), Some(noon));
        assert_eq!((millis("2024-02-29T12:00:00 later"), millis("")), (None, None));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(at in 0i64..4_102_444_800_000) {
            prop_assert_eq!(millis(&written(at)), Some(at));
        }
    }

    #[test]
    fn moments_are_seconds() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2024-02-29T12:00:01.250Z"), Some(1_709_208_001));
        assert_eq!(seconds("2026-06-08T12:00:00.000Z"), Some(1_780_920_000));
        assert_eq!((seconds("yesterday"), seconds("2026-13-01T00:00:00Z")), (None, None));
    }
}
