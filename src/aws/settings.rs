//! What decides who asks: the settings of a backend block, and the environment around it.

use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::model::{Backend, Environment, Fingerprint};

/// Names of variables that say something about who asks begin with it.
const FAMILY: &str = "AWS_";

/// Where credentials are looked for.
#[derive(Clone, Debug, Default)]
pub struct AwsSettings {
    /// What tofu would be given; relative paths begin at `dir`.
    pub(super) env: Environment,
    pub(super) dir: PathBuf,
    /// The keys of the block.
    pub(super) keys: Option<BlockKeys>,
    pub(super) profile: Option<String>,
    config_files: Vec<String>,
    credentials_files: Vec<String>,
    region: Option<String>,
    sts_region: Option<String>,
    sts_endpoint: Option<String>,
    /// The role that is taken at last.
    pub(super) role: Option<Role>,
    pub(super) web_identity: Option<WebIdentity>,
    metadata_is_off: Option<bool>,
    metadata_endpoint: Option<String>,
    ca: Option<String>,
    has_profiles: bool,
}

/// Keys as a block names them.
#[derive(Clone, Default)]
pub(super) struct BlockKeys {
    pub id: String,
    pub secret: Zeroizing<String>,
    pub token: Option<Zeroizing<String>>,
}

impl std::fmt::Debug for BlockKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockKeys").finish_non_exhaustive()
    }
}

/// A role to take.
#[derive(Clone, Debug, Default)]
pub(super) struct Role {
    pub arn: String,
    pub session_name: Option<String>,
    pub external_id: Option<String>,
    pub seconds: Option<u64>,
    pub policy: Option<String>,
    pub policy_arns: Vec<String>,
    pub tags: Vec<(String, String)>,
    pub transitive_tag_keys: Vec<String>,
}

/// A role that is taken with a token of somebody else.
#[derive(Clone, Debug, Default)]
pub(super) struct WebIdentity {
    pub role: Role,
    pub token: Option<Zeroizing<String>>,
    pub token_file: Option<String>,
}

impl AwsSettings {
    /// Returns the settings where nothing but the environment says who asks.
    pub fn of_environment(env: &Environment, dir: &Path) -> Self {
        Self { env: env.clone(), dir: dir.to_owned(), has_profiles: true, ..Self::default() }
    }

    /// Returns the settings of an `s3` block.
    pub fn of_block(backend: &Backend, env: &Environment, dir: &Path) -> Self {
        let text = |name: &str| backend.attribute(name).filter(|value| !value.is_empty()).map(str::to_owned);
        let either = |name: &str, other: &str| text(name).or_else(|| text(other));
        let one_file = text("shared_credentials_file").into_iter().collect();
        let credentials_files = some_or(listed(backend, "shared_credentials_files"), one_file);
        Self {
            keys: block_keys(backend),
            profile: text("profile"),
            config_files: listed(backend, "shared_config_files"),
            credentials_files,
            region: text("region"),
            sts_region: text("sts_region"),
            sts_endpoint: either("endpoints.sts", "sts_endpoint"),
            role: role(backend),
            web_identity: web_identity(backend),
            metadata_is_off: text("skip_metadata_api_check").map(|value| value == "true"),
            metadata_endpoint: text("ec2_metadata_service_endpoint"),
            ca: text("custom_ca_bundle"),
            ..Self::of_environment(env, dir)
        }
    }

    /// Returns the settings without profiles: what is left is the environment, the container, the machine.
    #[must_use]
    pub(crate) fn without_profiles(mut self) -> Self {
        self.has_profiles = false;
        self
    }

