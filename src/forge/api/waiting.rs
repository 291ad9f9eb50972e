//! How long to wait before a request is sent again, and when that is no use.
//!
//! Pure: an answer and the time go in, a decision comes out. All waits of a command together are
//! limited, because a job that sleeps costs as much as one that works.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// How long all waits of a command may take together.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How often one request is sent.
pub const TRIES: u32 = 4;

/// What to do about an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Advice {
    /// It is final.
    Take,
    /// The server asks to come back after this time.
    ComeBack(Duration),
    /// The server, or the way to it, is in trouble: it is not known what became of the request.
    Trouble(Option<Duration>),
    /// There were too many requests, and the server does not say until when.
    TooMany,
}

/// Returns what to do about an answer.
pub fn advice(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Advice {
    let told = after_header(headers, now);
    match status.as_u16() {
        403 | 429 if let Some(wait) = told.or_else(|| until_reset(headers, now)) => Advice::ComeBack(wait),
        429 => Advice::TooMany,
        500.. => Advice::Trouble(told),
        _ => Advice::Take,
    }
}

/// Returns how long to wait before the next of several tries, without what chance adds.
pub fn pause_before(try_number: u32) -> Duration {
    Duration::from_millis(400u64.saturating_mul(1 << try_number.min(6)))
}

/// Reads `retry-after`: seconds, or a date.
fn after_header(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let then = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(between(now_there(headers, now), then))
}

/// Reads when a limit that is used up begins anew.
fn until_reset(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<i64>().ok();
    if number("x-ratelimit-remaining")? != 0 {
        return None;
    }
    let reset = Timestamp::from_second(number("x-ratelimit-reset")?).ok()?;
    // The second has to be over.
    Some(between(now_there(headers, now), reset) + Duration::from_secs(1))
}

/// Returns the time of the server, whose clock may differ from the one here.
fn now_there(headers: &HeaderMap, now: Timestamp) -> Timestamp {
    let date = headers.get(DATE).and_then(|date| date.to_str().ok());
    let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
    date.map_or(now, |date| date.timestamp())
}

fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (reqwest::header::HeaderName::from_static(name), value.parse().expect("a value"))
            })
            .collect()
    }

    fn told(status: u16, pairs: &[(&'static str, &str)]) -> Advice {
        let now = Timestamp::from_second(1_000_000).expect("a time");
        advice(StatusCode::from_u16(status).expect("a status"), &headers(pairs), now)
    }

    #[test]
    fn a_limit_is_waited_for_and_a_missing_permission_is_not() {
        let seconds = |count| Advice::ComeBack(Duration::from_secs(count));

        assert_eq!(told(429, &[("retry-after", "7")]), seconds(7));
        assert_eq!(
            told(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1000010")]),
            seconds(11)
        );
        assert_eq!(
            told(403, &[("x-ratelimit-remaining", "12"), ("x-ratelimit-reset", "1000010")]),
            Advice::Take
        );
        assert_eq!(told(403, &[]), Advice::Take);
        assert_eq!(told(429, &[]), Advice::TooMany);
        assert_eq!(told(503, &[("retry-after", "2")]), Advice::Trouble(Some(Duration::from_secs(2))));
    }

    #[test]
    fn a_date_counts_from_the_clock_of_the_server() {
        let pairs =
            [("date", "Thu, 01 Jan 2026 00:00:00 GMT"), ("retry-after", "Thu, 01 Jan 2026 00:00:05 GMT")];

        assert_eq!(told(429, &pairs), Advice::ComeBack(Duration::from_secs(5)));
    }
}
