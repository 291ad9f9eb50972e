//! Turns nodes into the tree, comments becoming items of their own, as sops does.
//!
//! Aliases are written out. Begin at [`document`].

use super::node::{Content, Lines, Node, Root, Scalar};
use super::resolve;
use super::resolve::Unfit;
use super::token::Mark;
use crate::error::{Error, Result};
use crate::secrets::sops::tree::{Comment, Document, Item, ListEntry, Value};

/// How many values aliases may stand for in one document.
const MAX_ALIASED: usize = 100_000;

/// Makes a document of its root.
pub(super) fn document(root: Root) -> Result<Document> {
    let mut tree = Tree { aliased: 0, depth: 0 };
    let mut items = Document::new();
    tree.root(&root.node, &mut items)?;
    comments(&mut items, &root.foot, Side::Own, Item::Comment);
    Ok(items)
}

/// Whether the comments of a node were taken already, by what holds it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comments {
    Open,
    Taken,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Own,
    Beside,
}

fn comments<T>(out: &mut Vec<T>, lines: &Lines, side: Side, make: impl Fn(Comment) -> T) {
    out.extend(lines.iter().map(|line| {
        let text = line.strip_prefix('#').unwrap_or(line).to_owned();
        make(Comment { text: text.into(), beside: side == Side::Beside })
    }));
}

struct Tree {
    aliased: usize,
    depth: usize,
}

impl Tree {
    fn root(&mut self, node: &Node, items: &mut Document) -> Result<()> {
        match &node.content {
            Content::Map(_) => self.map(node, Comments::Open, items),
            Content::Scalar(scalar) if is_null(scalar) => {
                comments(items, &node.head, Side::Own, Item::Comment);
                comments(items, &node.line, Side::Own, Item::Comment);
                comments(items, &node.foot, Side::Own, Item::Comment);
                Ok(())
            }
            Content::Scalar(_) | Content::List(_) | Content::Alias(_) => {
                Err(Error::invalid("the document is not a map of keys and values")
                    .at(node.mark.place())
                    .hint("put the content below a key, such as `data:`"))
            }
        }
    }

    fn value(&mut self, node: &Node, taken: Comments) -> Result<Value> {
        match &node.content {
            Content::Scalar(found) => scalar(found, node.mark),
            Content::List(_) => self.list(node, taken).map(Value::List),
            Content::Map(_) => {
                let mut items = Vec::new();
                self.map(node, taken, &mut items)?;
                Ok(Value::Map(items))
            }
            Content::Alias(target) => self.alias(target, node.mark),
        }
    }

    /// Guards against texts whose aliases grow without measure.
    fn alias(&mut self, target: &Node, mark: Mark) -> Result<Value> {
        self.depth += 1;
        let value = self.value(target, Comments::Open);
        self.depth -= 1;
        if self.aliased > MAX_ALIASED {
            return Err(Error::invalid("the aliases stand for too many values").at(mark.place()));
        }
        value
    }

    fn count(&mut self, mark: Mark) -> Result<()> {
        self.aliased += usize::from(self.depth > 0);
        if self.aliased > MAX_ALIASED {
            return Err(Error::invalid("the aliases stand for too many values").at(mark.place()));
        }
        if self.depth > crate::secrets::sops::stores::MAX_DEPTH {
            return Err(crate::secrets::sops::stores::too_deep().at(mark.place()));
        }
        Ok(())
    }

    fn list(&mut self, node: &Node, taken: Comments) -> Result<Vec<ListEntry>> {
        let Content::List(found) = &node.content else { return Ok(Vec::new()) };
        let mut entries = Vec::new();
        if taken == Comments::Open {
            comments(&mut entries, &node.head, Side::Own, ListEntry::Comment);
            comments(&mut entries, &node.line, Side::Own, ListEntry::Comment);
        }
        for item in found {
            self.count(item.mark)?;
            comments(&mut entries, &item.head, Side::Own, ListEntry::Comment);
            comments(&mut entries, &item.line, Side::Beside, ListEntry::Comment);
            entries.push(ListEntry::Value(self.value(item, Comments::Taken)?));
            comments(&mut entries, &item.foot, Side::Own, ListEntry::Comment);
        }
        if taken == Comments::Open {
            comments(&mut entries, &node.foot, Side::Own, ListEntry::Comment);
        }
        Ok(entries)
    }

