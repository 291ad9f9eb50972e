//! The tokens that OpenTofu would send to a host: `TF_TOKEN_host` first, then `credentials` of its settings.
//! Never shown, never written.

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

use super::config_text::Section;
use super::host::Host;
use crate::model::Environment;

const PREFIX: &str = "TF_TOKEN_";

/// What every host may be told.
pub(super) struct Tokens {
    by_host: BTreeMap<Host, Zeroizing<String>>,
    /// Whether a program is named that knows more of them, which infra does not run.
    pub has_helper: bool,
}

impl Tokens {
    /// Collects the tokens of settings and environment.
    pub fn of(settings: &[Section], env: &Environment) -> Self {
        let blocks = settings.iter().flat_map(|file| file.all("credentials")).flat_map(|all| &all.sections);
        let from_settings =
            blocks.filter_map(|block| Some((Host::parse(&block.name)?, block.text("token")?)));
        let from_env = env.iter().filter_map(|(name, value)| {
            let host = name.to_str()?.strip_prefix(PREFIX)?.replace("__", "-").replace('_', ".");
            Some((Host::in_any_form(&host)?, value.to_str()?))
        });
        let all = from_settings.chain(from_env);
        let by_host = all.map(|(host, token)| (host, Zeroizing::new(token.to_owned()))).collect();
        let has_helper = settings.iter().any(|file| file.all("credentials_helper").next().is_some());
        Self { by_host, has_helper }
    }

    /// Returns the token for a host.
    pub fn for_host(&self, host: &Host) -> Option<&str> {
        self.by_host.get(host).map(|token| token.as_str())
    }
}

/// Shows the hosts alone.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_host.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::config_text::read;
    use super::*;

    #[test]
    fn a_variable_counts_before_the_settings_in_every_spelling_of_its_host() {
        let settings = [read("credentials \"a.example\" { token = \"old\" }\ncredentials_helper \"x\" {}")
            .ok()
            .unwrap()];
        for (name, host) in [
            ("TF_TOKEN_a_example", "a.example"),
            ("TF_TOKEN_a.example", "a.example"),
            ("TF_TOKEN_my__host_example", "my-host.example"),
            ("TF_TOKEN_xn____caf__dma_fr", "café.fr"),
            ("TF_TOKEN_xn--caf-dma.fr", "café.fr"),
            ("TF_TOKEN_localhost:8443", "localhost:8443"),
        ] {
            let tokens = Tokens::of(&settings, &Environment::default().with(name, "new"));
            assert_eq!(tokens.for_host(&Host::parse(host).unwrap()), Some("new"), "{name}");
            assert!(tokens.has_helper && !format!("{tokens:?}").contains("new"));
        }
        let tokens = Tokens::of(&settings, &Environment::default());
        assert_eq!(tokens.for_host(&Host::parse("a.example").unwrap()), Some("old"));
        assert_eq!(tokens.for_host(&Host::parse("b.example").unwrap()), None);
    }
}
