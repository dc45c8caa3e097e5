//! What an author can get wrong about networks, and what is offered over them.

use lanetwin_document::problems;

problems! {
    /// A rate that no port has.
    NotARate { text: String, known: String } = "FB009", "`{text}` is no rate of Ethernet", "write one of {known}, or leave `rate` out: it is then the best that both ends have";
    /// A cable that is faster than a port at its end.
    FasterThanPort { port: String, has: String } = "FB010", "`{port}` runs at {has} at most", "lower `rate`, leave it out, or give the component another part";
    /// Bridges in a circle.
    BridgeLoop { circle: String } = "FB011", "the switches {circle} are joined in a circle, and forward without routing: what one floods goes round for ever", "take a cable away, or set `routes: true` for a switch that routes: flows are then spread over equally short ways";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_every_one_has_its_page() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]), "{CODES:?}");
        for code in CODES {
            assert!(lanetwin_document::explain(code).is_some(), "{code}");
        }
    }
}
