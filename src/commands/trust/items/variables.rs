//! Which variables of `env:` are set without a question.

/// Returns whether a variable only tells a value that a stack's own files could tell as well.
///
/// Everything else may decide what programs load, where they look and where they write.
pub(super) fn only_tells_a_value(name: &str) -> bool {
    const NAMES: [&str; 15] = [
        "TF_WORKSPACE",
        "TF_INPUT",
        "TF_IN_AUTOMATION",
        "TF_LOG",
        "TF_LOG_CORE",
        "TF_LOG_PROVIDER",
        "TF_REGISTRY_CLIENT_TIMEOUT",
        "TF_REGISTRY_DISCOVERY_RETRY",
        "GOGC",
        "GOMEMLIMIT",
        "GOMAXPROCS",
        "TZ",
        "LANG",
        "NO_COLOR",
        "AWS_EC2_METADATA_DISABLED",
    ];
    const PREFIXES: [&str; 5] =
        ["TF_VAR_", "TF_HTTP_RETRY_", "LC_", "AWS_REQUEST_CHECKSUM_", "AWS_RESPONSE_CHECKSUM_"];
    const SUFFIXES: [&str; 11] = [
        "_PROXY",
        "_REGION",
        "_ZONE",
        "_PROFILE",
        "_PROJECT",
        "_PROJECT_ID",
        "_TENANT_ID",
        "_SUBSCRIPTION_ID",
        "_ACCOUNT_ID",
        "_ENDPOINT",
        "_TIMEOUT",
    ];
    // Whatever they end with, these are about what programs load and where they look.
    const POWERFUL: [&str; 6] = ["LD_", "DYLD_", "GIT_", "PYTHON", "SSH_", "TF_CLI_"];
    let upper = name.to_ascii_uppercase();
    let is_name = upper.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_');
    let begins = |prefix: &&str| upper.starts_with(prefix);
    is_name
        && !POWERFUL.iter().any(begins)
        && (NAMES.contains(&upper.as_str())
            || PREFIXES.iter().any(begins)
            || SUFFIXES.iter().any(|suffix| upper.ends_with(suffix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_a_value_is_harmless_in_any_case() {
        for name in ["HTTPS_PROXY", "no_proxy", "AWS_REGION", "TF_VAR_a", "TF_WORKSPACE", "TF_LOG", "LC_ALL"]
        {
            assert!(only_tells_a_value(name), "{name}");
        }
    }

    #[test]
    fn what_loads_looks_or_writes_is_not_however_it_is_spelt() {
        for name in [
            "LD_PRELOAD",
            "PATH",
            "TF_CLI_CONFIG_FILE",
            "TF_CLI_ARGS",
            "TF_LOG_PATH",
            "TF_DATA_DIR",
            "GIT_PROXY",
            "ld_a_region",
            "TF_CLI_CONFIG_FILE=rc_PROXY",
            "TF_VAR_m=1\nLD_PRELOAD",
            "",
        ] {
            assert!(!only_tells_a_value(name), "{name}");
        }
    }
}
