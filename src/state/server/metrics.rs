//! What a server counts, in the text format of Prometheus; no state and no user is named.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The counters of a server.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    pub failed_logins: AtomicU64,
    pub received: AtomicU64,
    pub connections: AtomicU64,
    pub unaudited: AtomicU64,
    answered: AtomicU64,
    microseconds: AtomicU64,
}

impl Metrics {
    /// Counts an answered request.
    pub fn answered(&self, action: &'static str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((action, status)).or_default() += 1;
        drop(requests);
        self.answered.fetch_add(1, Ordering::Relaxed);
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(took, Ordering::Relaxed);
    }

    /// Returns all counters as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        describe(&mut out, "infra_state_requests_total", "counter", "Requests by action and status.");
        for ((action, status), count) in self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = writeln!(
                out,
                "infra_state_requests_total{{action=\"{action}\",status=\"{status}\"}} {count}"
            );
        }
        let seconds = self.microseconds.load(Ordering::Relaxed) as f64 / 1e6;
        describe(&mut out, "infra_state_request_seconds", "summary", "The time that answers took.");
        let _ = writeln!(out, "infra_state_request_seconds_sum {seconds}");
        let _ = writeln!(out, "infra_state_request_seconds_count {}", self.answered.load(Ordering::Relaxed));
        for (name, kind, help, value) in [
            (
                "infra_state_failed_logins_total",
                "counter",
                "Logins with wrong credentials.",
                &self.failed_logins,
            ),
            ("infra_state_received_bytes_total", "counter", "Bytes of states received.", &self.received),
            (
                "infra_state_audit_lines_lost_total",
                "counter",
                "Lines of the audit log that could not be written.",
                &self.unaudited,
            ),
            ("infra_state_connections", "gauge", "Open connections.", &self.connections),
        ] {
            describe(&mut out, name, kind, help);
            let _ = writeln!(out, "{name} {}", value.load(Ordering::Relaxed));
        }
        out
    }
}

fn describe(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_help_a_type_and_a_value() {
        let metrics = Metrics::default();
        metrics.answered("write", 200, Duration::from_millis(1500));
        metrics.failed_logins.fetch_add(2, Ordering::Relaxed);

        let text = metrics.text();

        assert!(text.contains("infra_state_requests_total{action=\"write\",status=\"200\"} 1\n"), "{text}");
        assert!(text.contains("infra_state_request_seconds_sum 1.5\n"), "{text}");
        assert!(
            text.contains(
                "# TYPE infra_state_failed_logins_total counter\ninfra_state_failed_logins_total 2\n"
            )
        );
    }
}
