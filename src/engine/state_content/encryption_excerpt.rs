//! What a file of a stack says about encryption, or about its backend too, and the variables and local
//! values that it may refer to; without anything else, so that tofu needs no provider and no module for it.
//!
//! Text in, text out. Begin at [`excerpt`].

use std::path::Path;

use crate::error::{Error, Result};
use crate::syntax;
use crate::syntax::{Block, JsonNode, read_json};

/// What of the blocks in `terraform` stays.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kept {
    /// How states are encrypted.
    Encryption,
    /// And where they lie.
    Backend,
}

impl Kept {
    const fn blocks(self) -> &'static [&'static str] {
        match self {
            Self::Encryption => &["encryption"],
            Self::Backend => &["encryption", "backend"],
        }
    }
}

/// Returns that part of a file.
///
/// A file that makes no sense is refused: what is left out could be the encryption itself.
pub(super) fn excerpt(text: &str, file: &Path, kept: Kept) -> Result<String> {
    match file.extension().is_some_and(|ending| ending == "json") {
        true => excerpt_of_json(text, file, kept),
        false => excerpt_of_hcl(text, file, kept),
    }
}

fn excerpt_of_hcl(text: &str, file: &Path, kept: Kept) -> Result<String> {
    let body = syntax::read_sound(text, file)?;
    let written = |block: &Block<'_>| text.get(block.span.clone()).unwrap_or_default().to_owned();
    let parts = body.blocks.iter().flat_map(|block| match block.kind {
        "variable" | "locals" => vec![written(block)],
        "terraform" => {
            let blocks = kept.blocks().iter().flat_map(|kind| block.body.blocks_of(kind)).map(written);
            blocks.map(|block| format!("terraform {{\n{block}\n}}")).collect()
        }
        _ => Vec::new(),
    });
    Ok(parts.map(|part| part + "\n").collect())
}

fn excerpt_of_json(text: &str, file: &Path, kept: Kept) -> Result<String> {
    let (node, fault) = read_json(text);
    if let Some(fault) = fault {
        return Err(Error::invalid(format!("`{}` cannot be read", file.display())).detail(fault.what));
    }
    let listed = |nodes: &[&JsonNode]| nodes.iter().map(|node| node.text()).collect::<Vec<_>>().join(", ");
    let terraform = node.all("terraform");
    let all = |kind: &'static str| {
        terraform.iter().flat_map(move |block| block.all(kind)).map(move |block| (kind, block))
    };
    let blocks = kept.blocks().iter().flat_map(|kind| all(kind));
    let blocks: Vec<String> =
        blocks.map(|(kind, block)| format!("{{\"{kind}\": {}}}", block.text())).collect();
    Ok(format!(
        "{{\"terraform\": [{}], \"variable\": [{}], \"locals\": [{}]}}\n",
        blocks.join(", "),
        listed(&node.all("variable")),
        listed(&node.all("locals"))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encryption_variables_and_local_values_are_all_that_is_left() {
        let text = "variable \"p\" {\n  type = string # }\n}\nlocals { a = var.p }\n\
                    terraform {\n  backend \"s3\" {}\n  encryption {\n    state {}\n  }\n  required_version = \"1\"\n}\n\
                    resource \"a\" \"b\" {\n  encryption {}\n}\n";

        let left = excerpt(text, Path::new("main.tf"), Kept::Encryption).expect("an excerpt");

        let wanted = "variable \"p\" {\n  type = string # }\n}\nlocals { a = var.p }\n\
                      terraform {\nencryption {\n    state {}\n  }\n}\n";
        assert_eq!(left, wanted);
        let left = excerpt(text, Path::new("main.tf"), Kept::Backend).expect("an excerpt");
        assert_eq!(left, format!("{wanted}terraform {{\nbackend \"s3\" {{}}\n}}\n"));
    }

    #[test]
    fn the_json_form_keeps_every_block_that_stands_twice() {
        let text = r#"[{"terraform": {"backend": {"s3": {}}, "encryption": {"state": {"a": "\"x"}}}},
                       {"terraform": {"encryption": {"plan": [1.50, null, true]}}, "variable": {"p": {}}}]"#;

        let left = excerpt(text, Path::new("main.tf.json"), Kept::Encryption).expect("an excerpt");

        let wanted = r#"{"terraform": [{"encryption": {"state": {"a": "\"x"}}}, {"encryption": {"plan": [1.50, null, true]}}], "variable": [{"p": {}}], "locals": []}"#;
        assert_eq!(left.trim(), wanted);
    }

    #[test]
    fn a_file_that_makes_no_sense_is_refused_by_its_name() {
        for (name, text) in [("a.tf", "terraform {\n  encryption {\n"), ("a.tf.json", "{\"terraform\":")] {
            let error = excerpt(text, Path::new(name), Kept::Encryption).expect_err("no sense");
            assert!(error.message().contains(name), "{error}");
        }
    }
}
