//! The times transcripts carry: ISO 8601 in UTC with milliseconds, nearly always in one spelling.

use crate::memory::Timestamp;

/// The instant a `timestamp` field names; `None` for anything that is no time.
pub fn instant(text: &str) -> Option<Timestamp> {
    millis_of(text.as_bytes()).and_then(|millis| Timestamp::from_millisecond(millis).ok()).or_else(|| text.parse().ok())
}

/// The usual spelling, `2026-02-04T11:11:28.933Z`, read without a general parser.
fn millis_of(text: &[u8]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2, b'.', f1, f2, f3, b'Z'] =
        *text
    else {
        return None;
    };
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0i64, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[n1, n2])?, number(&[s1, s2])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since 1970-01-01, years counted from March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day
            - 1
            - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + number(&[f1, f2, f3])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_spelling_reads_as_the_general_parser_does() {
        for text in [
            "2026-02-04T11:11:28.933Z",
            "1970-01-01T00:00:00.000Z",
            "2024-02-29T23:59:59.999Z",
            "2000-03-01T00:00:00.001Z",
            "1999-12-31T12:00:00.000Z",
        ] {
            assert_eq!(instant(text), text.parse().ok(), "{text}");
            assert_eq!(millis_of(text.as_bytes()), text.parse::<Timestamp>().ok().map(|it| it.as_millisecond()));
        }
        assert_eq!(instant("2025-11-02T08:00:00Z"), "2025-11-02T08:00:00Z".parse().ok());
    }

    #[test]
    fn e30_nonsense_is_no_time() {
        for text in
            ["", "not a time", "2026-13-04T11:11:28.933Z", "2025-02-29T11:11:28.933Z", "2026-02-04T99:11:28.933Z"]
        {
            assert_eq!(instant(text), None, "{text}");
        }
    }
}
