//! Plain tables that fit the page: the widest columns wrap at words.

use super::width;

/// A table; the first row is its head.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Table { rows: vec![head.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Has it rows besides the head?
    pub fn is_empty(&self) -> bool {
        self.rows.len() <= 1
    }

    /// The rows, the head first.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// The table as text, each line indented by two, with a rule below the head.
    pub fn render(&self) -> String {
        let widths = self.widths(width() - 2);
        let mut out = String::new();
        for (n, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<String>> = row.iter().zip(&widths).map(|(cell, w)| wrap(cell, *w)).collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            for line in 0..height {
                let parts = cells.iter().zip(&widths).map(|(cell, w)| {
                    let text = cell.get(line).map_or("", String::as_str);
                    format!("{text:<w$}")
                });
                let text = parts.collect::<Vec<_>>().join("  ");
                out.push_str(&format!("  {}\n", text.trim_end()));
            }
            if n == 0 {
                let rules: Vec<String> = widths.iter().map(|w| "─".repeat(*w)).collect();
                out.push_str(&format!("  {}\n", rules.join("──")));
            }
        }
        out
    }

    /// Column widths: the natural ones, the widest shrunk until the row fits.
    fn widths(&self, limit: usize) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths = vec![0usize; columns];
        for row in &self.rows {
            for (w, cell) in widths.iter_mut().zip(row) {
                *w = cell.chars().count().max(*w);
            }
        }
        let gaps = 2 * columns.saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > limit {
            match widths.iter_mut().max() {
                Some(w) if *w > 8 => *w -= 1,
                _ => break,
            }
        }
        widths
    }
}

/// The lines of a text cut at words (a longer word is cut where it must be).
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut rest: Vec<char> = word.chars().collect();
        while let Some(line) = lines.last_mut() {
            let used = line.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + rest.len() <= width || width == 0 {
                line.push_str(if gap == 1 { " " } else { "" });
                line.extend(rest.drain(..));
                break;
            }
            if used == 0 {
                line.extend(rest.drain(..width));
            }
            lines.push(String::new());
        }
    }
    lines
}

/// A paragraph, cut at words and indented.
pub fn paragraph(text: &str, indent: usize) -> String {
    let pad = " ".repeat(indent);
    wrap(text, width() - indent).iter().map(|line| format!("{pad}{line}\n")).collect()
}
