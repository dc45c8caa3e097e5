//! Templates for new scenarios.

use crate::embedded::TEMPLATES;

/// A template for a scenario, with comments that explain it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Template {
    /// Its name.
    pub name: &'static str,
    /// The question that it answers.
    pub about: &'static str,
    /// The whole text.
    pub text: &'static str,
}

/// All templates; the first is the default.
#[must_use]
pub fn templates() -> Vec<Template> {
    let about = |text: &'static str| {
        let line = text.lines().find_map(|line| line.strip_prefix("about:"));
        line.unwrap_or_default().trim().trim_matches('"')
    };
    let mut all: Vec<Template> =
        TEMPLATES.iter().map(|(name, text)| Template { name, about: about(text), text }).collect();
    all.sort_by_key(|template| template.name != "slot");
    all
}

/// The template called `name`.
#[must_use]
pub fn template(name: &str) -> Option<Template> {
    templates().into_iter().find(|template| template.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_right_asks_a_question_and_explains_itself() {
        let all = templates();
        assert_eq!(all[0].name, "slot");
        for Template { name, about, text } in all {
            assert_eq!(crate::check_text(text), [], "{name}");
            assert!(about.ends_with('?'), "{name}: {about}");
            assert!(text.lines().filter(|line| line.contains('#')).count() >= 3, "{name} has no comments");
            assert_eq!(template(name).map(|template| template.text), Some(text));
        }
    }
}