    /// Returns the files of profiles: configs, then credentials.
    pub fn files(&self) -> [Vec<PathBuf>; 2] {
        if !self.has_profiles {
            return [Vec::new(), Vec::new()];
        }
        let of = |named: &[String], variables: &[&str], usual: &str| {
            let given = variables.iter().find_map(|name| self.env.get(name)).map(str::to_owned);
            let named = if named.is_empty() { given.into_iter().collect() } else { named.to_vec() };
            match named.is_empty() {
                true => self.home().map(|home| home.join(usual)).into_iter().collect(),
                false => named.iter().map(|path| self.path(path)).collect::<Vec<_>>(),
            }
        };
        [
            // The first is a habit of the backend alone, the second of all tools.
            of(&self.config_files, &["AWS_SHARED_CONFIG_FILE", "AWS_CONFIG_FILE"], ".aws/config"),
            of(&self.credentials_files, &["AWS_SHARED_CREDENTIALS_FILE"], ".aws/credentials"),
        ]
    }

    pub(super) fn home(&self) -> Option<PathBuf> {
        self.env.path("HOME")
    }

    /// Returns a path as tofu understands it: below the stack, with `~` and variables filled in.
    pub(super) fn path(&self, text: &str) -> PathBuf {
        let text = filled_in(text, &self.env);
        match (text.strip_prefix('~').map(|rest| rest.trim_start_matches('/')), self.home()) {
            (Some(rest), Some(home)) if text == "~" || text.starts_with("~/") => home.join(rest),
            _ => self.dir.join(text),
        }
    }

    /// Returns the name of the profile, and whether somebody asked for it.
    pub(super) fn profile_of_environment(&self) -> (&str, bool) {
        let named = self.env.get("AWS_PROFILE").or_else(|| self.env.get("AWS_DEFAULT_PROFILE"));
        let named = named.filter(|_| self.has_profiles);
        named.map_or(("default", false), |name| (name, true))
    }

    /// Returns the region, as far as the profile does not say it.
    pub(super) fn region(&self) -> Option<&str> {
        let given = self.region.as_deref().or_else(|| self.env.get("AWS_REGION"));
        given.or_else(|| self.env.get("AWS_DEFAULT_REGION"))
    }

    pub(super) fn sts_region(&self) -> Option<&str> {
        self.sts_region.as_deref().or_else(|| self.region())
    }

    /// Returns where a service is, if it is not where Amazon has it.
    pub(super) fn endpoint(&self, service: &str) -> Option<&str> {
        let own = self.sts_endpoint.as_deref().filter(|_| service == "STS");
        let own = own.or_else(|| self.env.get(&format!("AWS_ENDPOINT_URL_{service}")));
        let old = || self.env.get(&format!("AWS_{service}_ENDPOINT"));
        own.or_else(old).or_else(|| self.env.get("AWS_ENDPOINT_URL"))
    }

    pub(super) fn metadata_is_off(&self) -> bool {
        let disabled =
            || self.env.get("AWS_EC2_METADATA_DISABLED").is_some_and(|v| v.eq_ignore_ascii_case("true"));
        self.metadata_is_off.unwrap_or_else(disabled)
    }

    pub(super) fn metadata_endpoint(&self) -> String {
        let mode = self.env.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE");
        let usual = match mode.is_some_and(|mode| mode.eq_ignore_ascii_case("ipv6")) {
            true => "http://[fd00:ec2::254]",
            false => "http://169.254.169.254",
        };
        let given = self.metadata_endpoint.as_deref();
        let given = given.or_else(|| self.env.get("AWS_EC2_METADATA_SERVICE_ENDPOINT"));
        given.or_else(|| self.env.get("AWS_METADATA_URL")).unwrap_or(usual).trim_end_matches('/').to_owned()
    }

    /// Returns the file with the certificates of whoever signs for a company's own servers.
    pub fn ca(&self) -> Option<PathBuf> {
        self.ca.as_deref().or_else(|| self.env.get("AWS_CA_BUNDLE")).map(|path| self.path(path))
    }

