//! A reader of the parts of Markdown that the rules need: tables and links.

/// A table: its header and its rows, each cell trimmed.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// The cells of the header row.
    pub header: Vec<String>,
    /// Line number (from 1) and cells of every body row.
    pub rows: Vec<(usize, Vec<String>)>,
}

impl Table {
    /// The position of the column with this heading, regardless of case.
    #[must_use]
    pub fn column(&self, heading: &str) -> Option<usize> {
        self.header.iter().position(|cell| cell.eq_ignore_ascii_case(heading))
    }
}

/// Every table of a document, in order, except in fenced code.
#[must_use]
pub fn tables(text: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut inside = false;
    let lines: Vec<(usize, &str)> = prose_lines(text).collect();
    for (position, &(number, line)) in lines.iter().enumerate() {
        let Some(cells) = row(line) else {
            inside = false;
            continue;
        };
        let next = lines.get(position + 1).and_then(|&(_, line)| row(line));
        if !inside && next.is_some_and(|cells| is_rule(&cells)) {
            tables.push(Table { header: cells, rows: Vec::new() });
            inside = true;
        } else if let (true, false, Some(table)) = (inside, is_rule(&cells), tables.last_mut()) {
            table.rows.push((number, cells));
        }
    }
    tables
}

/// Line number and target of every inline link `[text](target)` outside fenced code.
#[must_use]
pub fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose_lines(text) {
        for piece in line.split("](").skip(1) {
            if let Some((target, _)) = piece.split_once(')') {
                found.push((number, target.trim().to_owned()));
            }
        }
    }
    found
}

/// The lines outside fenced code, with their numbers from 1.
pub fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// The cells of a row. A `|` in a code span, or after a backslash, does not separate cells.
fn row(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?;
    let (mut cells, mut cell, mut code, mut escaped) = (Vec::new(), String::new(), false, false);
    for character in inner.chars() {
        if character == '|' && !code && !escaped {
            cells.push(std::mem::take(&mut cell).trim().to_owned());
        } else {
            code ^= character == '`';
            cell.push(character);
        }
        escaped = character == '\\';
    }
    if !cell.trim().is_empty() {
        cells.push(cell.trim().to_owned());
    }
    Some(cells)
}

fn is_rule(cells: &[String]) -> bool {
    !cells.is_empty()
        && cells.iter().all(|cell| cell.contains("--") && cell.chars().all(|c| "-: ".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_with_its_line_numbers() {
        let text = "# T\n\n| floor | crate |\n|---|:--|\n| 0 | `a|b` |\n| 1 | c |\n\nprose | with a bar\n";
        let tables = tables(text);
        assert_eq!(tables.len(), 1);
        assert_eq!(tables[0].column("Crate"), Some(1));
        assert_eq!(tables[0].column("price"), None);
        let expected = [(5, vec!["0".into(), "`a|b`".into()]), (6, vec!["1".into(), "c".to_owned()])];
        assert_eq!(tables[0].rows, expected);
    }

    #[test]
    fn fenced_code_holds_neither_tables_nor_links() {
        let text = "```text\n| a | b |\n|---|---|\n| 1 | 2 |\n[x](y.md)\n```\n[z](w.md)\n";
        assert!(tables(text).is_empty());
        assert_eq!(links(text), [(7, "w.md".to_owned())]);
    }

    #[test]
    fn two_tables_stay_two() {
        let text = "| a |\n|---|\n| 1 |\n\n| b |\n|---|\n| 2 |\n";
        let rows: Vec<usize> = tables(text).iter().map(|table| table.rows.len()).collect();
        assert_eq!(rows, [1, 1]);
    }
}
