//! The page of every code, from `docs/errors/`.

use crate::embedded::PAGES;

/// The page of a code, as Markdown, ignoring case.
///
/// ```
/// let page = lanetwin_document::explain("sc005").expect("a code");
/// assert!(page.starts_with("# SC005"));
/// assert_eq!(lanetwin_document::explain("SC999"), None);
/// ```
#[must_use]
pub fn explain(code: &str) -> Option<&'static str> {
    let page = PAGES.iter().find(|(stem, _)| stem.eq_ignore_ascii_case(code))?;
    Some(page.1)
}

/// Every code with a page, from all crates, with its title.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().map(|(code, page)| {
        let heading = page.lines().next().unwrap_or_default();
        (*code, heading.trim_start_matches("# ").trim_start_matches(code).trim_start_matches(": "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::CODES;

    #[test]
    fn every_code_has_its_page() {
        for code in CODES {
            assert!(explain(code).is_some(), "{code}");
        }
    }

    #[test]
    fn every_page_is_about_its_code_and_has_a_title() {
        for (code, title) in codes() {
            assert!(explain(code).is_some_and(|page| page.starts_with(&format!("# {code}: "))), "{code}");
            assert!(title.len() > 5, "{code}: `{title}`");
        }
    }
}
