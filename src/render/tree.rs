//! Renders every template of a tree in memory, on all cores, in a fixed order.
//!
//! All templates that fail are told at once; then nothing is returned. Nothing is written.
//! Begin at [`render_tree`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, PoisonError};

use minijinja::Environment as Jinja;
use regex::Regex;

use super::jinja::{
    Engine, MAX_TEXT, STACK, TemplateFailure, Templates, add_values, missing_name, names_in,
    on_a_large_stack, tags_in, template_failure, template_path, unclosed,
};
use super::settings::inside;
use super::{GeneratedFile, SourceFile, derive};
use crate::error::{Error, Result};
use crate::model::{Values, nearest};
use crate::process::keep_freed_memory;

/// What came out of a tree of templates.
#[derive(Debug)]
pub struct Rendered {
    /// The files, sorted by path.
    pub files: Vec<GeneratedFile>,
    /// Keys at the top of the data that neither a template nor a derived value reads, in the order of
    /// the data.
    pub unread: Vec<String>,
}

/// Renders sources with values into files below `output_dir`, which is relative to the root.
pub fn render_tree(
    engine: &Engine,
    sources: &[SourceFile],
    values: &Values,
    output_dir: &Path,
) -> Result<Rendered> {
    let tree = Tree::new(engine, sources, values)?;
    let outputs = tree.outputs(output_dir)?;
    if tree.sharing == Sharing::Each {
        on_a_large_stack(|| tree.compile_partials());
    }
    let mut files = Vec::new();
    let mut failures = Vec::new();
    for result in tree.render_all(&outputs) {
        match result {
            Ok(file) => files.extend(file),
            Err(error) => failures.push(error),
        }
    }
    if let Some(error) = together(failures) {
        return Err(error);
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(Rendered { files, unread: tree.unread() })
}

/// How much memory a byte of a template takes: its text, the compiled form, what comes out.
const MEMORY_OF_A_BYTE: usize = 6;

/// The bounds of the memory that a worker asks for at once.
const LEAST_MEMORY: usize = 1024 * 1024;
const MOST_MEMORY: usize = 8 * 1024 * 1024;

/// One file to be made.
struct Target<'a> {
    source: &'a SourceFile,
    path: PathBuf,
}

struct Tree<'a> {
    engine: &'a Engine,
    sources: &'a [SourceFile],
    values: &'a Values,
    templates: Arc<Templates>,
    jinja: Jinja<'static>,
    sharing: Sharing,
}

/// Whether all templates may look at the same values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sharing {
    /// No template changes a list or a map.
    All,
    /// Some template may: it gets values of its own, or the order of rendering would show.
    Each,
}

/// A call of a method that changes a list or a map.
static CHANGING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let methods = "append|extend|insert|pop|remove|clear|sort|reverse|update|setdefault";
    Regex::new(&format!(r"\.\s*({methods})\s*\(")).ok()
});

fn sharing(texts: &BTreeMap<String, String>) -> Sharing {
    if texts.values().any(|text| changes(text)) { Sharing::Each } else { Sharing::All }
}

fn changes(text: &str) -> bool {
    CHANGING.as_ref().is_none_or(|method| method.is_match(text))
}

impl<'a> Tree<'a> {
    fn new(engine: &'a Engine, sources: &'a [SourceFile], values: &'a Values) -> Result<Self> {
        let mut texts = BTreeMap::new();
        let mut failures = Vec::new();
        for source in sources {
            match std::str::from_utf8(&source.bytes) {
                Ok(text) => {
                    texts.entry(source.path.clone()).or_insert_with(|| unix_lines(text));
                }
                // A file that is only copied may hold anything.
                Err(error) if engine.settings.is_template(&source.path) => {
                    failures.push(not_text(source, error));
                }
                Err(_) => {}
            }
        }
        if let Some(error) = together(failures) {
            return Err(error);
        }
        let sharing = sharing(&texts);
        let templates = Arc::new(Templates { texts, ..Templates::default() });
        let jinja = engine.with(values, Arc::clone(&templates));
        Ok(Self { engine, sources, values, templates, jinja, sharing })
    }

