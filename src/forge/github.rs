//! GitHub: what only it has.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

use super::api::Token;
use crate::error::Result;

/// It takes 65,536 characters. Bytes are at least as many, so that no way of counting finds more.
pub const MOST_BYTES: usize = 65_500;

pub const PERMISSION: &str = "`pull-requests: write` (`permissions:` of the workflow)";

pub const ISSUE_PERMISSION: &str = "`issues: write` (`permissions:` of the workflow)";

pub fn authorization(token: &Token) -> Result<(HeaderName, HeaderValue)> {
    Ok((AUTHORIZATION, token.header("Bearer ")?))
}
