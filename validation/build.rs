//! Embeds the claims, their tables, the built-in scenarios, and the files that these name.

fn main() -> std::io::Result<()> {
    lanetwin_embed::embed(&[
        ("CLAIMS", "claims", ".yaml"),
        ("TABLES", "claims", ".csv"),
        ("SCENARIOS", "../scenarios", ".yaml"),
        ("LONG_SCENARIOS", "../scenarios/long", ".yaml"),
        ("CHANNELS", "../scenarios/link", ".yaml"),
        ("JOB_FILES", "../scenarios/fio", ".fio"),
        ("ACCESS_SPECIFICATIONS", "../scenarios/iometer", ".icf"),
    ])
}
