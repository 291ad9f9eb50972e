//! The names of filters, tests and methods, for the nearest one where a template misspells it.
//!
//! The engine cannot list its own; a test holds these against it. Begin at [`unknown`].

use minijinja::ErrorKind;

use crate::model::nearest;

const FILTERS: &[&str] = &[
    "abs",
    "attr",
    "basename",
    "batch",
    "bool",
    "capitalize",
    "center",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "e",
    "escape",
    "filesizeformat",
    "first",
    "float",
    "forceescape",
    "format",
    "groupby",
    "hcl",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "nthhost",
    "pprint",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "truncate",
    "unique",
    "upper",
    "urlencode",
    "wordcount",
    "wordwrap",
    "yaml",
    "zip",
];

const TESTS: &[&str] = &[
    "boolean",
    "callable",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "escaped",
    "even",
    "false",
    "filter",
    "float",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "integer",
    "iterable",
    "le",
    "lessthan",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "test",
    "true",
    "undefined",
    "upper",
];

const METHODS: &[&str] = &[
    "append",
    "capitalize",
    "casefold",
    "center",
    "clear",
    "copy",
    "count",
    "endswith",
    "expandtabs",
    "extend",
    "find",
    "format",
    "get",
    "index",
    "insert",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "isupper",
    "items",
    "join",
    "keys",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "pop",
    "remove",
    "removeprefix",
    "removesuffix",
    "replace",
    "reverse",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "setdefault",
    "sort",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "update",
    "upper",
    "values",
    "zfill",
];

const FUNCTIONS: &[&str] = &[
    "age_key",
    "cloudflare_tunnel_id",
    "cloudflare_tunnel_secret",
    "cycler",
    "debug",
    "dict",
    "github_deploy_key",
    "github_push_token",
    "joiner",
    "namespace",
    "nthhost",
    "range",
    "talos_patches",
];

/// Returns what a template asks for and is not there, and the nearest that is; `None` if an error
/// is of another kind.
pub fn unknown(kind: ErrorKind, detail: &str) -> Option<(String, Option<String>)> {
    let (what, names) = match kind {
        ErrorKind::UnknownFilter => ("filter", FILTERS),
        ErrorKind::UnknownTest => ("test", TESTS),
        ErrorKind::UnknownFunction => ("function", FUNCTIONS),
        ErrorKind::UnknownMethod => ("method", METHODS),
        _ => return None,
    };
    let name = match kind {
        ErrorKind::UnknownMethod => detail.rsplit(' ').next()?,
        _ => detail.strip_suffix(" is unknown")?.rsplit(' ').next()?,
    };
    let guess = nearest(name, names.iter().copied()).filter(|guess| *guess != name);
    Some((format!("there is no {what} `{name}`"), guess.map(|guess| format!("did you mean `{guess}`?"))))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::model::{Environment, Values};
    use crate::render::{Engine, RenderSettings, TemplateAccess};

    fn said(expression: &str) -> String {
        let template_access = TemplateAccess { root: PathBuf::from("."), env: Environment::default() };
        let engine = Engine::new(&RenderSettings::conventional(), &template_access).unwrap();
        engine.evaluate(expression, &Values::new()).err().map(|error| error.to_string()).unwrap_or_default()
    }

    fn is_unknown(said: &str) -> bool {
        ["filter", "test", "function"].iter().any(|what| said.contains(&format!("there is no {what} `")))
    }

    #[test]
    fn every_name_that_may_be_proposed_is_there() {
        let filters = FILTERS.iter().map(|name| format!("'x'|{name}"));
        let tests = TESTS.iter().map(|name| format!("'x' is {name} 'x'"));
        let functions = FUNCTIONS.iter().map(|name| format!("{name}()"));

        for expression in filters.chain(tests).chain(functions) {
            assert!(!is_unknown(&said(&expression)), "{expression}: {}", said(&expression));
        }
    }

    #[test]
    fn a_misspelt_name_is_told_with_the_nearest() {
        let cases = [
            ("'x'|uper", "there is no filter `uper`", "did you mean `upper`?"),
            ("'x' is stirng", "there is no test `stirng`", "did you mean `string`?"),
            ("age_kye()", "there is no function `age_kye`", "did you mean `age_key`?"),
            ("'x'.spilt()", "there is no method `spilt`", "did you mean `split`?"),
        ];

        for (expression, expected, hint) in cases {
            let said = said(expression);
            assert!(said.contains(expected) && said.contains(hint), "{said}");
        }
    }
}
