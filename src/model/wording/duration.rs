//! Durations and ages as people say them.

/// Writes seconds: `0.4s`, `12.3s`, `3 min 12 s`, `2 h 5 min`, `3 days 4 h`.
pub fn human_duration(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1}s");
    }
    let whole = seconds as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min {} s", whole % 60),
        (0, _) => format!("{hours} h {minutes} min"),
        (1, _) => format!("1 day {hours} h"),
        _ => format!("{days} days {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_at_most_two_units() {
        assert_eq!(human_duration(0.44), "0.4s");
        assert_eq!(human_duration(192.0), "3 min 12 s");
        assert_eq!(human_duration(7500.0), "2 h 5 min");
        assert_eq!(human_duration(90_000.0), "1 day 1 h");
        assert_eq!(human_duration(360_000.0), "4 days 4 h");
    }
}
