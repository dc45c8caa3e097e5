//! The option line: `# GHz S MA R 50`, in any order.

use crate::problem::Problem;

/// Kind of parameters in a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Parameter {
    S,
    Y,
    Z,
    H,
    G,
}

/// Representation of complex numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    /// Decibels and degrees.
    Db,
    /// Magnitude and degrees.
    Ma,
    /// Real and imaginary part.
    Ri,
}

/// Content of the option line; omitted options have the defaults of the format.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Options {
    pub(super) unit_hz: f64,
    pub(super) parameter: Parameter,
    pub(super) format: Format,
    /// One for all ports, or one for each \[Ω\].
    pub(super) reference: Vec<f64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { unit_hz: 1e9, parameter: Parameter::S, format: Format::Ma, reference: vec![50.0] }
    }
}

/// Sets an option; an error if it is already set.
fn set<T>(slot: &mut Option<T>, value: T, what: &'static str) -> Result<(), Problem> {
    if slot.replace(value).is_some() { Err(Problem::OptionTwice { what }) } else { Ok(()) }
}

/// Reads the words after `#`; an error includes the word that caused it.
pub(super) fn read<'t>(words: &[&'t str]) -> Result<Options, (Problem, &'t str)> {
    let (mut unit, mut parameter, mut format, mut reference) = (None, None, None, None::<Vec<f64>>);
    let mut after_r = false;
    for &word in words {
        let upper = word.to_ascii_uppercase();
        let at_word = |problem| (problem, word);
        let number = upper.strip_prefix('R').unwrap_or(&upper).parse::<f64>().ok().filter(|x| x.is_finite());
        let took = match (&*upper, number) {
            ("HZ", _) => set(&mut unit, 1.0, "the unit of frequencies"),
            ("KHZ", _) => set(&mut unit, 1e3, "the unit of frequencies"),
            ("MHZ", _) => set(&mut unit, 1e6, "the unit of frequencies"),
            ("GHZ", _) => set(&mut unit, 1e9, "the unit of frequencies"),
            ("S", _) => set(&mut parameter, Parameter::S, "the kind of parameters"),
            ("Y", _) => set(&mut parameter, Parameter::Y, "the kind of parameters"),
            ("Z", _) => set(&mut parameter, Parameter::Z, "the kind of parameters"),
            ("H", _) => set(&mut parameter, Parameter::H, "the kind of parameters"),
            ("G", _) => set(&mut parameter, Parameter::G, "the kind of parameters"),
            ("DB", _) => set(&mut format, Format::Db, "the form of numbers"),
            ("MA", _) => set(&mut format, Format::Ma, "the form of numbers"),
            ("RI", _) => set(&mut format, Format::Ri, "the form of numbers"),
            ("R", _) => set(&mut reference, Vec::new(), "the reference resistance"),
            (_, Some(ohm)) if upper.starts_with('R') => {
                set(&mut reference, vec![ohm], "the reference resistance")
            }
            (_, Some(ohm)) if after_r => {
                reference.get_or_insert_default().push(ohm);
                Ok(())
            }
            _ => Err(Problem::UnknownOption { word: word.to_owned() }),
        };
        took.map_err(at_word)?;
        after_r = upper.starts_with('R') && upper != "RI" || after_r && number.is_some();
    }
    if reference.as_ref().is_some_and(Vec::is_empty) {
        return Err((
            Problem::Reference { text: "`R` without a number".into() },
            words.last().unwrap_or(&""),
        ));
    }
    let default = Options::default();
    Ok(Options {
        unit_hz: unit.unwrap_or(default.unit_hz),
        parameter: parameter.unwrap_or(default.parameter),
        format: format.unwrap_or(default.format),
        reference: reference.unwrap_or(default.reference),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Options, String> {
        read(&line.split_whitespace().collect::<Vec<_>>())
            .map_err(|(problem, word)| format!("{word}: {problem}"))
    }

    #[test]
    fn every_order_of_the_options_means_the_same() {
        let expected =
            Options { unit_hz: 1e6, parameter: Parameter::Y, format: Format::Db, reference: vec![75.0] };
        let words = [["mhz", "", ""], ["Y", "", ""], ["dB", "", ""], ["R", "75", ""]];
        for (a, b, c, d) in
            [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2), (2, 0, 3, 1), (3, 0, 1, 2), (0, 2, 1, 3)]
        {
            let line = [a, b, c, d].map(|k: usize| words[k].join(" ")).join(" ");
            assert_eq!(of(&line).unwrap(), expected, "{line}");
        }
        assert_eq!(of("").unwrap(), Options::default());
        assert_eq!(of("R50").unwrap().reference, [50.0]);
        assert_eq!(of("GHz S RI R 50 50 75 75").unwrap().reference, [50.0, 50.0, 75.0, 75.0]);
    }

    #[test]
    fn nonsense_is_refused_with_its_word() {
        assert!(of("GHz S MA X 50").unwrap_err().starts_with("X: "));
        assert!(of("GHz S MA 50").unwrap_err().starts_with("50: "));
        assert!(of("GHz MHz").unwrap_err().starts_with("MHz: "));
        assert!(of("S Z").unwrap_err().starts_with("Z: "));
        assert!(of("MA R").unwrap_err().starts_with("R: "));
        assert!(of("R nan").unwrap_err().starts_with("nan: "));
        assert!(of("R 50 S 50").unwrap_err().starts_with("50: "));
    }
}
