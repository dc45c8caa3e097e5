//! Some variants of a channel instead of all.

use super::findings::diagnostic;
use crate::channel::Channel;
use lanetwin_document::problem::Diagnostic;
use lanetwin_probe::Problem;

/// A channel with these of its variants; with all if none is named.
///
/// # Errors
/// `LC022` for each name that it does not have.
pub fn only(channel: Channel, names: &[String]) -> Result<Channel, Vec<Diagnostic>> {
    let known = || channel.variants.iter().map(|variant| variant.name.as_str());
    let unknown = names.iter().filter(|name| known().all(|known| known != **name));
    let found: Vec<Diagnostic> = unknown
        .map(|name| {
            let known = known().collect::<Vec<_>>().join(", ");
            diagnostic(&Problem::UnknownVariant { name: name.clone(), known }.at(&channel.path))
        })
        .collect();
    if !found.is_empty() {
        return Err(found);
    }
    let mut channel = channel;
    channel.variants.retain(|variant| names.is_empty() || names.contains(&variant.name));
    Ok(channel)
}
