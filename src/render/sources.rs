//! What templates are made of: the files of the inputs, from folders or from this program itself.

pub mod built_in;
mod inputs;
mod origin;
mod walk;

pub use inputs::Inputs;
pub use origin::template_of;
pub use walk::load_inputs;
