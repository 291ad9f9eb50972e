//! Refusals of a forge in words: what may be missing, and the ways out.
//!
//! The body of an answer is looked at, but never shown: it may repeat what was sent.

use super::client::Answer;
use crate::error::{Error, Kind};

/// What was asked for, for the words of a refusal.
#[derive(Clone, Debug)]
pub struct Refused<'a> {
    /// What was to be done, such as `cannot comment`.
    pub doing: &'a str,
    /// On what, such as `pull request 7 of dana/lab`.
    pub on: String,
    /// The permission that it takes.
    pub permission: &'a str,
    /// The variable with the token.
    pub variable: &'a str,
    /// What else helps where the permission is missing.
    pub ways_out: Vec<String>,
}

/// Makes the error of an answer that is a refusal.
pub fn refusal(answer: &Answer, refused: &Refused<'_>) -> Error {
    let told = answer.json().map(|json| json.to_string().to_lowercase()).unwrap_or_default();
    let (status, Refused { doing, on, .. }) = (answer.status.as_u16(), refused);
    let error = |kind| Error::new(kind, format!("{doing} on {on}: the forge answers {}", answer.status));
    let error = match status {
        401 => no_token(error(Kind::Refused), answer, refused),
        403 if told.contains("locked") => {
            error(Kind::Refused).detail("the conversation is locked").hint("unlock it, or comment by hand")
        }
        403 => no_permission(error(Kind::Refused), refused),
        404 | 410 => error(Kind::Unavailable)
            .detail("it does not exist, or the token cannot see it")
            .hint(format!("check `--repo` and the number, and that `{}` may read there", refused.variable)),
        400 | 413 | 422 if told.contains("long") || status == 413 => {
            error(Kind::Failed).detail("the text is longer than it takes")
        }
        400 | 422 => error(Kind::Failed).detail("it does not take the text as it is"),
        300..400 => error(Kind::Unavailable)
            .detail("it redirects to where the same request cannot be sent")
            .hint("give the API's own address: `--api-url`"),
        _ => error(Kind::Unavailable).hint("is `--api-url` the root of the API?"),
    };
    match answer.elsewhere {
        true => error.detail("the request was redirected to another host, which gets no token"),
        false => error,
    }
}

fn no_token(error: Error, answer: &Answer, refused: &Refused<'_>) -> Error {
    if answer.elsewhere {
        return error.hint("give the address of that host: `--api-url`");
    }
    error
        .detail(format!("the token in `{}` is wrong, expired or revoked", refused.variable))
        .hint(format!("a new one needs {}", refused.permission))
}

fn no_permission(error: Error, refused: &Refused<'_>) -> Error {
    let error = error.detail(format!("the token in `{}` may not do that", refused.variable));
    let error = error.hint(format!("it needs {}", refused.permission));
    refused.ways_out.iter().fold(error, |error, way| error.hint(way.clone()))
}
