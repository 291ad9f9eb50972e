//! The template language: minijinja made to behave as Jinja2 does under makejinja.

mod engine;
mod fault;
mod filters;
mod functions;
mod known_names;
mod limits;
mod python;
mod read_keys;
mod rewrite;
mod template_access;
mod undefined;

pub use engine::{Engine, STACK, Templates, add_values, on_a_large_stack, template_path};
pub use fault::{TemplateFailure, template_failure};
pub use limits::{MAX_FILE, MAX_TEXT};
pub use read_keys::{ReadKeys, Readers};
pub use rewrite::{names_in, tags_in, unclosed};
pub use template_access::TemplateAccess;
pub use undefined::missing as missing_name;
