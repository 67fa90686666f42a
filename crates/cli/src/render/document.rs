//! A page as blocks, and the same page as Markdown and as HTML.

use super::table::Table;
use std::fmt::Write;
use tessera_draw::svg::escape;

/// A part of a page.
#[derive(Debug)]
pub enum Block {
    /// A heading, 1 the title.
    Heading(u8, String),
    /// A paragraph.
    Text(String),
    /// Text as it is, with the name of its language.
    Code(&'static str, String),
    /// A list.
    List(Vec<String>),
    /// A table.
    Table(Table),
    /// SVG, with what it shows and the name of its file.
    Picture { svg: String, about: String, file: String },
}

/// The page as Markdown; pictures are files beside it.
pub fn markdown(blocks: &[Block]) -> String {
    // Angle brackets of types are text, and `|` ends a cell.
    let plain = |text: &str| text.replace('<', "&lt;").replace('>', "&gt;").replace('_', "\\_").replace('*', "\\*");
    let cell = |text: &String| plain(text).replace('|', "\\|");
    let mut out = String::new();
    for block in blocks {
        let text = match block {
            Block::Heading(level, text) => format!("{} {}\n", "#".repeat(usize::from(*level)), plain(text)),
            Block::Text(text) => format!("{}\n", plain(text)),
            Block::Code(lang, text) => format!("```{lang}\n{}\n```\n", text.trim_end()),
            Block::List(items) => items.iter().map(|item| format!("- {}\n", plain(item))).collect(),
            Block::Table(table) => {
                let row = |row: &Vec<String>| format!("| {} |\n", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
                let mut rows = table.rows().iter();
                let head = rows.next().map_or(String::new(), |head| row(head) + &"|---".repeat(head.len()) + "|\n");
                head + &rows.map(row).collect::<String>()
            }
            Block::Picture { about, file, .. } => format!("![{about}]({file})\n"),
        };
        let _ = writeln!(out, "{text}");
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// What pages look like, in the light and in the dark.
const STYLE: &str = "\
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
pre,code{font:14px/1.45 ui-monospace,Menlo,Consolas,monospace}pre{padding:.7rem;overflow:auto;background:#8881}\
table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px solid #8886;padding:.25rem .5rem;\
text-align:left;vertical-align:top}svg{max-width:100%;height:auto}h2{margin-top:2rem}";

/// The page as one HTML file that needs nothing else.
pub fn html(title: &str, blocks: &[Block]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>{}</title>\n<style>{STYLE}</style>\n",
        escape(title)
    );
    for block in blocks {
        let text = match block {
            Block::Heading(level, text) => format!("<h{level}>{}</h{level}>", escape(text)),
            Block::Text(text) => format!("<p>{}</p>", escape(text)),
            Block::Code(_, text) => format!("<pre>{}</pre>", escape(text.trim_end())),
            Block::List(items) => {
                let items: String = items.iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
                format!("<ul>{items}</ul>")
            }
            Block::Table(table) => {
                let row = |(n, row): (usize, &Vec<String>)| {
                    let tag = if n == 0 { "th" } else { "td" };
                    let cells: String = row.iter().map(|c| format!("<{tag}>{}</{tag}>", escape(c))).collect();
                    format!("<tr>{cells}</tr>")
                };
                format!("<table>{}</table>", table.rows().iter().enumerate().map(row).collect::<String>())
            }
            Block::Picture { svg, about, .. } => format!("<figure aria-label=\"{}\">{svg}</figure>", escape(about)),
        };
        let _ = writeln!(out, "{text}");
    }
    out
}
