//! Embeds the page of every diagnostic.

fn main() -> std::io::Result<()> {
    lanetwin_embed::embed(&[("PAGES", "../../docs/errors", ".md")])
}
