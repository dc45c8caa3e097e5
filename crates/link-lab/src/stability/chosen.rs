//! Selection of some variants of a channel.

use super::findings::diagnostic;
use crate::channel::Channel;
use lanetwin_document::problem::Diagnostic;
use lanetwin_probe::Problem;

/// A channel with the named variants only; with all if none is named.
///
/// # Errors
/// `LC022` for each unknown name.
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