    /// Decides which file is written where; two of one input with one output are an error.
    fn outputs(&self, output_dir: &Path) -> Result<Vec<Target<'a>>> {
        let settings = &self.engine.settings;
        let mut taken: BTreeMap<PathBuf, &SourceFile> = BTreeMap::new();
        let mut outputs = Vec::new();
        for source in self.sources.iter().filter(|source| !settings.excludes(&source.origin)) {
            let below = output_path(settings.output_of(&source.path), source)?;
            let path = output_dir.join(below);
            match taken.get(&path) {
                Some(first) if input_of(first) == input_of(source) => {
                    return Err(clash(first, source, &path));
                }
                // An input before this one has it.
                Some(_) => continue,
                None => taken.insert(path.clone(), source),
            };
            outputs.push(Target { source, path });
        }
        Ok(outputs)
    }

    /// Renders on all cores; the results stand in the order of the targets.
    fn render_all(&self, targets: &[Target<'_>]) -> Vec<Result<Option<GeneratedFile>>> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(targets.len().max(1));
        let next = AtomicUsize::new(0);
        let share = self.memory_of(workers);
        keep_freed_memory(2 * share);
        let work = || {
            keep_freed_memory(share);
            let mut done = Vec::new();
            while let Some((at, target)) = take(&next, targets) {
                done.push((at, self.render(target)));
            }
            done
        };
        let mut all = std::thread::scope(|scope| {
            let start = |_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
            let started: Vec<_> = (0..workers).filter_map(|at| start(at).ok()).collect();
            // Without any thread the work is still done.
            let mut all = if started.is_empty() { work() } else { Vec::new() };
            for worker in started {
                match worker.join() {
                    Ok(done) => all.extend(done),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        });
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, result)| result).collect()
    }

    /// Returns about how much memory each worker will take: what it makes of the templates stays until
    /// all are rendered, and to ask the system for it a page at a time takes long.
    fn memory_of(&self, workers: usize) -> usize {
        let read: usize = self.sources.iter().map(|source| source.bytes.len()).sum();
        (read.saturating_mul(MEMORY_OF_A_BYTE) / workers).clamp(LEAST_MEMORY, MOST_MEMORY)
    }

    /// Renders or copies one file; a template that renders to nothing but white space makes none.
    fn render(&self, target: &Target<'_>) -> Result<Option<GeneratedFile>> {
        let source = target.source;
        let settings = &self.engine.settings;
        let (path, mode, origin) = (target.path.clone(), source.mode, source.origin.clone());
        if !settings.is_template(&source.path) {
            return Ok(Some(GeneratedFile { path, bytes: source.bytes.to_vec(), mode, origin }));
        }
        let text = self.render_text(source)?;
        let blank = !settings.keep_empty && text.trim().is_empty();
        Ok((!blank).then(|| GeneratedFile { path, bytes: text.into_bytes(), mode, origin }))
    }

    fn render_text(&self, source: &SourceFile) -> Result<String> {
        let failed = |error: &minijinja::Error| self.explain(source, template_failure(error));
        let own;
        let jinja = match self.sharing_of(source) {
            Sharing::All => &self.jinja,
            Sharing::Each => {
                own = self.with_own_values();
                &own
            }
        };
        let template = jinja.get_template(&source.path).map_err(|error| failed(&error))?;
        let text = template.render(()).map_err(|error| failed(&error))?;
        if text.len() > MAX_TEXT {
            let words = "its output is too large".to_owned();
            return Err(self.explain(source, TemplateFailure { words, ..TemplateFailure::default() }));
        }
        Ok(text)
    }

    /// Returns whether a template may look at the common values: it changes none, and brings in no
    /// other template that might.
    fn sharing_of(&self, source: &SourceFile) -> Sharing {
        if self.sharing == Sharing::All {
            return Sharing::All;
        }
        let text = self.templates.texts.get(&source.path).map_or("", String::as_str);
        let brings_in = ["include", "import", "extends"].iter().any(|word| text.contains(word));
        if brings_in || changes(text) { Sharing::Each } else { Sharing::All }
    }

    fn with_own_values(&self) -> Jinja<'static> {
        let mut jinja = self.jinja.clone();
        add_values(&mut jinja, self.values);
        jinja
    }

    /// Tells where a template failed, shows that line of the template, and no value.
    fn explain(&self, source: &SourceFile, failure: TemplateFailure) -> Error {
        let name = failure.template.as_deref().and_then(template_path).unwrap_or_else(|| source.path.clone());
        let place = self.sources.iter().find(|each| each.path == name).map_or(&name, |each| &each.origin);
        let Some(number) = failure.line else {
            return Error::invalid(failure_message(source, &failure.words)).at(place).hint_if(failure.hint);
        };
        let line =
            self.templates.texts.get(&name).and_then(|text| text.lines().nth(number.saturating_sub(1)));
        let line = line.unwrap_or_default();
        let unknown = failure.undefined.then(|| self.unknown_name(&name, line)).flatten();
        let path = failure.undefined.then(|| self.missing_path(line)).flatten();
        let hint = failure.hint.clone().or_else(|| self.unclosed_part(&name, &failure.words));
        let missing = unknown.as_ref().or(path.as_ref());
        let words = missing.map_or(failure.words, |name| format!("`{name}` is undefined"));
        let guess = unknown
            .and_then(|name| nearest(&name, self.values.keys().map(String::as_str)).map(str::to_owned));
        Error::invalid(failure_message(source, &words))
            .at(format!("{place}:{number}"))
            .detail(format!("{number} | {}", shorten(line)))
            .hint_if(guess.map(|guess| format!("did you mean `{guess}`?")).or(hint))
    }

    /// Returns the first access on a line that leads nowhere in the data.
    fn missing_path(&self, line: &str) -> Option<String> {
        let tags = tags_in(line, &self.engine.settings.marks);
        tags.iter().find_map(|tokens| missing_name(tokens, self.values))
    }

    /// Returns what a template that ends too early never closes.
    fn unclosed_part(&self, template: &str, words: &str) -> Option<String> {
        let text = self.templates.texts.get(template).filter(|_| words.contains("unexpected end of"))?;
        let (what, line) = unclosed(text, &self.engine.settings.marks)?;
        Some(format!("`{what}` of line {line} is never closed"))
    }

    /// Returns the first name on a line that neither the data nor the template has.
    fn unknown_name(&self, template: &str, line: &str) -> Option<String> {
        let needed = self.jinja.get_template(template).ok()?.undeclared_variables(false);
        let known = |name: &String| {
            self.values.contains_key(name) || self.jinja.globals().any(|(each, _)| each == name)
        };
        let names = names_in(line, &self.engine.settings.marks).into_iter();
        names.filter(|name| needed.contains(name)).find(|name| !known(name))
    }

    /// Returns the keys of the data that stand in no tag of a template that was used, and that no
    /// derived value reads.
    fn unread(&self) -> Vec<String> {
        let names = self.templates.names.lock().unwrap_or_else(PoisonError::into_inner);
        let derived = self.engine.read.lock().unwrap_or_else(PoisonError::into_inner);
        let is_read = |key: &String| names.contains(key) || derived.contains(key) || derive::reads(key);
        self.values.keys().filter(|key| !is_read(key)).cloned().collect()
    }

    /// Compiles what is only there to be included, once for all that get an environment of their own.
    fn compile_partials(&self) {
        let settings = &self.engine.settings;
        let templates = self.sources.iter().filter(|source| settings.is_template(&source.path));
        for source in templates.filter(|source| settings.excludes(&source.origin)) {
            // One that is wrong is told where it is used.
            let _ = self.jinja.get_template(&source.path);
        }
    }
}