    fn map(&mut self, node: &Node, taken: Comments, items: &mut Vec<Item>) -> Result<()> {
        let Content::Map(pairs) = &node.content else { return Ok(()) };
        if taken == Comments::Open {
            comments(items, &node.head, Side::Own, Item::Comment);
            comments(items, &node.line, Side::Own, Item::Comment);
        }
        for (key, value) in pairs {
            self.pair(key, value, items)?;
        }
        if taken == Comments::Open {
            comments(items, &node.foot, Side::Own, Item::Comment);
        }
        Ok(())
    }

    fn pair(&mut self, key: &Node, value: &Node, items: &mut Vec<Item>) -> Result<()> {
        self.count(key.mark)?;
        check_merge(key, value)?;
        comments(items, &key.head, Side::Own, Item::Comment);
        comments(items, &key.line, Side::Own, Item::Comment);
        let taken = match &value.content {
            Content::Scalar(_) | Content::Alias(_) => Comments::Taken,
            Content::Map(_) | Content::List(_) => Comments::Open,
        };
        if taken == Comments::Taken {
            comments(items, &value.head, Side::Own, Item::Comment);
            comments(items, &value.line, Side::Beside, Item::Comment);
        }
        items.push(Item::Pair(name(key)?, self.value(value, taken)?));
        if taken == Comments::Taken {
            comments(items, &value.foot, Side::Own, Item::Comment);
        }
        comments(items, &key.foot, Side::Own, Item::Comment);
        Ok(())
    }
}

/// A merge key takes maps; sops cannot read a file in which it has anything else.
fn check_merge(key: &Node, value: &Node) -> Result<()> {
    let Content::Scalar(name) = &key.content else { return Ok(()) };
    let merges = !name.quoted && name.text.as_str() == "<<" && name.tag.as_deref() != Some("!!str");
    let fits = match &target(value).content {
        Content::Map(_) => true,
        Content::List(nodes) => nodes.iter().all(|node| matches!(target(node).content, Content::Map(_))),
        Content::Scalar(_) | Content::Alias(_) => false,
    };
    if merges && !fits {
        return Err(Error::invalid("the key `<<` does not hold maps").at(key.mark.place()));
    }
    Ok(())
}

fn target(node: &Node) -> &Node {
    match &node.content {
        Content::Alias(target) => target,
        Content::Scalar(_) | Content::Map(_) | Content::List(_) => node,
    }
}

/// sops knows only keys that are texts.
fn name(key: &Node) -> Result<String> {
    if let Content::Scalar(found) = &target(key).content
        && let Value::Text(bytes) = scalar(found, key.mark)?
        && let Ok(name) = String::from_utf8(bytes.to_vec())
    {
        return Ok(name);
    }
    Err(Error::invalid("a key is not a text").at(key.mark.place()).hint("put the key in quotes"))
}

fn is_null(scalar: &Scalar) -> bool {
    !scalar.quoted && scalar.tag.is_none() && resolve::resolve(&scalar.text) == Ok(Value::Null)
}

fn scalar(scalar: &Scalar, mark: Mark) -> Result<Value> {
    let value = match scalar.tag.as_deref() {
        Some(tag) if tag != "!" => resolve::resolve_tagged(short(tag).as_ref(), &scalar.text),
        _ if scalar.quoted => Ok(Value::text(scalar.text.as_str())),
        _ => resolve::resolve(&scalar.text),
    };
    value.map_err(|unfit| match unfit {
        Unfit::TooLarge => {
            Error::invalid("a whole number is too large for sops").at(mark.place()).hint("put it in quotes")
        }
        Unfit::Tag => Error::invalid("a value does not fit its tag").at(mark.place()),
    })
}

fn short(tag: &str) -> std::borrow::Cow<'_, str> {
    match tag.strip_prefix("tag:yaml.org,2002:") {
        Some(name) => format!("!!{name}").into(),
        None => tag.into(),
    }
}
