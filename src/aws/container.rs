//! Credentials that a container is given by what runs it.

use reqwest::Url;

use super::profiles::refused;
use super::query::{causes, client, near_client, text_of, written};
use super::source::{Found, Inner};
use crate::error::{Error, Result, io};

/// Where the agent of a task answers.
const AGENT: &str = "http://169.254.170.2";

/// Hosts that may be asked without encryption: the agents of tasks and pods, and this machine.
const NEAR_HOSTS: [&str; 4] = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "localhost"];

impl Inner {
    /// Returns the address that the environment names.
    pub fn container_address(&self) -> Option<String> {
        let env = &self.settings.env;
        let relative = env.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map(|path| format!("{AGENT}{path}"));
        relative.or_else(|| env.get("AWS_CONTAINER_CREDENTIALS_FULL_URI").map(str::to_owned))
    }

    pub async fn ask_container(&self, address: &str) -> Result<Found> {
        let url = checked(address)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let failed = |why: &str| {
            Error::unavailable(format!("the container's credentials cannot be had from `{host}`"))
                .detail(why)
                .hint("the address is AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI")
        };
        let client = if url.scheme() == "http" { near_client()? } else { client(&self.settings)? };
        let mut request = client.get(url);
        if let Some(token) = self.container_token()? {
            request = request.header("authorization", token);
        }
        let answer = request.send().await.map_err(|error| failed(&causes(&error)))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(failed(&format!("it answers {status}")));
        }
        let text = text_of(answer).await.map_err(|why| failed(&why))?;
        written(text.as_bytes()).map_err(failed)
    }

    fn container_token(&self) -> Result<Option<String>> {
        let env = &self.settings.env;
        let Some(file) = env.path("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") else {
            return Ok(env.get("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(str::to_owned));
        };
        let token = std::fs::read_to_string(&file).map_err(io("read", &file))?;
        Ok(Some(token.trim().to_owned()))
    }
}

/// Refuses to send a token in the clear to anybody but this machine.
fn checked(address: &str) -> Result<Url> {
    let url = Url::parse(address).ok().filter(|url| url.host_str().is_some());
    let refuse = || {
        refused("AWS_CONTAINER_CREDENTIALS_FULL_URI is no address that may be asked")
            .fact("expected", "`https://…`, or `http://` of this machine")
    };
    let url = url.ok_or_else(refuse)?;
    let host = url.host_str().unwrap_or_default();
    let is_loopback =
        host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback || NEAR_HOSTS.contains(&host) => Ok(url),
        _ => Err(refuse()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_asked_in_the_clear() {
        for good in [
            "https://x.example/c",
            "http://127.0.0.1:9/c",
            "http://[::1]/c",
            "http://169.254.170.23/c",
            "http://localhost/",
        ] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in [
            "http://x.example/c",
            "http://169.254.169.254/c",
            "ftp://127.0.0.1/",
            "no",
            "http://127.0.0.1.example/",
        ] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
