//! The order in which credentials are looked for.

use object_store::aws::AwsCredential;

use super::ini::Section;
use super::profiles::{ProfileSearch, has_keys, incomplete, refused, text};
use super::settings::{Role, WebIdentity, seconds_of};
use super::source::{Found, Inner};
use crate::error::{Error, Result};
use crate::model::Environment;

/// What was looked at and gave nothing, in this order.
type Tried = Vec<String>;

impl Inner {
    /// Looks for credentials as tofu's backend does.
    pub async fn search(&self) -> Result<Found> {
        let settings = &self.settings;
        let first = match (&settings.keys, &settings.web_identity) {
            (Some(keys), _) if keys.id.is_empty() || keys.secret.is_empty() => {
                return Err(refused("the s3 block names only half of a pair of keys")
                    .fact("expected", "`access_key` and `secret_key`")
                    .hint(
                        "better none of them: `aws_access_key_id` and `aws_secret_access_key` in the secrets",
                    ));
            }
            (Some(keys), _) => {
                let token = keys.token.as_ref().map(|token| token.to_string());
                lasting(&keys.id, &keys.secret, token)
            }
            (None, Some(identity)) => self.assume_with_token(identity).await?,
            (None, None) => self.first().await?,
        };
        match &settings.role {
            Some(role) => self.assume(role, &first.credential).await,
            None => Ok(first),
        }
    }

    async fn first(&self) -> Result<Found> {
        let settings = &self.settings;
        let mut tried = Tried::new();
        if let Some(profile) = &settings.profile {
            return self.ask_profile(profile, &mut tried).await;
        }
        if let Some(found) = keys_of(&settings.env) {
            return Ok(found);
        }
        tried.push("environment: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set".to_owned());
        if let Some(identity) = identity_of(&settings.env) {
            return self.assume_with_token(&identity).await;
        }
        tried.push("web identity: AWS_WEB_IDENTITY_TOKEN_FILE is not set".to_owned());
        let (profile, is_wanted) = settings.profile_of_environment();
        if is_wanted || self.profiles.get(profile).is_some() {
            return self.ask_profile(profile, &mut tried).await;
        }
        tried.push(format!("profile `{profile}`: not in {}", self.profiles.places()));
        self.surrounding(&mut tried).await
    }

    /// Returns what a profile gives, roles included.
    async fn ask_profile(&self, name: &str, tried: &mut Tried) -> Result<Found> {
        let ProfileSearch { roles, base: (base, section) } = self.profiles.way_of(name)?;
        let mut found = self.ask_base(base, section, tried).await?;
        // A base that is no step of the way itself may ask for a role with its own credentials.
        let is_step = roles.iter().any(|(step, _)| *step == base);
        let by_token = text(section, "web_identity_token_file").is_some();
        let own = (!is_step && !by_token).then_some((base, section));
        for (profile, section) in own.into_iter().chain(roles.into_iter().rev()) {
            if let Some(role) = role_of(profile, section)? {
                found = self.assume(&role, &found.credential).await?;
            }
        }
        Ok(found)
    }

    async fn ask_base(&self, profile: &str, section: &Section, tried: &mut Tried) -> Result<Found> {
        let has = |key: &str| text(section, key).is_some();
        if has_keys(section) {
            let value = |key: &str| text(section, key).unwrap_or_default();
            let token = text(section, "aws_session_token").map(str::to_owned);
            return Ok(lasting(value("aws_access_key_id"), value("aws_secret_access_key"), token));
        }
        if has("aws_access_key_id") {
            return Err(incomplete(profile, "aws_access_key_id", "aws_secret_access_key"));
        }
        if has("aws_secret_access_key") {
            return Err(incomplete(profile, "aws_secret_access_key", "aws_access_key_id"));
        }
        if let Some(source) = text(section, "credential_source") {
            return self.ask_named_source(profile, source, tried).await;
        }
        if let Some(file) = text(section, "web_identity_token_file") {
            let role = role_of(profile, section)?;
            let role = role.ok_or_else(|| incomplete(profile, "web_identity_token_file", "role_arn"))?;
            let identity = WebIdentity { role, token: None, token_file: Some(file.to_owned()) };
            return self.assume_with_token(&identity).await;
        }
        if has("sso_session") || has("sso_start_url") || has("sso_account_id") {
            return self.ask_sso(profile, section).await;
        }
        if has("login_session") {
            return Err(refused(format!("the AWS profile `{profile}` uses `aws login`, which infra cannot read"))
                .hint(format!(
                    "give what it holds to this shell: `eval \"$(aws configure export-credentials --profile {profile} --format env)\"`"
                )));
        }
        if let Some(command) = text(section, "credential_process") {
            return self.ask_process(profile, command).await;
        }
        tried.push(format!("profile `{profile}`: names no credentials"));
        self.surrounding(tried).await
    }

