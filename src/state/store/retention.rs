//! Which versions are kept, and which entries of a log may go.
//!
//! Pure: values in, values out. The newest version is always kept, whatever the limits.

use jiff::{SignedDuration, Timestamp};

use super::log_entry::Version;

/// How many versions of a state are kept, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// So many are kept however old they are.
    pub count: usize,
    /// Younger ones are kept however many they are, up to `most`.
    pub age: SignedDuration,
    /// No more than these are kept, so that a busy state cannot fill the disk.
    pub most: usize,
}

impl Default for Retention {
    fn default() -> Self {
        Self { count: 50, age: SignedDuration::from_hours(30 * 24), most: 1000 }
    }
}

impl Retention {
    /// Returns the default limits with another count, or another number of days.
    pub fn of(count: Option<u32>, days: Option<u32>) -> Self {
        let usual = Self::default();
        let count = count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usual.count);
        let age = days.map_or(usual.age, |days| SignedDuration::from_hours(i64::from(days) * 24));
        Self { count, age, most: usual.most.max(count) }
    }

    /// Returns the versions to keep, out of versions that are oldest first.
    pub(super) fn keep(self, versions: &[Version], now: Timestamp) -> Vec<Version> {
        let newest_first = versions.iter().rev().enumerate();
        let kept = newest_first
            .take(self.most.max(1))
            .filter(|(rank, version)| *rank < self.count.max(1) || now.duration_since(version.at) < self.age);
        let mut kept: Vec<Version> = kept.map(|(_, version)| version.clone()).collect();
        kept.reverse();
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: u64, day: i64) -> Version {
        let at = Timestamp::from_second(day * 86_400).expect("a day in range");
        Version { number, at, size: 0 }
    }

    fn kept(retention: Retention, versions: &[Version], day: i64) -> Vec<u64> {
        let now = Timestamp::from_second(day * 86_400).expect("a day in range");
        retention.keep(versions, now).into_iter().map(|version| version.number).collect()
    }

    #[test]
    fn the_newest_are_kept_by_count_and_the_young_by_age() {
        let retention = Retention { count: 2, age: SignedDuration::from_hours(48), most: 10 };
        let versions = [version(1, 0), version(4, 9), version(5, 9), version(9, 9)];

        assert_eq!(kept(retention, &versions, 10), [4, 5, 9]);
        assert_eq!(kept(retention, &versions, 30), [5, 9]);
    }

    #[test]
    fn no_limit_ever_removes_the_newest_version() {
        let nothing = Retention { count: 0, age: SignedDuration::ZERO, most: 0 };

        assert_eq!(kept(nothing, &[version(1, 0), version(2, 1)], 99), [2]);
    }

    #[test]
    fn young_versions_do_not_grow_without_bound() {
        let retention = Retention { most: 3, ..Retention::default() };
        let versions: Vec<Version> = (1..=9).map(|number| version(number, 0)).collect();

        assert_eq!(kept(retention, &versions, 0), [7, 8, 9]);
    }
}
