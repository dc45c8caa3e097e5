//! Parameters that have an effect only beside certain values of others: those of flash in a drive without flash have
//! none, nor those of a table that is switched off. Whoever sets one means something that does not happen.

/// Some parameters of a model, and the setting of another without which they change nothing.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Their names; with a point at the end, all below it but the one that they depend on.
    pub of: &'static [&'static str],
    /// The parameter that they depend on.
    pub on: &'static str,
    /// The required setting of that parameter.
    pub must_be: Setting,
}

/// How a parameter has to be set for others to have an effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    /// The choice is this word.
    Word(&'static str),
    /// The choice is another word than this.
    Not(&'static str),
    /// The flag is set.
    On,
    /// The count, the size, the share or the time is not 0.
    Above0,
    /// The count is not 1.
    Several,
}

/// A parameter that changes nothing, whatever its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WithoutEffect {
    /// The parameter.
    pub parameter: &'static str,
    /// Why it changes nothing.
    pub why: String,
}

impl Condition {
    /// Whether it applies to the parameter of this name.
    #[must_use]
    pub fn is_about(&self, name: &str) -> bool {
        let is_one_of = |group: &str| group.ends_with('.') && name.starts_with(group) && name != self.on;
        self.of.iter().any(|of| name == *of || is_one_of(of))
    }
    /// Explanation for the parameter if the condition does not hold.
    #[must_use]
    pub fn broken(&self) -> String {
        match self.must_be {
            Setting::Word(word) => format!("`{}` is not `{word}`", self.on),
            Setting::Not(word) => format!("`{}` is `{word}`", self.on),
            Setting::On => format!("`{}` is off", self.on),
            Setting::Above0 => format!("`{}` is 0", self.on),
            Setting::Several => format!("`{}` is 1", self.on),
        }
    }
}
