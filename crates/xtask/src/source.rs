//! Rust source as a sequence of tokens, which is enough to find imports, modules and error codes.
//!
//! Comments have no tokens; the arguments of macros do.

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A token and its line. The delimiters of groups are tokens of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The token as it is in the source.
    pub text: String,
    /// Line, from 1.
    pub line: usize,
}

/// The tokens of a file.
pub fn tokens(text: &str) -> Result<Vec<Token>> {
    let stream: TokenStream = text.parse().map_err(|error| anyhow!("not Rust: {error}"))?;
    let mut flat = Vec::new();
    flatten(stream, &mut flat);
    Ok(flat)
}

fn flatten(stream: TokenStream, into: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                into.push(Token { text: open.into(), line });
                flatten(group.stream(), into);
                into.push(Token { text: close.into(), line: group.span_close().start().line });
            }
            other => into.push(Token { text: other.to_string(), line }),
        }
    }
}

/// The tokens without documentation and without `#[cfg(test)]` modules.
#[must_use]
pub fn production(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        if starts_with(rest, &["#", "[", "doc"]) || starts_with(rest, &["#", "!", "[", "doc"]) {
            at = after_group(tokens, at, "[");
        } else if starts_with(rest, &["#", "[", "cfg", "(", "test", ")", "]", "mod"])
            || starts_with(rest, &["#", "[", "cfg", "(", "test", ")", "]", "pub", "mod"])
        {
            at = after_group(tokens, at + 7, "{");
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// True if the texts of `tokens` begin with `pattern`.
#[must_use]
pub fn starts_with(tokens: &[Token], pattern: &[&str]) -> bool {
    tokens.len() >= pattern.len() && tokens.iter().zip(pattern).all(|(token, text)| token.text == *text)
}

/// The position after the first group from `from` on that `open` opens, or after a `;` if that comes first.
fn after_group(tokens: &[Token], from: usize, open: &str) -> usize {
    let close = if open == "[" { "]" } else { "}" };
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        if token.text == open {
            depth += 1;
        } else if token.text == close && depth > 0 {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        } else if token.text == ";" && depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The first names after `prefix ::` — `b` in `prefix::b::c`, `b` and `d` in `prefix::{b::c, d}` — with their lines.
#[must_use]
pub fn names_under(tokens: &[Token], prefix: &str) -> Vec<Token> {
    let mut names = Vec::new();
    for at in 0..tokens.len() {
        let rest = &tokens[at..];
        let follows_a_path = at > 0 && tokens[at - 1].text == ":";
        if follows_a_path || !starts_with(rest, &[prefix, ":", ":"]) {
            continue;
        }
        match rest.get(3) {
            Some(token) if token.text == "{" => names.extend(first_names(&rest[3..])),
            Some(token) => names.push(token.clone()),
            None => {}
        }
    }
    names
}

/// The first token of every element of the list in braces with which the tokens begin.
fn first_names(tokens: &[Token]) -> Vec<Token> {
    let (mut depth, mut names, mut fresh) = (0_usize, Vec::new(), true);
    for token in tokens {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => fresh = true,
            _ if fresh && depth == 1 => {
                names.push(token.clone());
                fresh = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// List macros that declare a module for each of their words, and the item of each module that the list contains.
pub const LISTS: [(&str, &str); 3] = [("models", "MODEL"), ("kinds", "KIND"), ("formats", "FORMAT")];

/// The modules that list macros ([`LISTS`]) declare, each with the item that the list contains.
#[must_use]
pub fn listed(tokens: &[Token]) -> Vec<(String, &'static str)> {
    let of = |(name, item)| macro_words(tokens, name).into_iter().map(move |word| (word, item));
    LISTS.into_iter().flat_map(of).collect()
}

/// The names in a list macro: `a` and `b` in `name! { a, b }`, with any kind of brackets.
#[must_use]
pub fn macro_words(tokens: &[Token], name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for at in 0..tokens.len() {
        if starts_with(&tokens[at..], &[name, "!"])
            && tokens.get(at + 2).is_some_and(|t| "({[".contains(&t.text))
        {
            let inside = tokens[at + 3..].iter().take_while(|token| !")}]".contains(&token.text));
            words.extend(inside.filter(|token| is_name(&token.text)).map(|token| token.text.clone()));
        }
    }
    words
}

/// The modules declared with `mod name;`, with the file of a `#[path]` if one is given.
#[must_use]
pub fn modules(tokens: &[Token]) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let declares = tokens.get(at + 2).is_some_and(|token| token.text == ";");
        if tokens[at].text == "mod" && declares {
            found.push((tokens[at + 1].text.clone(), path_attribute(&tokens[..at])));
        }
    }
    found
}

/// The string of a `#[path = "…"]` at the end of the tokens; a visibility may follow it.
fn path_attribute(before: &[Token]) -> Option<String> {
    let end = before.iter().rposition(|token| token.text == "]")?;
    let only_visibility =
        before[end + 1..].iter().all(|token| ["pub", "(", "crate", "super", ")"].contains(&&*token.text));
    let start = end.checked_sub(5)?;
    let is_path = only_visibility && starts_with(&before[start..], &["#", "[", "path", "="]);
    is_path.then(|| string_value(&before[end - 1].text).map(str::to_owned)).flatten()
}

/// The text between the quotes of a plain string literal.
#[must_use]
pub fn string_value(literal: &str) -> Option<&str> {
    literal.strip_prefix('"')?.strip_suffix('"')
}

/// Whether a token is a name.
#[must_use]
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(tokens: &[Token]) -> Vec<&str> {
        tokens.iter().map(|token| token.text.as_str()).collect()
    }

    #[test]
    fn comments_documentation_and_tests_are_not_production() {
        let text = "//! Doc of `SC001`.\n/// More.\nfn f() {}\n// SC002\n#[cfg(test)]\nmod tests { fn g() { { } } }\nfn h() {}\n";
        let kept = production(&tokens(text).unwrap());
        assert_eq!(texts(&kept), ["fn", "f", "(", ")", "{", "}", "fn", "h", "(", ")", "{", "}"]);
        assert_eq!(kept.last().unwrap().line, 7);
    }

    #[test]
    fn a_test_module_in_its_own_file_is_skipped_alone() {
        let kept = production(&tokens("#[cfg(test)]\nmod tests;\nfn h() {}").unwrap());
        assert_eq!(texts(&kept)[..2], ["fn", "h"]);
    }

    #[test]
    fn names_are_found_in_paths_and_lists() {
        let tokens =
            tokens("use crate::{a::B, c}; use crate::d; fn f() { crate::e::g(); x::crate_::z(); }").unwrap();
        assert_eq!(texts(&names_under(&tokens, "crate")), ["a", "c", "d", "e"]);
    }

    #[test]
    fn a_list_macro_gives_its_words() {
        let tokens = tokens("models! {\n    null, // the null device\n    fixed_latency,\n}").unwrap();
        assert_eq!(macro_words(&tokens, "models"), ["null", "fixed_latency"]);
    }

    #[test]
    fn modules_are_declarations_without_a_body() {
        let text = "mod a; pub(crate) mod b; mod c { }\n#[path = \"x/y.rs\"]\npub mod d;";
        let expected = [("a", None), ("b", None), ("d", Some("x/y.rs"))]
            .map(|(name, path)| (name.to_owned(), path.map(str::to_owned)));
        assert_eq!(modules(&tokens(text).unwrap()), expected);
    }

    #[test]
    fn broken_source_is_an_error() {
        assert!(tokens("fn f( {").is_err());
    }
}