fn take<'t, 'a>(next: &AtomicUsize, targets: &'t [Target<'a>]) -> Option<(usize, &'t Target<'a>)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    targets.get(at).map(|target| (at, target))
}

/// Returns a template's text with every line end as `\n`.
fn unix_lines(text: &str) -> String {
    if !text.contains('\r') {
        return text.to_owned();
    }
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn failure_message(source: &SourceFile, words: &str) -> String {
    format!("template `{}` does not render: {words}", source.origin)
}

fn shorten(line: &str) -> String {
    const MOST: usize = 160;
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

fn not_text(source: &SourceFile, error: std::str::Utf8Error) -> Error {
    let before = source.bytes.iter().take(error.valid_up_to());
    let line = before.filter(|byte| **byte == b'\n').count() + 1;
    Error::invalid(format!("template `{}` is not text: expected UTF-8, found another byte", source.origin))
        .at(format!("{}:{line}", source.origin))
        .hint("save the file as UTF-8")
}

/// Returns the input of a file: what its origin has before its path.
fn input_of(source: &SourceFile) -> &str {
    source.origin.strip_suffix(&source.path).unwrap_or_default()
}

fn output_path(below: &str, source: &SourceFile) -> Result<String> {
    let path = inside("output", below).ok().filter(|path| !path.is_empty() && path == below);
    path.ok_or_else(|| Error::invalid(format!("`{}` would be written outside of the output", source.origin)))
}

fn clash(first: &SourceFile, second: &SourceFile, path: &Path) -> Error {
    let (first, second) = (&first.origin, &second.origin);
    Error::invalid(format!("`{first}` and `{second}` would both be written to `{}`", path.display()))
        .hint("rename one of them, or exclude it with `configure.exclude`")
}

/// Makes one error of several.
fn together(mut failures: Vec<Error>) -> Option<Error> {
    if failures.len() < 2 {
        return failures.pop();
    }
    let error = Error::invalid(format!("{} templates do not render", failures.len()));
    Some(failures.into_iter().fold(error, |error, each| error.detail(each.to_string())))
}
