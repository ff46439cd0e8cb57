//! What tokens cost, for estimates. A provider that reports the cost is believed over this table.

use super::provider::Usage;

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Input.
    pub input: f64,
    /// Input read from a cache.
    pub cached: f64,
    /// Output.
    pub output: f64,
}

/// The price of a model known by a part of its name; list prices, the dearest match a name allows. `None`: not known,
/// so money is not told (a local model, another vendor's).
pub fn price(model: &str) -> Option<Price> {
    let model = model.to_lowercase();
    let table = [
        ("haiku", Price { input: 1.0, cached: 0.1, output: 5.0 }),
        ("sonnet", Price { input: 3.0, cached: 0.3, output: 15.0 }),
        ("opus", Price { input: 15.0, cached: 1.5, output: 75.0 }),
    ];
    table.iter().find(|(name, _)| model.contains(name)).map(|(_, price)| *price)
}

/// The cost of a call: as reported, else by the table, else 0.
pub fn cost(model: &str, usage: &Usage) -> f64 {
    usage.cost.unwrap_or_else(|| {
        price(model).map_or(0.0, |it| {
            (usage.input as f64 * it.input + usage.cached as f64 * it.cached + usage.output as f64 * it.output) / 1e6
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reported_cost_goes_before_the_table() {
        let usage = Usage { input: 1_000_000, cached: 1_000_000, output: 100_000, ..Usage::default() };
        assert!((cost("claude-haiku-4-5", &usage) - 1.6).abs() < 1e-9);
        assert!((cost("haiku", &Usage { cost: Some(0.25), ..usage }) - 0.25).abs() < 1e-9);
        assert!(cost("qwen3:8b", &usage).abs() < 1e-9);
    }
}
