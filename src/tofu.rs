//! OpenTofu as this program knows it: its binary, arguments, environment, messages
//! and failures. Other modules never spell a tofu flag or match its text.

pub mod call;
pub mod environment;
pub mod hints;
pub mod messages;
pub mod variables;
