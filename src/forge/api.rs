//! The API of a forge over HTTP: requests with a token, redirects, waits, refusals in words.

mod client;
mod redirects;
mod refusal;
mod token;
mod waiting;

pub use client::{Answer, ApiClient, Posted};
pub use refusal::{Refused, refusal};
pub use token::Token;