    async fn ask_named_source(&self, profile: &str, source: &str, tried: &mut Tried) -> Result<Found> {
        match source {
            "Environment" => keys_of(&self.settings.env).ok_or_else(|| {
                refused(format!(
                    "the AWS profile `{profile}` takes its keys from the environment, which has none"
                ))
                .hint("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
            }),
            "Ec2InstanceMetadata" => self.ask_machine(tried).await,
            "EcsContainer" => match self.container_address() {
                Some(address) => self.ask_container(&address).await,
                None => {
                    Err(refused(format!("the AWS profile `{profile}` is for a container, and this is none"))
                        .hint("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is set in one"))
                }
            },
            _ => Err(refused(format!("the AWS profile `{profile}` has the `credential_source` `{source}`"))
                .fact("expected", "`Environment`, `Ec2InstanceMetadata` or `EcsContainer`")),
        }
    }

    /// Returns what the container or the machine gives.
    async fn surrounding(&self, tried: &mut Tried) -> Result<Found> {
        if let Some(address) = self.container_address() {
            return self.ask_container(&address).await;
        }
        tried.push("container: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set".to_owned());
        self.ask_machine(tried).await
    }

    async fn ask_machine(&self, tried: &mut Tried) -> Result<Found> {
        match self.ask_instance().await {
            Ok(found) => Ok(found),
            Err(why) => {
                tried.push(why);
                Err(self.none(tried))
            }
        }
    }

    /// Makes the error of a search without a result.
    fn none(&self, tried: &[String]) -> Error {
        let error = refused("there are no credentials for the bucket");
        let error = tried.iter().fold(error, |error, line| error.detail(format!("tried {line}")));
        let names = self
            .profiles
            .names()
            .map(|names| format!("or choose a profile: AWS_PROFILE (there are: {names})"));
        error
            .hint("put `aws_access_key_id` and `aws_secret_access_key` into the secrets")
            .hint("or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
            .hint_if(names)
    }

    /// Returns whether something names credentials, short of asking the machine.
    pub fn is_named(&self) -> bool {
        let settings = &self.settings;
        let (profile, is_wanted) = settings.profile_of_environment();
        let profile = self.profiles.get(profile);
        let gives = ["aws_access_key_id", "role_arn", "credential_process", "sso_session", "sso_start_url"];
        settings.keys.is_some()
            || settings.profile.is_some()
            || settings.web_identity.is_some()
            || is_wanted
            || keys_of(&settings.env).is_some()
            || identity_of(&settings.env).is_some()
            || self.container_address().is_some()
            || profile.is_some_and(|section| gives.iter().any(|key| text(section, key).is_some()))
    }

    /// Returns the region of the profile that is used.
    pub fn profile_region(&self) -> Option<String> {
        let profile = self.profiles.get(self.profile())?;
        text(profile, "region").map(str::to_owned)
    }

    /// Returns where a service is, if it is not where Amazon has it.
    pub fn endpoint(&self, service: &str) -> Option<&str> {
        self.settings.endpoint(service).or_else(|| self.profiles.endpoint(self.profile(), service))
    }

    fn profile(&self) -> &str {
        let settings = &self.settings;
        settings.profile.as_deref().unwrap_or_else(|| settings.profile_of_environment().0)
    }
}

fn keys_of(env: &Environment) -> Option<Found> {
    let either = |name: &str, other: &str| env.get(name).or_else(|| env.get(other));
    let id = either("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY")?;
    let secret = either("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY")?;
    Some(lasting(id, secret, env.get("AWS_SESSION_TOKEN").map(str::to_owned)))
}

fn identity_of(env: &Environment) -> Option<WebIdentity> {
    let token_file = Some(env.get("AWS_WEB_IDENTITY_TOKEN_FILE")?.to_owned());
    let arn = env.get("AWS_ROLE_ARN").unwrap_or_default().to_owned();
    let session_name = env.get("AWS_ROLE_SESSION_NAME").map(str::to_owned);
    Some(WebIdentity { role: Role { arn, session_name, ..Role::default() }, token: None, token_file })
}

/// Returns the role of a profile, if it has one.
fn role_of(profile: &str, section: &Section) -> Result<Option<Role>> {
    let Some(arn) = text(section, "role_arn") else { return Ok(None) };
    if text(section, "mfa_serial").is_some() {
        return Err(refused(format!("the AWS profile `{profile}` asks for a code of a second factor, and nobody can be asked"))
            .detail("tofu's s3 backend cannot ask for one either")
            .hint(format!(
                "give what it holds to this shell: `eval \"$(aws configure export-credentials --profile {profile} --format env)\"`"
            )));
    }
    let value = |key: &str| text(section, key).map(str::to_owned);
    Ok(Some(Role {
        arn: arn.to_owned(),
        session_name: value("role_session_name"),
        external_id: value("external_id"),
        seconds: text(section, "duration_seconds").and_then(seconds_of),
        ..Role::default()
    }))
}

/// Returns credentials that do not end.
fn lasting(id: &str, secret: &str, token: Option<String>) -> Found {
    let credential = AwsCredential { key_id: id.to_owned(), secret_key: secret.to_owned(), token };
    Found { credential, ends: None }
}
