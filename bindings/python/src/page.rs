//! Text and numbers as HTML, for notebooks.

/// Text in which HTML has no meaning.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text as it is, in letters of one width.
pub fn block(text: &str) -> String {
    format!("<pre style=\"line-height: 1.25; overflow-x: auto\">{}</pre>", escape(text))
}

/// A table with a head.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let cells = |tag: &str, row: &[String]| -> String {
        let cells: Vec<String> = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
        format!("<tr>{}</tr>", cells.concat())
    };
    let head: Vec<String> = head.iter().map(|h| h.to_string()).collect();
    let rows: Vec<String> = rows.into_iter().map(|row| cells("td", &row)).collect();
    format!("<table><thead>{}</thead><tbody>{}</tbody></table>", cells("th", &head), rows.concat())
}
