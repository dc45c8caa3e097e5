//! Reports of components as rows, and as the table of components in the results.

use crate::components::SupplyUse;
use crate::measure::Measured;
use crate::metric::Metric;
use lanetwin_stats::results::ComponentMetric;
use lanetwin_units::Better;

/// Metrics of every component, with its name, from all repeats. A metric without a group has to have a value in every
/// repeat; the metrics of a group are listed if one of them was not zero in some repeat.
pub(super) fn metrics(repeats: &[Measured]) -> Vec<(String, Metric)> {
    let mut list = Vec::new();
    for (place, first) in repeats[0].components.iter().enumerate() {
        let samples = |number: usize| repeats.iter().map(move |m| m.components[place].metrics[number].1);
        let is_any = |group: &str| {
            let in_group = first.metrics.iter().enumerate().filter(|(_, (m, _))| m.group == Some(group));
            in_group.flat_map(|(number, _)| samples(number)).flatten().any(|value| value != 0.0)
        };
        for (number, (metric, _)) in first.metrics.iter().enumerate().filter(|(_, (m, _))| !m.is_aside) {
            let samples: Option<Vec<f64>> = match metric.group {
                None => samples(number).collect(),
                Some(group) if is_any(group) => {
                    Some(samples(number).map(|value| value.unwrap_or(0.0)).collect())
                }
                Some(_) => None,
            };
            if let Some(samples) = samples {
                let metric = Metric::new(metric.name.clone(), metric.unit, metric.better, samples);
                list.push((first.component.clone(), metric));
            }
        }
    }
    list
}

/// Reports of all components for the table in the results: the use of their supplies, and their metrics.
pub(super) fn table(
    (variant, workload, case): (&str, &str, &str),
    repeats: &[Measured],
) -> Vec<ComponentMetric> {
    let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
    let line = |component: &str, metric: &str, unit: &str, better: Better, value: f64| ComponentMetric {
        variant: variant.to_owned(),
        workload: workload.to_owned(),
        case: case.to_owned(),
        component: component.to_owned(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        better,
        value,
    };
    let mut lines = Vec::new();
    for (place, first) in repeats[0].limits.iter().enumerate() {
        let of = |value: &dyn Fn(&SupplyUse) -> f64| -> Vec<f64> {
            repeats.iter().map(|measured| value(&measured.limits[place])).collect()
        };
        let share = 100.0 * mean(&of(&|used| used.share));
        lines.push(line(&first.component, &format!("{}, in use", first.name), "%", Better::Neither, share));
        if first.waiting.is_some() {
            let waiting = mean(&of(&|used| used.waiting.unwrap_or(0.0)));
            let name = format!("{}, waited for", first.name);
            lines.push(line(&first.component, &name, "", Better::Neither, waiting));
        }
    }
    for (component, metric) in metrics(repeats) {
        let value = mean(&metric.samples);
        lines.push(line(&component, &metric.name, metric.unit, metric.better, value));
    }
    lines
}
