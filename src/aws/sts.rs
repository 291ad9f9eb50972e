//! Roles: temporary credentials of the security token service.

use object_store::aws::AwsCredential;

use super::profiles::refused;
use super::query::{address_of, client, post, text_of};
use super::settings::{Role, WebIdentity};
use super::source::{Found, Inner};
use crate::error::{Error, Result, io};

const FORM: &str = "application/x-www-form-urlencoded";

impl Inner {
    /// Takes a role with credentials that are there.
    pub async fn assume(&self, role: &Role, with: &AwsCredential) -> Result<Found> {
        let form = form(role, "AssumeRole", self.clock.now().as_second());
        self.ask_sts(role, form, Some(with)).await
    }

    /// Takes a role with a token that somebody else gave.
    pub async fn assume_with_token(&self, identity: &WebIdentity) -> Result<Found> {
        let token = match (&identity.token, &identity.token_file) {
            (Some(token), _) => token.to_string(),
            (None, Some(file)) => {
                let file = self.settings.path(file);
                std::fs::read_to_string(&file).map_err(io("read the web identity token in", &file))?
            }
            (None, None) => {
                return Err(refused(format!("the role `{}` has no web identity token", identity.role.arn))
                    .hint("name its file: `web_identity_token_file`, or AWS_WEB_IDENTITY_TOKEN_FILE"));
            }
        };
        let mut form = form(&identity.role, "AssumeRoleWithWebIdentity", self.clock.now().as_second());
        form.push(("WebIdentityToken".to_owned(), token.trim().to_owned()));
        self.ask_sts(&identity.role, form, None).await
    }

    async fn ask_sts(
        &self,
        role: &Role,
        form: Vec<(String, String)>,
        signer: Option<&AwsCredential>,
    ) -> Result<Found> {
        let region = self.sts_region();
        let endpoint = match self.endpoint("STS") {
            Some(endpoint) => endpoint.to_owned(),
            None => address_of("sts", &region)?,
        };
        let unreachable = |why: String| {
            Error::unavailable(format!("cannot take the role `{}`", role.arn)).at(&endpoint).detail(why)
        };
        let client = client(&self.settings)?;
        let signer = signer.map(|credential| (credential, "sts", region.as_str()));
        let sent = post(&client, &endpoint, (FORM, encoded(&form)), signer).await;
        let answer = sent.map_err(unreachable)?;
        let status = answer.status();
        let text = text_of(answer).await.map_err(unreachable)?;
        if status.is_success() {
            return found_in(&text).ok_or_else(|| unreachable("the answer holds no credentials".to_owned()));
        }
        let said = element(&text, "Message").unwrap_or_default();
        if status.is_server_error() {
            return Err(unreachable(format!("{status} {said}")));
        }
        let code = element(&text, "Code").unwrap_or_else(|| status.to_string());
        Err(refused(format!("the role `{}` is not given to these credentials", role.arn))
            .at(&endpoint)
            .detail(format!("{code}: {said}"))
            .hint("whoever asks needs `sts:AssumeRole` for it, and the role must trust them"))
    }

    fn sts_region(&self) -> String {
        let own = self.settings.sts_region().map(str::to_owned);
        own.or_else(|| self.profile_region()).unwrap_or_else(|| "us-east-1".to_owned())
    }
}

fn form(role: &Role, action: &str, now: i64) -> Vec<(String, String)> {
    let session = role.session_name.clone().unwrap_or_else(|| format!("infra-{now}"));
    let mut form = vec![
        ("Action".to_owned(), action.to_owned()),
        ("Version".to_owned(), "2011-06-15".to_owned()),
        ("RoleArn".to_owned(), role.arn.clone()),
        ("RoleSessionName".to_owned(), session),
    ];
    let mut add = |name: String, value: Option<String>| form.extend(value.map(|value| (name, value)));
    add("DurationSeconds".to_owned(), role.seconds.map(|seconds| seconds.to_string()));
    add("ExternalId".to_owned(), role.external_id.clone());
    add("Policy".to_owned(), role.policy.clone());
    for (number, arn) in (1..).zip(&role.policy_arns) {
        add(format!("PolicyArns.member.{number}.arn"), Some(arn.clone()));
    }
    for (number, (key, value)) in (1..).zip(&role.tags) {
        add(format!("Tags.member.{number}.Key"), Some(key.clone()));
        add(format!("Tags.member.{number}.Value"), Some(value.clone()));
    }
    for (number, key) in (1..).zip(&role.transitive_tag_keys) {
        add(format!("TransitiveTagKeys.member.{number}"), Some(key.clone()));
    }
    form
}

fn encoded(form: &[(String, String)]) -> String {
    let mut url = reqwest::Url::parse("http://form/").ok();
    if let Some(url) = &mut url {
        url.query_pairs_mut().extend_pairs(form);
    }
    url.and_then(|url| url.query().map(str::to_owned)).unwrap_or_default()
}

fn found_in(xml: &str) -> Option<Found> {
    let (_, credentials) = xml.split_once("<Credentials>")?;
    let credential = AwsCredential {
        key_id: element(credentials, "AccessKeyId")?,
        secret_key: element(credentials, "SecretAccessKey")?,
        token: element(credentials, "SessionToken"),
    };
    let ends = element(credentials, "Expiration").and_then(|text| text.parse().ok());
    Some(Found { credential, ends })
}

/// Returns the text of the first element of this name.
fn element(xml: &str, name: &str) -> Option<String> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    let signs =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    Some(signs.iter().fold(text.trim().to_owned(), |text, (coded, sign)| text.replace(coded, sign)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_asked_for_with_everything_that_is_said_of_it() {
        let role = Role {
            arn: "arn:aws:iam::1:role/a b".to_owned(),
            seconds: Some(900),
            tags: vec![("k".to_owned(), "v&".to_owned())],
            ..Role::default()
        };

        assert_eq!(
            encoded(&form(&role, "AssumeRole", 7)),
            "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa+b&RoleSessionName=infra-7\
             &DurationSeconds=900&Tags.member.1.Key=k&Tags.member.1.Value=v%26"
        );
    }

    #[test]
    fn the_answer_is_read() {
        let xml = "<R><Credentials><AccessKeyId>a</AccessKeyId><SecretAccessKey>b&amp;c</SecretAccessKey>\
                   <SessionToken>t</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration></Credentials></R>";

        let found = found_in(xml).expect("credentials");

        assert_eq!((found.credential.secret_key.as_str(), found.ends.is_some()), ("b&c", true));
        assert!(found_in("<R/>").is_none());
    }
}