    /// Returns what tells these settings from others, without telling them.
    pub(super) fn fingerprint(&self) -> String {
        // Stacks in several folders that name the same files ask once.
        let bare = Self { env: Environment::default(), dir: PathBuf::new(), ..self.clone() };
        let token = self.web_identity.as_ref().and_then(|identity| identity.token_file.as_deref());
        let token = token.or_else(|| self.env.get("AWS_WEB_IDENTITY_TOKEN_FILE")).map(|path| self.path(path));
        let paths = (self.files(), self.ca(), token);
        let keys = self.keys.as_ref();
        let mut parts = vec![format!("{bare:?}{paths:?}").into_bytes()];
        parts.extend(keys.map(|keys| [keys.id.as_bytes(), keys.secret.as_bytes()].concat()));
        parts.extend(keys.and_then(|keys| keys.token.as_ref()).map(|token| token.as_bytes().to_vec()));
        for (name, value) in self.env.iter() {
            let counts = name.to_str().is_some_and(|name| name.starts_with(FAMILY) || name == "HOME");
            if counts {
                parts.push([name.as_encoded_bytes(), b"=", value.as_encoded_bytes()].concat());
            }
        }
        Fingerprint::of(parts.iter().map(Vec::as_slice)).to_string()
    }
}

/// Returns the texts of a list.
fn listed(backend: &Backend, name: &str) -> Vec<String> {
    let at = |number: usize| backend.attribute(&format!("{name}.{number}")).map(str::to_owned);
    (0..).map_while(at).collect()
}

fn some_or(one: Vec<String>, other: Vec<String>) -> Vec<String> {
    if one.is_empty() { other } else { one }
}

fn block_keys(backend: &Backend) -> Option<BlockKeys> {
    let text = |name: &str| backend.attribute(name).filter(|value| !value.is_empty()).map(str::to_owned);
    let (id, secret, token) = (text("access_key"), text("secret_key"), text("token"));
    let is_given = id.is_some() || secret.is_some() || token.is_some();
    is_given.then(|| BlockKeys {
        id: id.unwrap_or_default(),
        secret: Zeroizing::new(secret.unwrap_or_default()),
        token: token.map(Zeroizing::new),
    })
}

/// Returns the role of `assume_role`, or of the older attributes.
fn role(backend: &Backend) -> Option<Role> {
    let nested = role_below(backend, "assume_role.", "");
    nested.or_else(|| {
        let names = Role { arn: backend.attribute("role_arn")?.to_owned(), ..Role::default() };
        let old = role_below(backend, "", "assume_role_").unwrap_or(names);
        let text = |name: &str| backend.attribute(name).map(str::to_owned);
        Some(Role { session_name: text("session_name"), external_id: text("external_id"), ..old })
    })
}

/// Returns the role whose settings have this beginning; the older ones have another for what came later.
fn role_below(backend: &Backend, prefix: &str, later: &str) -> Option<Role> {
    let text = |name: &str| {
        let value = backend.attribute(&format!("{prefix}{name}"));
        value.filter(|value| !value.is_empty()).map(str::to_owned)
    };
    let of = |name: &str| text(&format!("{later}{name}"));
    let seconds = of("duration").or_else(|| of("duration_seconds"));
    let list = |name: &str| listed(backend, &format!("{prefix}{later}{name}"));
    Some(Role {
        arn: text("role_arn")?,
        session_name: text("session_name"),
        external_id: text("external_id"),
        seconds: seconds.as_deref().and_then(seconds_of),
        policy: of("policy"),
        policy_arns: list("policy_arns"),
        tags: pairs(backend, &format!("{prefix}{later}tags.")),
        transitive_tag_keys: list("transitive_tag_keys"),
    })
}

fn web_identity(backend: &Backend) -> Option<WebIdentity> {
    const PREFIX: &str = "assume_role_with_web_identity.";
    let role = role_below(backend, PREFIX, "")?;
    let text = |name: &str| backend.attribute(&format!("{PREFIX}{name}")).map(str::to_owned);
    Some(WebIdentity {
        role,
        token: text("web_identity_token").map(Zeroizing::new),
        token_file: text("web_identity_token_file"),
    })
}

