//! Where a store keeps its objects: a local folder, or a bucket.

mod bucket;
mod bucket_address;
mod file_work;
mod local_folder;
mod opened_store;
mod private_folder;
mod store_place;

pub use bucket::open_bucket;
pub(super) use bucket::{open, source};
pub use bucket_address::Bucket;
pub(super) use local_folder::open as open_folder;
pub(super) use opened_store::{OpenedStore, Reach};
pub(super) use private_folder::OpenedFile;
pub use store_place::StorePlace;
