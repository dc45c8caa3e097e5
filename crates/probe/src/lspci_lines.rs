//! Parsers of the lines that `lspci -x` prints: the address of a function, and rows of its bytes.

use crate::host::Address;

/// The address in the line that begins a function's text.
pub(crate) fn heading(line: &str) -> Option<Address> {
    let word = line.split_whitespace().next()?;
    let opens = !line.starts_with(char::is_whitespace) && word.contains('.');
    opens.then(|| word.parse().ok()).flatten()
}

/// `10: 00 01 …`: an offset and up to 16 bytes.
pub(crate) fn row(line: &str) -> Option<(usize, Vec<u8>)> {
    let (offset, rest) = line.split_once(": ")?;
    let plain = (2..=3).contains(&offset.len()) && offset.bytes().all(|b| b.is_ascii_hexdigit());
    let offset = plain.then(|| usize::from_str_radix(offset, 16).ok()).flatten()?;
    let byte = |word: &str| if word.len() == 2 { u8::from_str_radix(word, 16).ok() } else { None };
    let bytes: Option<Vec<u8>> = rest.split_whitespace().map(byte).collect();
    bytes.filter(|bytes| (1..=16).contains(&bytes.len())).map(|bytes| (offset, bytes))
}
