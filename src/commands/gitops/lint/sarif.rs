//! Findings as SARIF 2.1.0, with all that code scanning asks for. Paths are those of the repository.

use std::path::Path;

use serde_json::{Value, json};

use crate::lint::{Finding, Judgement, text_of};
use crate::model::{LintLevel, LintRule, Project};

/// Where the format is described.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// How grave a secret in the clear is among security alerts, of 10.
const GRAVITY_OF_SECRETS: &str = "8.0";

/// Returns the document; `below` leads from the repository to the project.
pub(super) fn document(judgement: &Judgement, project: &Project, below: Option<&Path>) -> String {
    let below = below.and_then(Path::to_str).unwrap_or_default();
    let rules: Vec<Value> = LintRule::ALL.into_iter().map(|rule| rule_of(rule, project)).collect();
    let results: Vec<Value> = judgement.findings.iter().map(|finding| result_of(finding, below)).collect();
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "infra",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            // Two projects of one repository do not close each other's alerts.
            "automationDetails": { "id": format!("infra-lint/{}/", project.name) },
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

fn rule_of(rule: LintRule, project: &Project) -> Value {
    let text = text_of(rule);
    let mut properties = json!({ "tags": ["opentofu"], "precision": "high" });
    if rule == LintRule::PlaintextSecret {
        properties = json!({
            "tags": ["opentofu", "security"],
            "precision": "medium",
            "security-severity": GRAVITY_OF_SECRETS,
        });
    }
    let help = format!("{} {}", text.why, text.mend);
    json!({
        "id": rule.name(),
        "name": rule.name(),
        "shortDescription": { "text": text.what },
        "fullDescription": { "text": format!("{}. {}", text.what, text.why) },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": level_of(project.lint.level(rule)) },
        "properties": properties,
    })
}

const fn level_of(level: LintLevel) -> &'static str {
    match level {
        LintLevel::Error => "error",
        LintLevel::Warning => "warning",
        LintLevel::Note => "note",
        LintLevel::Off => "none",
    }
}

fn result_of(finding: &Finding, below: &str) -> Value {
    let file = in_repository(below, &finding.place.file);
    let fingerprint = finding.fingerprint(&file);
    let index = LintRule::ALL.iter().position(|rule| *rule == finding.rule);
    json!({
        "ruleId": finding.rule.name(),
        "ruleIndex": index,
        "level": level_of(finding.level),
        "message": { "text": finding.message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": encoded(&file), "uriBaseId": "%SRCROOT%" },
            "region": {
                "startLine": finding.place.line,
                "startColumn": 1,
                "endLine": finding.place.line,
                "endColumn": finding.place.width + 1,
            },
        }}],
        "partialFingerprints": {
            "primaryLocationLineHash": format!("{fingerprint}:1"),
            "infraLint/v1": fingerprint,
        },
    })
}

/// Returns a path of the project as one of the repository, without steps up where it has them.
fn in_repository(below: &str, file: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in below.split('/').chain(file.split('/')).filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "..") => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns a path as a relative URI: everything that is not plain in a name is escaped.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_of_the_repository_and_a_uri() {
        assert_eq!(in_repository("", "a/b.tf"), "a/b.tf");
        assert_eq!(in_repository("lab/home", "../modules/x.tf"), "lab/modules/x.tf");
        assert_eq!(in_repository("lab", "../../x.tf"), "../x.tf");
        assert_eq!(encoded("a b/ü#?%:.tf"), "a%20b/%C3%BC%23%3F%25%3A.tf");
    }
}
