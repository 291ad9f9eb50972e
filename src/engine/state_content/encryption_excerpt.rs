//! What a file of a stack says about encryption, and the variables and local values that it may
//! refer to; without anything else, so that tofu needs no provider, no module and no backend for it.
//!
//! Text in, text out. Begin at [`excerpt`].

use std::path::Path;

use crate::error::{Error, Result};
use crate::syntax;
use crate::syntax::{Block, JsonNode, read_json};

/// Returns that part of a file.
///
/// A file that makes no sense is refused: what is left out could be the encryption itself.
pub(super) fn excerpt(text: &str, file: &Path) -> Result<String> {
    match file.extension().is_some_and(|ending| ending == "json") {
        true => excerpt_of_json(text, file),
        false => excerpt_of_hcl(text, file),
    }
}

fn excerpt_of_hcl(text: &str, file: &Path) -> Result<String> {
    let body = syntax::read_sound(text, file)?;
    let written = |block: &Block<'_>| text.get(block.span.clone()).unwrap_or_default().to_owned();
    let parts = body.blocks.iter().flat_map(|block| match block.kind {
        "variable" | "locals" => vec![written(block)],
        "terraform" => {
            let encryption = block.body.blocks_of("encryption").map(written);
            encryption.map(|block| format!("terraform {{\n{block}\n}}")).collect()
        }
        _ => Vec::new(),
    });
    Ok(parts.map(|part| part + "\n").collect())
}

fn excerpt_of_json(text: &str, file: &Path) -> Result<String> {
    let (node, fault) = read_json(text);
    if let Some(fault) = fault {
        return Err(Error::invalid(format!("`{}` cannot be read", file.display())).detail(fault.what));
    }
    let listed = |nodes: &[&JsonNode]| nodes.iter().map(|node| node.text()).collect::<Vec<_>>().join(", ");
    let terraform = node.all("terraform").into_iter().flat_map(|block| block.all("encryption"));
    let encryption: Vec<String> =
        terraform.map(|block| format!("{{\"encryption\": {}}}", block.text())).collect();
    Ok(format!(
        "{{\"terraform\": [{}], \"variable\": [{}], \"locals\": [{}]}}\n",
        encryption.join(", "),
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

        let left = excerpt(text, Path::new("main.tf")).expect("an excerpt");

        let wanted = "variable \"p\" {\n  type = string # }\n}\nlocals { a = var.p }\n\
                      terraform {\nencryption {\n    state {}\n  }\n}\n";
        assert_eq!(left, wanted);
    }

    #[test]
    fn the_json_form_keeps_every_block_that_stands_twice() {
        let text = r#"[{"terraform": {"backend": {"s3": {}}, "encryption": {"state": {"a": "\"x"}}}},
                       {"terraform": {"encryption": {"plan": [1.50, null, true]}}, "variable": {"p": {}}}]"#;

        let left = excerpt(text, Path::new("main.tf.json")).expect("an excerpt");

        let wanted = r#"{"terraform": [{"encryption": {"state": {"a": "\"x"}}}, {"encryption": {"plan": [1.50, null, true]}}], "variable": [{"p": {}}], "locals": []}"#;
        assert_eq!(left.trim(), wanted);
    }

    #[test]
    fn a_file_that_makes_no_sense_is_refused_by_its_name() {
        for (name, text) in [("a.tf", "terraform {\n  encryption {\n"), ("a.tf.json", "{\"terraform\":")] {
            let error = excerpt(text, Path::new(name)).expect_err("no sense");
            assert!(error.message().contains(name), "{error}");
        }
    }
}
