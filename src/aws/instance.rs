//! Credentials that a machine is given by its cloud.

use reqwest::{Client, StatusCode};

use super::query::{causes, near_client, text_of, written};
use super::source::{Found, Inner};

const ROLES: &str = "/latest/meta-data/iam/security-credentials/";

impl Inner {
    /// Asks the metadata service; why it gives nothing is a line for the list of what was tried.
    pub async fn ask_instance(&self) -> Result<Found, String> {
        let endpoint = self.settings.metadata_endpoint();
        let failed = |why: String| format!("instance metadata at `{endpoint}`: {why}");
        if self.settings.metadata_is_off() {
            return Err("instance metadata: switched off".to_owned());
        }
        let client = near_client().map_err(|error| failed(error.message().to_owned()))?;
        let token = self.metadata_token(&client, &endpoint).await.map_err(failed)?;
        let ask = async |path: &str| get(&client, &format!("{endpoint}{path}"), token.as_deref()).await;
        let roles = ask(ROLES).await.map_err(failed)?;
        let role = roles.lines().next().map(str::trim).filter(|role| !role.is_empty());
        let role = role.ok_or_else(|| failed("the machine has no role".to_owned()))?;
        let text = ask(&format!("{ROLES}{role}")).await.map_err(failed)?;
        written(text.as_bytes()).map_err(|why| failed(why.to_owned()))
    }

    /// Returns the token of version 2; `None` if only the first version is spoken and allowed.
    async fn metadata_token(&self, client: &Client, endpoint: &str) -> Result<Option<String>, String> {
        let request = client.put(format!("{endpoint}/latest/api/token"));
        let sent = request.header("x-aws-ec2-metadata-token-ttl-seconds", "300").send().await;
        let answer = sent.map_err(|error| causes(&error))?;
        let (status, env) = (answer.status(), &self.settings.env);
        let is_old =
            [StatusCode::FORBIDDEN, StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED].contains(&status);
        let may_be_old = env.get("AWS_EC2_METADATA_V1_DISABLED") != Some("true");
        match status.is_success() {
            true => text_of(answer).await.map(Some),
            false if is_old && may_be_old => Ok(None),
            false => Err(format!("it answers {status}")),
        }
    }
}

async fn get(client: &Client, address: &str, token: Option<&str>) -> Result<String, String> {
    let mut request = client.get(address);
    if let Some(token) = token {
        request = request.header("x-aws-ec2-metadata-token", token);
    }
    let answer = request.send().await.map_err(|error| causes(&error))?;
    match answer.status() {
        status if status.is_success() => text_of(answer).await,
        StatusCode::NOT_FOUND => Err("the machine has no role".to_owned()),
        status => Err(format!("it answers {status}")),
    }
}
