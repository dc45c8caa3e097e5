//! `'RESULTS DISPLAY`.

use super::super::config::{BarChart, Display, Named};
use super::super::lines::{Between, Line};
use super::super::problem::Problem;
use super::super::words::{Switch, UpdateType};
use super::reader::{DISPLAY, Reader, short};

const DATED: &str = "'Update Frequency,Update Type";
const NUMBERED: &str = "'Record Last Update Results,Update Frequency,Update Type";
const BAR: &str = "'Bar chart ";
const KEYS: [&str; 5] = [
    NUMBERED,
    DATED,
    "'Bar chart 1 statistic",
    "'Bar chart 1 manager ID, manager name",
    "'Bar chart 1 worker ID, worker name",
];

impl<'a> Reader<'a> {
    pub(super) fn display(&mut self) -> Display {
        let charts = Vec::new();
        let mut display =
            Display { record_updates: None, update_s: 0, update_type: UpdateType::WholeTest, charts };
        while let Some(key) = self.key(DISPLAY) {
            if key.is(DATED) {
                if let Some([every, kind]) = self.fields(key, Between::Commas, "a frequency and a type") {
                    display.update_s = self.count(every, "a time in seconds");
                    display.update_type = self.word(kind).unwrap_or(display.update_type);
                }
            } else if key.is(NUMBERED) {
                let wanted = "a switch, a frequency and a type";
                if let Some([record, every, kind]) = self.fields(key, Between::Commas, wanted) {
                    display.record_updates = self.word(record).map(Switch::is_on);
                    display.update_s = self.count(every, "a time in seconds");
                    display.update_type = self.word(kind).unwrap_or(display.update_type);
                }
            } else if let Some((number, what)) = chart(key) {
                self.bar(key, number, what, &mut display.charts);
            } else {
                self.unknown(key, &KEYS);
            }
        }
        display
    }
    /// A setting of a bar. The manager and the worker of a bar stand below its statistic.
    fn bar(&mut self, key: Line<'a>, number: u32, what: &str, charts: &mut Vec<BarChart>) {
        let last = charts.last_mut().filter(|chart| chart.number == number);
        match (what.to_ascii_lowercase().as_str(), last) {
            ("statistic", None) => {
                if let Some(line) = self.required(key, "the name of a metric") {
                    let statistic = line.text.to_owned();
                    charts.push(BarChart { number, statistic, manager: None, worker: None });
                }
            }
            ("manager id, manager name", Some(chart)) if chart.manager.is_none() => {
                chart.manager = self.named(key);
            }
            ("worker id, worker name", Some(chart)) if chart.manager.is_some() && chart.worker.is_none() => {
                chart.worker = self.named(key);
            }
            _ => self.unknown(key, &KEYS),
        }
    }
    /// A number and a name below a key.
    pub(super) fn named(&mut self, key: Line<'a>) -> Option<Named> {
        let wanted = "a number, a comma and a name";
        let line = self.required(key, wanted)?;
        let (id, name) = line.split_comma();
        let Some(name) = name.filter(|name| !name.text.is_empty()) else {
            let problem = Problem::MissingValue { key: short(key.text), wanted: wanted.into() };
            self.report(&problem, line.place);
            return None;
        };
        Some(Named { id: self.count(id, "the number of a manager or worker"), name: name.text.to_owned() })
    }
}

/// The number of a bar, and what is said of it.
fn chart(key: Line<'_>) -> Option<(u32, &str)> {
    if !key.opens_with(BAR) {
        return None;
    }
    let (number, what) = key.text[BAR.len()..].split_once(' ')?;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| number.parse().ok())?.map(|number| (number, what.trim()))
}
