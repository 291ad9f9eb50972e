//! Credentials of a person who logged in with `aws sso login`: the token lies in their home.
//!
//! The token is used as it is. One that has ended is not renewed here: only the tool that wrote
//! the file may change it.

use aws_lc_rs::digest;
use jiff::Timestamp;
use object_store::aws::AwsCredential;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::ini::Section;
use super::profiles::{incomplete, refused, text};
use super::query::{address_of, causes, client, text_of};
use super::source::{Found, Inner};
use crate::error::{Error, Result};
use crate::model::hex;

/// What the cache holds for a login.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CachedToken {
    access_token: String,
    expires_at: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    role_credentials: RoleCredentials,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RoleCredentials {
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    /// In milliseconds since 1970.
    expiration: i64,
}

/// A login as a profile names it.
struct Login<'a> {
    /// What the file of its token is named after.
    key: &'a str,
    region: &'a str,
}

impl Inner {
    pub async fn ask_sso(&self, profile: &str, section: &Section) -> Result<Found> {
        let needed = |section: &'_ Section, name: &str| {
            text(section, name).map(str::to_owned).ok_or_else(|| incomplete(profile, "sso_…", name))
        };
        let (account, role) = (needed(section, "sso_account_id")?, needed(section, "sso_role_name")?);
        let login = self.login_of(profile, section)?;
        let token = self.cached_token(profile, &login)?;
        let endpoint = match self.endpoint("SSO") {
            Some(endpoint) => endpoint.trim_end_matches('/').to_owned(),
            None => address_of("portal.sso", login.region)?,
        };
        let unreachable = |why: String| {
            Error::unavailable(format!("cannot ask for the credentials of the AWS profile `{profile}`"))
                .at(&endpoint)
                .detail(why)
        };
        let address = format!("{endpoint}/federation/credentials");
        let address =
            reqwest::Url::parse_with_params(&address, [("role_name", &role), ("account_id", &account)])
                .map_err(|error| unreachable(error.to_string()))?;
        let request = client(&self.settings)?.get(address).header("x-amz-sso_bearer_token", token.as_str());
        let answer = request.send().await.map_err(|error| unreachable(causes(&error)))?;
        let status = answer.status();
        if status.is_client_error() {
            let message =
                format!("the login of the AWS profile `{profile}` gives no `{role}` in `{account}`");
            return Err(refused(message).detail(format!("it answers {status}")).hint(login_again(profile)));
        }
        let body = text_of(answer).await.map_err(unreachable)?;
        let found: Answer =
            serde_json::from_str(&body).map_err(|_| unreachable(format!("{status}, and no credentials")))?;
        Ok(found.role_credentials.into())
    }

    fn login_of<'a>(&'a self, profile: &str, section: &'a Section) -> Result<Login<'a>> {
        let needed = |section: &'a Section, name: &str| {
            text(section, name).ok_or_else(|| incomplete(profile, "sso_…", name))
        };
        match text(section, "sso_session") {
            Some(name) => {
                let session = self.profiles.session(name).ok_or_else(|| {
                    refused(format!(
                        "there is no `[sso-session {name}]`, which the AWS profile `{profile}` names"
                    ))
                    .hint(format!("make it: `aws configure sso --profile {profile}`"))
                })?;
                Ok(Login { key: name.trim(), region: needed(session, "sso_region")? })
            }
            None => {
                Ok(Login { key: needed(section, "sso_start_url")?, region: needed(section, "sso_region")? })
            }
        }
    }

    fn cached_token(&self, profile: &str, login: &Login<'_>) -> Result<Zeroizing<String>> {
        let name = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, login.key.as_bytes());
        let file = format!(".aws/sso/cache/{}.json", hex(name.as_ref()));
        let file = self.settings.home().unwrap_or_default().join(file);
        let none = |why: &str| {
            refused(format!("the AWS profile `{profile}` is not logged in"))
                .detail(why)
                .hint(login_again(profile))
        };
        let bytes = std::fs::read(&file).map_err(|_| none(&format!("there is no `{}`", file.display())))?;
        let token: CachedToken = serde_json::from_slice(&bytes)
            .map_err(|_| none(&format!("`{}` holds no token", file.display())))?;
        let ends = token.expires_at.replace("UTC", "Z").parse::<Timestamp>();
        match ends {
            Ok(ends) if ends > self.clock.now() => Ok(Zeroizing::new(token.access_token)),
            Ok(ends) => Err(none(&format!("the login ended {}", ends.strftime("%Y-%m-%d %H:%M UTC")))),
            Err(_) => Err(none(&format!("`{}` does not say how long it holds", file.display()))),
        }
    }
}

fn login_again(profile: &str) -> String {
    format!("log in: `aws sso login --profile {profile}`")
}

impl From<RoleCredentials> for Found {
    fn from(all: RoleCredentials) -> Self {
        let ends = Timestamp::from_millisecond(all.expiration).ok();
        let token = all.session_token.filter(|token| !token.is_empty());
        let credential =
            AwsCredential { key_id: all.access_key_id, secret_key: all.secret_access_key, token };
        Self { credential, ends }
    }
}
