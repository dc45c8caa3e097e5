//! Embeds the templates of descriptions of channels.

fn main() -> std::io::Result<()> {
    lanetwin_embed::embed(&[("TEMPLATES", "templates", ".yaml")])
}
