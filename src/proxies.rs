//! The proxies that an environment names, for every client that reaches beyond this machine.

use reqwest::{NoProxy, Proxy};

use crate::error::{Error, Result};
use crate::model::Environment;

/// Returns the proxies of an environment, in lower or upper case as is the custom.
pub fn proxies(env: &Environment) -> Result<Vec<Proxy>> {
    let get = |name: &str| env.get(name).or_else(|| env.get(&name.to_lowercase()));
    let except = get("NO_PROXY").and_then(NoProxy::from_string);
    let made = [
        ("HTTPS_PROXY", get("HTTPS_PROXY").map(Proxy::https)),
        ("HTTP_PROXY", get("HTTP_PROXY").map(Proxy::http)),
        ("ALL_PROXY", get("ALL_PROXY").map(Proxy::all)),
    ];
    let set = made.into_iter().filter_map(|(name, proxy)| Some((name, proxy?)));
    set.map(|(name, proxy)| match proxy {
        Ok(proxy) => Ok(proxy.no_proxy(except.clone())),
        Err(error) => Err(Error::invalid(format!("`{name}` in the environment is no proxy")).because(error)),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_that_is_none_names_its_variable() {
        let env = Environment::default().with("https_proxy", "http://[");

        let error = proxies(&env).expect_err("it is no URL");

        assert!(error.message().contains("HTTPS_PROXY"), "{error}");
    }
}
