//! What templates are made of: the files of the inputs, from folders or from this program itself.

mod built_in;
mod inputs;
mod origin;
mod walk;

pub(crate) use built_in::embedded_files;
pub use built_in::{EmbeddedFile, TEMPLATE_SETS, built_in};
pub use inputs::Inputs;
pub use origin::template_of;
pub use walk::load_inputs;
