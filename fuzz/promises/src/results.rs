//! Reading results: any text is a results document or an error with a code; a document survives writing and reading.

use lanetwin_stats::Results;

crate::input::promise!(|text: &str| match Results::from_json(text, "results.json") {
    Ok(results) => {
        let written = results.to_json();
        let again = Results::from_json(&written, "results.json").expect("what was written can be read");
        assert_eq!(again.to_json(), written);
    }
    Err(error) => assert!(error.code.starts_with("RS"), "{error:?}"),
});
