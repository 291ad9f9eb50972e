//! Files as the rules see them: what they declare, which comments ignore a rule, where secrets stand.
//! Both forms of the language fill the same. Begin at [`SourceFile::read`].

mod declaration;
mod ignore_comment;
mod json_form;
mod lines;
mod native_form;
mod parts;
mod source_file;

pub use declaration::{Declaration, DeclarationKind};
pub use parts::{FoundSecret, Reading};
pub use source_file::SourceFile;
