//! GitLab: what only it has.

use reqwest::header::{HeaderName, HeaderValue};

use super::api::Token;
use crate::error::Result;

/// It takes about 1,000,000 characters.
pub const MOST_BYTES: usize = 900_000;

pub const PERMISSION: &str = "the scope `api` and the role Reporter or more";

pub fn authorization(token: &Token) -> Result<(HeaderName, HeaderValue)> {
    Ok((HeaderName::from_static("private-token"), token.header("")?))
}
