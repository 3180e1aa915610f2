//! Byte sizes as people write them: `12KiB`, `256 KiB`, `900`.

use std::fmt;
use std::str::FromStr;

/// A number of bytes. Written `900`, `900B`, `12KiB` or `2MiB` (binary multiples only, so that a
/// budget has exactly one meaning); printed in the largest unit that divides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

const UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (digits, unit) = trimmed.split_at(split);
        let unit = unit.trim();
        let number: u64 = digits.parse().map_err(|_| format!("`{text}` is not a byte size"))?;
        let factor = if unit.is_empty() {
            Some(1)
        } else {
            UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
        };
        let factor = factor.ok_or_else(|| format!("`{unit}` is not a unit of bytes: write B, KiB, MiB or GiB"))?;
        number.checked_mul(factor).map(Self).ok_or_else(|| format!("`{text}` is too large"))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, factor) =
            UNITS.iter().find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor)).unwrap_or(&("B", 1));
        write!(f, "{} {unit}", self.0 / factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_printed_in_binary_units() {
        for (text, bytes, printed) in [
            ("12KiB", 12_288, "12 KiB"),
            ("12288", 12_288, "12 KiB"),
            ("1000B", 1000, "1000 B"),
            ("2 MiB", 2 << 20, "2 MiB"),
            ("0", 0, "0 B"),
        ] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!((size.0, size.to_string().as_str()), (bytes, printed), "{text}");
        }
    }

    #[test]
    fn decimal_units_negative_and_huge_sizes_are_refused() {
        for text in ["12KB", "12k", "-1", "", "KiB", "1.5KiB", "99999999999999GiB"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }
}
