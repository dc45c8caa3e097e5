//! Embeds the parts and the templates of scenarios.

fn main() -> std::io::Result<()> {
    lanetwin_embed::embed(&[("PARTS", "../../parts", ".yaml"), ("TEMPLATES", "templates", ".yaml")])
}
