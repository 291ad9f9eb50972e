//! The template engine: minijinja set up to behave as Jinja2 does under makejinja.
//!
//! An [`Engine`] knows syntax, filters and functions; templates and data come with each
//! rendering. It reads files only where a template's function asks for one below the root.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment as Jinja, Output, State, UndefinedBehavior};

use super::limits::{MAX_STEPS, MAX_TEXT, MAX_WRITTEN};
use super::python;
use super::python::from_json;
use super::rewrite::{Rewritten, Tokens};
use super::template_access::TemplateAccess;
use super::{fault, filters, functions, rewrite, undefined};
use crate::error::{Error, Result};
use crate::model::Values;
use crate::render::settings::{RenderSettings, UndefinedMode};

/// Renders templates and evaluates expressions.
pub struct Engine {
    pub settings: RenderSettings,
    jinja: Jinja<'static>,
    /// The names that expressions have read so far.
    pub read: Mutex<BTreeSet<String>>,
}

/// Shows no value: the environment's variables are among them.
impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Engine {
    /// Makes an engine for a project.
    pub fn new(settings: &RenderSettings, template_access: &TemplateAccess) -> Result<Self> {
        let mut jinja = Jinja::new();
        jinja.set_syntax(syntax(settings)?);
        jinja.set_auto_escape_callback(|_| AutoEscape::None);
        jinja.set_undefined_behavior(match settings.undefined {
            UndefinedMode::Strict => UndefinedBehavior::Strict,
            UndefinedMode::Lenient => UndefinedBehavior::Lenient,
            UndefinedMode::Chainable => UndefinedBehavior::Chainable,
        });
        jinja.set_fuel(Some(MAX_STEPS));
        jinja.set_formatter(write_value);
        jinja.set_unknown_method_callback(python::call_method);
        jinja.add_function("__tick", tick);
        python::add_to(&mut jinja);
        filters::add_to(&mut jinja);
        functions::add_to(&mut jinja, template_access);
        Ok(Self { settings: settings.clone(), jinja, read: Mutex::default() })
    }

    /// Evaluates one expression, as `derive.yaml` has them.
    pub fn evaluate(&self, expression: &str, values: &Values) -> Result<serde_json::Value> {
        on_a_large_stack(|| self.evaluate_here(expression, values))
    }

    fn evaluate_here(&self, expression: &str, values: &Values) -> Result<serde_json::Value> {
        let tokens = Tokens::until(expression, "").ok().flatten().map(|(tokens, _)| tokens);
        if let Some(tokens) = &tokens {
            let names = tokens.names().map(str::to_owned);
            self.read.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
        }
        let failed = |error: minijinja::Error| {
            let missing = tokens.as_ref().and_then(|tokens| self.missing_in(tokens, values));
            fault::of_expression(&error, expression, missing)
        };
        let mut jinja = self.jinja.clone();
        // The data may be large, and an expression names little of it.
        let named = values.iter().filter(|(name, _)| expression.contains(name.as_str()));
        add_values(&mut jinja, named);
        let rewritten = rewrite::expression(expression).map_err(|error| failed(error.into()))?;
        let compiled = jinja.compile_expression_owned(rewritten).map_err(failed)?;
        let value = compiled.eval(Value::from(())).map_err(failed)?;
        if value.is_undefined() {
            return Err(Error::invalid(format!("`{expression}` is undefined")));
        }
        serde_json::to_value(&value)
            .map_err(|_| Error::invalid(format!("`{expression}` is neither text, number, list nor map")))
    }

    /// Returns what is undefined in an expression: a name, or an access that leads nowhere.
    fn missing_in(&self, tokens: &Tokens<'_>, values: &Values) -> Option<String> {
        const LITERALS: &[&str] = &["true", "false", "none", "True", "False", "None", "not", "and", "or"];
        const WORDS: &[&str] = &["in", "is", "if", "else"];
        let known = |name: &str| {
            values.contains_key(name)
                || LITERALS.contains(&name)
                || WORDS.contains(&name)
                || self.jinja.globals().any(|(each, _)| each == name)
        };
        let name = tokens.names().find(|name| !known(name)).map(str::to_owned);
        name.or_else(|| undefined::missing(tokens, values))
    }

    /// Returns an environment that knows these values and finds templates by name.
    pub fn with(&self, values: &Values, templates: Arc<Templates>) -> Jinja<'static> {
        let mut jinja = self.jinja.clone();
        add_values(&mut jinja, values);
        let (marks, whitespace) = (self.settings.marks.clone(), self.settings.whitespace);
        jinja.set_loader(move |name| {
            let Some(source) = template_path(name).and_then(|path| templates.texts.get(&path)) else {
                return Ok(None);
            };
            let Rewritten { text, names } = rewrite::template(source, &marks, whitespace)?;
            templates.names.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
            Ok(Some(text))
        });
        jinja
    }
}

