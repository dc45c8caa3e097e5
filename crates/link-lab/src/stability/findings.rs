//! Findings of the probe as diagnostics.

use lanetwin_document::problem::Diagnostic;
use lanetwin_probe::Finding;

/// A finding of the probe as a diagnostic.
#[must_use]
pub fn diagnostic(finding: &Finding) -> Diagnostic {
    Diagnostic {
        file: finding.place.clone(),
        line: 0,
        column: 0,
        code: finding.code,
        severity: finding.severity,
        path: String::new(),
        message: finding.message.clone(),
        help: finding.help.clone(),
    }
}

/// Findings as diagnostics.
#[must_use]
pub fn diagnostics(found: &[Finding]) -> Vec<Diagnostic> {
    found.iter().map(diagnostic).collect()
}
