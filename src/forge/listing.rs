//! Lists of a forge, page by page: the next page is where the forge says, and nowhere else.
//!
//! Not every forge pages every list, and one that does not ignores page numbers; so none are made
//! up, and a list that has no next page ends.

use std::collections::HashSet;

use reqwest::Url;
use reqwest::header::LINK;
use serde_json::Value;

use super::api::{Answer, ApiClient, Refused, refusal};
use crate::error::{Error, Result};

/// No list of comments or open issues is longer than this many pages.
const MOST_PAGES: usize = 500;

/// Goes through the entries of a list, until `look` has seen enough.
pub async fn each_entry(
    client: &ApiClient,
    first: Url,
    refused: &Refused<'_>,
    mut look: impl FnMut(&Value) -> Seen,
) -> Result<()> {
    let mut seen = HashSet::new();
    let mut next = Some(first);
    while let Some(url) = next {
        if seen.len() >= MOST_PAGES || !seen.insert(url.clone()) {
            return Ok(());
        }
        let answer = client.get(&url).await?;
        if !answer.status.is_success() {
            return Err(refusal(&answer, refused));
        }
        let page = answer.json();
        let entries = page.as_ref().and_then(Value::as_array).ok_or_else(|| no_list(&answer))?;
        if entries.iter().any(|entry| look(entry) == Seen::Enough) {
            return Ok(());
        }
        next = next_page(&answer);
    }
    Ok(())
}

/// Whether to go on with a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Seen {
    /// Go on.
    More,
    /// What is looked for is found.
    Enough,
}

fn no_list(answer: &Answer) -> Error {
    Error::unavailable(format!("`{}` answers with something that is no list", answer.url.path()))
        .hint("is `--api-url` the root of the API, such as `https://git.example.com/api/v1`?")
}

/// Returns where the next page is.
fn next_page(answer: &Answer) -> Option<Url> {
    // The number is right also where the address in the link is that of an inner host.
    if let Some(number) = answer.headers.get("x-next-page") {
        let number: u64 = number.to_str().ok()?.trim().parse().ok()?;
        let others = answer.url.query_pairs().filter(|(name, _)| name != "page");
        let pairs: Vec<(String, String)> =
            others.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let mut url = answer.url.clone();
        url.query_pairs_mut().clear().extend_pairs(pairs).append_pair("page", &number.to_string());
        return Some(url);
    }
    let links = answer.headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
    let address = links.flat_map(next_of_link).next()?;
    answer.url.join(address).ok()
}

/// Returns the address of `rel="next"` in `<…>; rel="next", <…>; rel="last"`.
fn next_of_link(header: &str) -> Option<&str> {
    let mut rest = header;
    while let Some((_, after)) = rest.split_once('<') {
        let (address, after) = after.split_once('>')?;
        let parameters = after.split_once(", <").map_or(after, |(parameters, _)| parameters);
        let is_next = parameters.split(';').any(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or_default();
            let mut words = value.trim().trim_matches(['"', ',', ' ']).split(' ');
            name.trim().eq_ignore_ascii_case("rel") && words.any(|word| word.eq_ignore_ascii_case("next"))
        });
        if is_next {
            return Some(address);
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_where_the_link_says() {
        let links = "<https://h/repositories/7/issues/1/comments?page=1>; rel=\"prev\", \
            <https://h/repositories/7/issues/1/comments?a=1,2&page=3>; rel=\"next\"";

        assert_eq!(next_of_link(links), Some("https://h/repositories/7/issues/1/comments?a=1,2&page=3"));
        assert_eq!(next_of_link("<https://h?page=1>; rel=\"first\""), None);
        assert_eq!(next_of_link("</x?page=2>; rel=next"), Some("/x?page=2"));
        assert_eq!(next_of_link("<broken"), None);
    }
}
