//! Gitea and Forgejo: what only they have.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

use super::api::Token;
use crate::error::Result;

/// They have no limit, but what stands before them often stops at a megabyte of a request, in which
/// a character may be written as two.
pub const MOST_BYTES: usize = 500_000;

pub const PERMISSION: &str = "the scope `write:issue`, and write access to the repository";

pub const ISSUE_PERMISSION: &str = PERMISSION;

pub fn authorization(token: &Token) -> Result<(HeaderName, HeaderValue)> {
    Ok((AUTHORIZATION, token.header("token ")?))
}
