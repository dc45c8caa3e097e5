//! Suggestions for misspelt words: "did you mean …?"

use std::fmt;

/// The word that was probably meant, if one is close; displays as the first sentence of a help text.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Near(Option<String>);

impl Near {
    /// The word of `words` that is closest to `word`, with at most a third of its letters wrong, and not all of them.
    /// If there is none, the only word that contains it as a part, as `samsung-pm1743` contains `pm1743`.
    pub fn of<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Self {
        let words: Vec<&str> = words.into_iter().collect();
        let letters = word.chars().count();
        let allowed = (letters / 3).max(1);
        let own = folded(word);
        // the distance of words is at least the difference of their lengths, which is faster to compute
        let as_long = |other: &Vec<char>| own.len().abs_diff(other.len()) <= allowed;
        let folded_words = words.iter().map(|candidate| (folded(candidate), *candidate));
        let near = folded_words
            .filter(|(other, _)| as_long(other))
            .map(|(other, candidate)| (distance(&own, &other), candidate))
            .filter(|(distance, _)| *distance <= allowed && *distance < letters)
            .min()
            .map(|(_, near)| near);
        Self(near.or_else(|| only_whole(word, &words)).map(str::to_owned))
    }
}

/// The only word that has `part` between its hyphens.
fn only_whole<'a>(part: &str, words: &[&'a str]) -> Option<&'a str> {
    let has = |word: &&&str| word.split('-').any(|own| own.eq_ignore_ascii_case(part));
    let mut whole = words.iter().filter(has);
    let first = whole.next()?;
    whole.all(|other| other == first).then_some(*first)
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |word| write!(f, "did you mean `{word}`? "))
    }
}

/// The form of a word for comparison: its first 64 letters, ignoring hyphens, underscores and case.
fn folded(word: &str) -> Vec<char> {
    word.chars().take(64).flat_map(char::to_lowercase).map(|c| if c == '_' { '-' } else { c }).collect()
}

/// Edit distance: letters to insert, delete, replace or swap with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    strsim::osa_distance(&String::from_iter(a), &String::from_iter(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let near = |word| Near::of(word, ["width", "generation", "warm-up"]).to_string();
        assert_eq!(near("widht"), "did you mean `width`? ");
        assert_eq!(near("warm_up"), "did you mean `warm-up`? ");
        assert_eq!(near("Width"), "did you mean `width`? ");
        assert_eq!(near("height"), "");
        assert_eq!(Near::of("F", ["A", "B"]).to_string(), "", "one letter is as near to any other");
        assert_eq!(Near::of("a", ["A", "B"]).to_string(), "did you mean `A`? ");
        assert_eq!(near(""), "");
    }

    #[test]
    fn a_part_of_one_name_is_near_and_of_two_is_not() {
        let near = |word| Near::of(word, ["samsung-pm1743", "samsung-cmm-h", "x-cmm"]).to_string();
        assert_eq!(near("PM1743"), "did you mean `samsung-pm1743`? ");
        assert_eq!((near("samsung"), near("cmm"), near("")), (String::new(), String::new(), String::new()));
    }

    #[test]
    fn distances() {
        for (a, b, steps) in [("", "", 0), ("a", "", 1), ("ab", "ba", 1), ("kitten", "sitting", 3)] {
            let (left, right) = (folded(a), folded(b));
            assert_eq!((distance(&left, &right), distance(&right, &left)), (steps, steps), "{a} {b}");
        }
    }
}