/// The templates of a tree, and the names in those that were used so far.
#[derive(Debug, Default)]
pub struct Templates {
    pub texts: BTreeMap<String, String>,
    pub names: Mutex<BTreeSet<String>>,
}

/// Returns the path below an input that a template is asked for by: `./a//b` is `a/b`, and nothing
/// is above the inputs.
pub fn template_path(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    (!parts.contains(&"..")).then(|| parts.join("/"))
}

/// Adds data as globals, so that imported macros see it too.
pub fn add_values<'a>(
    jinja: &mut Jinja<'static>,
    values: impl IntoIterator<Item = (&'a String, &'a serde_json::Value)>,
) {
    // As in makejinja, `env` is always the environment.
    for (name, value) in values.into_iter().filter(|(name, _)| *name != "env") {
        jinja.add_global(name.clone(), from_json(value));
    }
}

/// Templates may call each other some hundred times deep, which a thread's usual stack does not hold.
pub const STACK: usize = 64 << 20;

/// Does something on a thread whose stack holds what templates may do.
pub fn on_a_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| {
        // Without a thread the work is still done.
        let Ok(thread) = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, &work) else {
            return work();
        };
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn syntax(settings: &RenderSettings) -> Result<SyntaxConfig> {
    let marks = &settings.marks;
    let whitespace = settings.whitespace;
    SyntaxConfig::builder()
        .block_delimiters(marks.block.0.clone(), marks.block.1.clone())
        .variable_delimiters(marks.variable.0.clone(), marks.variable.1.clone())
        .comment_delimiters(marks.comment.0.clone(), marks.comment.1.clone())
        .trim_blocks(whitespace.trim_blocks)
        .lstrip_blocks(whitespace.lstrip_blocks)
        .keep_trailing_newline(whitespace.keep_trailing_newline)
        .build()
        .map_err(|error| {
            Error::invalid("the delimiters of templates are not usable: they must differ and not be empty")
                .detail(error.detail().unwrap_or_default())
        })
}

/// How much one rendering has written, captured blocks included.
#[derive(Debug, Default)]
struct Written(usize);

/// Counts towards what one rendering may write.
fn count(state: &mut State<'_, '_>, bytes: usize) -> std::result::Result<(), minijinja::Error> {
    let written = state.get_or_insert_extension(Written::default());
    written.0 = written.0.saturating_add(bytes);
    if written.0 > MAX_WRITTEN {
        return Err(fault::fault("it writes too much: does a loop never end?"));
    }
    Ok(())
}

/// Counts a turn of a loop, whose plain text nothing else counts.
fn tick(state: &mut State<'_, '_>, weight: usize) -> std::result::Result<(), minijinja::Error> {
    count(state, weight)
}

/// Writes a value as Python prints it.
fn write_value(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> std::result::Result<(), minijinja::Error> {
    let other;
    let text = match value.as_str() {
        Some(text) => text,
        None if value.is_undefined() => return Ok(()),
        None => {
            other = python::string(value);
            &other
        }
    };
    if text.len() > MAX_TEXT {
        return Err(fault::fault("a text grew too large"));
    }
    count(state, text.len())?;
    out.write_str(text).map_err(minijinja::Error::from)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::model::Environment;

    fn engine() -> Engine {
        let template_access = TemplateAccess { root: PathBuf::from("."), env: Environment::default() };
        Engine::new(&RenderSettings::conventional(), &template_access).unwrap()
    }

    fn values() -> Values {
        let values =
            serde_json::json!({"cidr": "10.0.0.0/24", "nodes": [{"n": 1}, {"n": 2}], "secret": "hunter2"});
        values.as_object().unwrap().clone()
    }

    #[test]
    fn an_expression_becomes_data() {
        let cases = [
            ("cidr | nthhost(1)", serde_json::json!("10.0.0.1")),
            ("nodes | map(attribute='n') | sum + 1", serde_json::json!(4)),
            (
                "{'a': nodes[1:], 'b': none, 'c': 1.5}",
                serde_json::json!({"a": [{"n": 2}], "b": null, "c": 1.5}),
            ),
            ("'%s!' % cidr", serde_json::json!("10.0.0.0/24!")),
        ];

        for (expression, expected) in cases {
            assert_eq!(engine().evaluate(expression, &values()).unwrap(), expected, "{expression}");
        }
    }

    #[test]
    fn an_expression_that_fails_is_told_without_values() {
        for expression in ["secret + 1", "secret.x.y", "missing", "1 +", "secret / 2"] {
            let error = engine().evaluate(expression, &values()).unwrap_err().to_string();
            assert!(error.contains(expression) && !error.contains("hunter2"), "{error}");
        }
    }
}
