//! The environment a tofu child gets: the inherited one, made safe to automate.
//!
//! Variables that would silently change what a command does are dropped; those that
//! every run needs are added. Returns a value and what a person should be told about it.

use std::path::Path;

use crate::model::Environment;

/// Inherited variables that change commands behind the user's back.
const DROPPED: [&str; 2] = ["TF_WORKSPACE", "TF_REATTACH_PROVIDERS"];
const DROPPED_PREFIXES: [&str; 2] = ["TF_CLI_ARGS", "TF_LOG"];

/// Inherited variables of the http backend; the stack's own backend decides instead.
const HTTP_PREFIX: &str = "TF_HTTP_";

/// Settings that every run exports, whatever was inherited.
const EXPORTED: [(&str, &str); 4] = [
    ("TF_IN_AUTOMATION", "1"),
    ("TF_INPUT", "0"),
    // R2, MinIO and Scaleway refuse the checksums that newer AWS clients send unasked.
    ("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required"),
    ("AWS_RESPONSE_CHECKSUM_VALIDATION", "when_required"),
];

/// With this much memory for itself a tofu or a provider may leave its garbage for longer; with less it
/// would only collect all the time.
const PLENTY: u64 = 256 << 20;

/// The environment for tofu and what is worth a warning about the inherited one.
#[derive(Debug)]
pub struct ChildEnvironment {
    /// What the child gets.
    pub env: Environment,
    /// One line for each thing that was dropped although the user may want it.
    pub warnings: Vec<String>,
}

/// Turns the inherited environment into the one for tofu.
pub fn child_environment(inherited: &Environment) -> ChildEnvironment {
    let mut env = inherited.clone();
    env.remove_where(is_dropped);
    let warnings = drop_missing_cli_config(&mut env).into_iter().collect();
    for (name, value) in EXPORTED {
        env.set(name, value);
    }
    ChildEnvironment { env, warnings }
}

/// Lets tofu and its providers collect garbage less often where memory is plentiful.
///
/// A tofu call lives for a moment and keeps a few megabytes, yet the Go runtime stops to
/// collect each time they double. The soft limit keeps all that run at once, `processes` of
/// them with their providers, below half of the free memory. A user who has set either knows
/// better.
#[must_use]
pub fn with_rare_collection(env: Environment, free_memory: Option<u64>, processes: usize) -> Environment {
    let decided = ["GOGC", "GOMEMLIMIT"].iter().any(|name| env.get(name).is_some());
    let processes = u64::try_from(processes.max(1)).unwrap_or(u64::MAX);
    match free_memory.map(|free| free / 2 / processes) {
        Some(share) if share >= PLENTY && !decided => {
            env.with("GOGC", "800").with("GOMEMLIMIT", share.to_string())
        }
        _ => env,
    }
}

/// Returns the environment for a stack whose state this program serves.
#[must_use]
pub fn with_http_backend<'a>(
    mut env: Environment,
    settings: impl IntoIterator<Item = (&'a str, String)>,
) -> Environment {
    env.remove_where(|name| name.starts_with(HTTP_PREFIX));
    for (name, value) in settings {
        env.set(name, value);
    }
    env
}

fn is_dropped(name: &str) -> bool {
    DROPPED.contains(&name) || DROPPED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// tofu warns on every single call about a configuration file that is not there; once is enough.
fn drop_missing_cli_config(env: &mut Environment) -> Option<String> {
    const NAME: &str = "TF_CLI_CONFIG_FILE";
    let file = env.path(NAME)?;
    if Path::new(&file).exists() {
        return None;
    }
    env.remove_where(|name| name == NAME);
    Some(format!("{NAME} names `{}`, which does not exist; ignored", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(env: &Environment) -> Vec<&str> {
        env.iter().filter_map(|(name, _)| name.to_str()).collect()
    }

    #[test]
    fn what_changes_commands_unseen_is_not_inherited() {
        let inherited = Environment::default()
            .with("TF_CLI_ARGS_plan", "-destroy")
            .with("TF_LOG_PATH", "/x")
            .with("TF_WORKSPACE", "prod")
            .with("TF_REATTACH_PROVIDERS", "{}")
            .with("TF_VAR_name", "kept");

        let child = child_environment(&inherited).env;

        assert_eq!(child.get("TF_VAR_name"), Some("kept"));
        assert_eq!(names(&child).iter().filter(|name| name.starts_with("TF_")).count(), 3);
    }

    #[test]
    fn the_checksum_settings_of_bucket_stores_are_always_there() {
        let child = child_environment(&Environment::default()).env;

        assert_eq!(child.get("AWS_REQUEST_CHECKSUM_CALCULATION"), Some("when_required"));
        assert_eq!(child.get("AWS_RESPONSE_CHECKSUM_VALIDATION"), Some("when_required"));
    }

    #[test]
    fn a_missing_cli_configuration_is_dropped_with_one_warning() {
        let missing = Environment::default().with("TF_CLI_CONFIG_FILE", "/nonexistent/tofurc");
        let present = Environment::default().with("TF_CLI_CONFIG_FILE", "/");

        let dropped = child_environment(&missing);

        assert_eq!(dropped.env.get("TF_CLI_CONFIG_FILE"), None);
        assert_eq!(dropped.warnings.len(), 1);
        assert_eq!(child_environment(&present).env.get("TF_CLI_CONFIG_FILE"), Some("/"));
    }

    #[test]
    fn garbage_is_collected_rarely_only_where_memory_is_plentiful_and_nobody_decided() {
        let with = |env: Environment, free| with_rare_collection(env, free, 2);
        let own = Environment::default().with("GOMEMLIMIT", "1GiB");

        assert_eq!(with(Environment::default(), Some(8 << 30)).get("GOMEMLIMIT"), Some("2147483648"));
        assert_eq!(with(Environment::default(), Some(8 << 30)).get("GOGC"), Some("800"));
        assert_eq!(with(Environment::default(), Some(1 << 29)).get("GOGC"), None);
        assert_eq!(with(Environment::default(), None).get("GOGC"), None);
        assert_eq!(with(own, Some(8 << 30)).get("GOGC"), None);
    }

    #[test]
    fn all_that_runs_at_once_shares_half_of_the_free_memory() {
        let limit = |processes| {
            let env = with_rare_collection(Environment::default(), Some(8 << 30), processes);
            env.get("GOMEMLIMIT").and_then(|limit| limit.parse::<u64>().ok())
        };

        for processes in [1, 2, 4, 10, 16] {
            let sum = limit(processes).expect("enough for each") * processes as u64;
            assert!(sum <= 4 << 30 && sum > 4_000_000_000, "{processes} take {sum}");
        }
        assert_eq!((limit(17), limit(usize::MAX)), (None, None));
        assert_eq!(limit(0), limit(1));
    }

    #[test]
    fn an_inherited_http_setting_cannot_reach_a_served_stack() {
        let inherited = Environment::default().with("TF_HTTP_UPDATE_METHOD", "PATCH");

        let env = with_http_backend(inherited, [("TF_HTTP_ADDRESS", "http://x".to_owned())]);

        assert_eq!(env.get("TF_HTTP_UPDATE_METHOD"), None);
        assert_eq!(env.get("TF_HTTP_ADDRESS"), Some("http://x"));
    }
}