fn pairs(backend: &Backend, prefix: &str) -> Vec<(String, String)> {
    let Backend::Configured { attributes, .. } = backend else { return Vec::new() };
    let pair = |(name, value): (&String, &Option<String>)| {
        Some((name.strip_prefix(prefix)?.to_owned(), value.clone()?))
    };
    attributes.iter().filter_map(pair).collect()
}

/// Reads seconds, or a time such as `1h30m`.
pub(super) fn seconds_of(text: &str) -> Option<u64> {
    if let Ok(seconds) = text.parse() {
        return Some(seconds);
    }
    let (mut total, mut number) = (0u64, String::new());
    for sign in text.chars() {
        let unit = match sign {
            '0'..='9' => {
                number.push(sign);
                continue;
            }
            'h' => 3600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        let count: u64 = std::mem::take(&mut number).parse().ok()?;
        total = total.checked_add(count.checked_mul(unit)?)?;
    }
    number.is_empty().then_some(total)
}

/// Fills in `$NAME` and `${NAME}`, as the backend does for the paths of its files.
fn filled_in(text: &str, env: &Environment) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        filled.push_str(before);
        let (name, after) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, after)) => (name, after),
            None => {
                let is_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
                after.split_at(after.find(|sign| !is_name(sign)).unwrap_or(after.len()))
            }
        };
        filled.push_str(env.get(name).unwrap_or_default());
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(attributes: &[(&str, &str)]) -> Backend {
        let attributes = attributes.iter().map(|(name, value)| ((*name).into(), Some((*value).into())));
        Backend::Configured { kind: "s3".into(), attributes: attributes.collect() }
    }

    #[test]
    fn files_are_those_of_the_block_of_the_environment_or_of_the_home() {
        let env = Environment::default().with("HOME", "/h").with("X", "x");
        let files = |attributes: &[(&str, &str)], env: &Environment| {
            AwsSettings::of_block(&block(attributes), env, Path::new("/lab/a")).files().concat()
        };

        assert_eq!(files(&[], &env), [PathBuf::from("/h/.aws/config"), "/h/.aws/credentials".into()]);
        let set = env.clone().with("AWS_CONFIG_FILE", "/c").with("AWS_SHARED_CREDENTIALS_FILE", "~/k");
        assert_eq!(files(&[], &set), [PathBuf::from("/c"), "/h/k".into()]);
        let named = [
            ("shared_config_files.0", "../$X/c"),
            ("shared_config_files.1", "${X}d"),
            ("shared_credentials_file", "k"),
        ];
        assert_eq!(
            files(&named, &set),
            [PathBuf::from("/lab/a/../x/c"), "/lab/a/xd".into(), "/lab/a/k".into()]
        );
    }

    #[test]
    fn a_role_is_read_in_both_forms() {
        let new = block(&[
            ("assume_role.role_arn", "r"),
            ("assume_role.duration", "1h30m"),
            ("assume_role.tags.a", "b"),
        ]);
        let old = block(&[
            ("role_arn", "r"),
            ("assume_role_duration_seconds", "900"),
            ("external_id", "x"),
            ("assume_role_policy_arns.0", "p"),
        ]);
        let role = |backend| {
            AwsSettings::of_block(backend, &Environment::default(), Path::new("/")).role.expect("a role")
        };

        assert_eq!((role(&new).seconds, role(&new).tags), (Some(5400), vec![("a".into(), "b".into())]));
        assert_eq!((role(&old).seconds, role(&old).external_id.as_deref()), (Some(900), Some("x")));
        assert_eq!(role(&old).policy_arns, ["p"]);
    }

    #[test]
    fn settings_are_told_apart_and_keys_are_never_shown() {
        let of = |secret: &str| {
            let keys = [("access_key", "id"), ("secret_key", secret)];
            AwsSettings::of_block(&block(&keys), &Environment::default(), Path::new("/"))
        };

        assert_ne!(of("hunter2").fingerprint(), of("other").fingerprint());
        assert!(!format!("{:?}", of("hunter2")).contains("hunter2"));
    }
}
