//! Turns a folder into a [`Project`](crate::model::Project): finds its root, reads and
//! validates `infra.yaml`, and describes that file as a JSON schema. The data files, such as
//! `cluster.yaml` and `nodes.yaml`, are read and checked by [`load_data`]. Stacks are found
//! elsewhere, in [`stacks`](crate::stacks). Begin at [`find_root`], then [`load`].

mod backend_entry;
mod config;
mod data;
mod delimiters;
mod fault;
mod find;
mod infra_folder;
mod inventory_rules;
mod lint_config;
mod load;
mod output_ref;
mod schema;
mod stack_config;
mod stacks_map;
mod switches;

pub use data::{
    Data, DataFile, DataPlace, DataWarning, KeyLevel, OddKey, Presence, cluster_schema, data_names,
    load_data, load_data_texts, load_derivation_text, load_derivations, nodes_schema, sample_of,
};
pub use fault::YamlSource;
pub use find::find_root;
pub use load::{load, parse};
pub use schema::infra_schema;
