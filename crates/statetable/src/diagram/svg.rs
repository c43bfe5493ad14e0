//! A drawing without a layout engine: the states under each other, each with its rows, and every row wired to the state it leads to.
//!
//! A state has one lane to the right of all text. Whatever leads there joins the lane with a dot, and the lane ends with an arrow at
//! the state's box, so that lines cross but never run through text. Colours tell lanes apart, on light and dark ground.

use super::Kind;
use super::graph::{Edge, edges};
use crate::table::{Label, Table};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A drawing as SVG, without scripts and styles, on one block of lines so that Markdown can embed it. Passing states are dashed,
/// terminal ones have a thick line, rows that keep the state end with a loop.
#[must_use]
pub fn svg<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> String {
    let blocks = blocks(table);
    let lanes = lanes(&blocks);
    let text_end = blocks.iter().flat_map(|block| &block.wires).map(|wire| wire.from_x).max().unwrap_or_default();
    let boxes_end = blocks.iter().map(|block| block.end_x).max().unwrap_or_default();
    let lanes_x = text_end.max(boxes_end) + LANE;
    let count = lanes.iter().map(|lane| lane.column + 1).max().unwrap_or_default();
    let (width, height) = (lanes_x + count * LANE, blocks.last().map_or(0, |block| block.bottom));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"The {} machine\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"monospace\" font-size=\"12\" fill=\"currentColor\">\n",
        table.name
    );
    for lane in &lanes {
        draw_lane(&mut out, lane, lanes_x, &blocks);
    }
    for block in &blocks {
        draw_block(&mut out, block);
    }
    out.push_str("</svg>\n");
    out
}

/// A state with its rows, placed.
struct Block {
    name: &'static str,
    meaning: &'static str,
    kind: Kind,
    is_initial: bool,
    /// Middle of the box.
    y: usize,
    /// Right edge of the box.
    end_x: usize,
    bottom: usize,
    texts: Vec<(usize, String)>,
    wires: Vec<Wire>,
}

/// The end of a row's text, from which a line leads to the lane of a state.
struct Wire {
    to: usize,
    from_x: usize,
    y: usize,
}

/// What leads to a state.
struct Lane {
    to: usize,
    column: usize,
    top: usize,
    bottom: usize,
}

fn blocks<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> Vec<Block> {
    let (mut blocks, mut y) = (Vec::new(), LINE);
    let edges = edges(table);
    for state in S::ALL {
        let name = state.name();
        let mut block = Block {
            name,
            meaning: state.meaning(),
            kind: Kind::of(table, *state),
            is_initial: *state == table.initial,
            y,
            end_x: MARGIN + (name.len() + 3) * CHARACTER,
            bottom: 0,
            texts: Vec::new(),
            wires: Vec::new(),
        };
        y += LINE + LINE / 4;
        for edge in edges.iter().filter(|edge| edge.from == *state) {
            y = place(&mut block, edge, y);
        }
        block.bottom = y;
        y += LINE / 2;
        blocks.push(block);
    }
    blocks
}

/// Writes the triggers of an edge below the box and returns where the next line goes.
fn place<S: Label>(block: &mut Block, edge: &Edge<S>, mut y: usize) -> usize {
    let mut line = String::new();
    for trigger in &edge.triggers {
        if !line.is_empty() && line.len() + trigger.len() > LINE_CHARACTERS {
            block.texts.push((y, core::mem::take(&mut line)));
            y += LINE;
        }
        let comma = if line.is_empty() { "" } else { ", " };
        line.push_str(&format!("{comma}{trigger}"));
    }
    let from_x = 3 * MARGIN + (line.len() + 1) * CHARACTER;
    if edge.from == edge.to {
        line.push_str(" ↺");
    } else if let Some(to) = S::ALL.iter().position(|state| *state == edge.to) {
        block.wires.push(Wire { to, from_x, y });
    }
    block.texts.push((y, line));
    y + LINE
}

/// One lane a state that something leads to; lanes that do not meet share a column.
fn lanes(blocks: &[Block]) -> Vec<Lane> {
    let mut lanes = Vec::new();
    for (to, block) in blocks.iter().enumerate() {
        let ys = || blocks.iter().flat_map(|from| &from.wires).filter(|wire| wire.to == to).map(|wire| wire.y);
        if let (Some(first), Some(last)) = (ys().min(), ys().max()) {
            lanes.push(Lane { to, column: 0, top: first.min(block.y), bottom: last.max(block.y) });
        }
    }
    lanes.sort_by_key(|lane| (lane.bottom - lane.top, lane.to));
    let mut columns: Vec<Vec<(usize, usize)>> = Vec::new();
    for lane in &mut lanes {
        let is_free = |column: &Vec<(usize, usize)>| {
            column.iter().all(|(top, bottom)| lane.bottom + LINE < *top || *bottom + LINE < lane.top)
        };
        lane.column = columns.iter().position(is_free).unwrap_or(columns.len());
        match columns.get_mut(lane.column) {
            Some(column) => column.push((lane.top, lane.bottom)),
            None => columns.push(alloc::vec![(lane.top, lane.bottom)]),
        }
    }
    lanes
}

fn draw_lane(out: &mut String, lane: &Lane, lanes_x: usize, blocks: &[Block]) {
    let Some(target) = blocks.get(lane.to) else { return };
    let (x, hue) = (lanes_x + lane.column * LANE, lane.to * 137 % 360);
    let Lane { top, bottom, .. } = lane;
    let (arrow_x, y) = (target.end_x + 7, target.y);
    let mut lines = format!("M{x} {top}V{bottom}M{x} {y}H{arrow_x}");
    let mut dots = String::new();
    for wire in blocks.iter().flat_map(|block| &block.wires).filter(|wire| wire.to == lane.to) {
        lines.push_str(&format!("M{} {}H{x}", wire.from_x, wire.y));
        dots.push_str(&format!("<circle cx=\"{x}\" cy=\"{}\" r=\"3\"/>", wire.y));
    }
    let (tip, above, below) = (target.end_x, y - 4, y + 4);
    out.push_str(&format!(
        "<g stroke=\"hsl({hue},65%,50%)\" fill=\"hsl({hue},65%,50%)\"><title>to {}</title><path fill=\"none\" d=\"{lines}\"/>{dots}\
         <path d=\"M{tip} {y}L{arrow_x} {above}V{below}Z\"/></g>\n",
        target.name
    ));
}

fn draw_block(out: &mut String, block: &Block) {
    let Block { name, y, end_x, .. } = block;
    let line = match block.kind {
        Kind::Waiting => "",
        Kind::Passing => " stroke-dasharray=\"5 3\"",
        Kind::Terminal => " stroke-width=\"3\"",
    };
    let (width, top, baseline) = (end_x - MARGIN, y - LINE / 2 - 1, y + 4);
    let start = if block.is_initial { format!("<circle cx=\"4\" cy=\"{y}\" r=\"4\"/>") } else { String::new() };
    out.push_str(&format!(
        "<g><title>{}</title>{start}<rect x=\"{MARGIN}\" y=\"{top}\" width=\"{width}\" height=\"{}\" rx=\"5\" fill=\"none\" \
         stroke=\"currentColor\"{line}/><text x=\"{}\" y=\"{baseline}\" font-weight=\"bold\">{name}</text></g>\n",
        escaped(block.meaning),
        LINE + 2,
        MARGIN + CHARACTER
    ));
    for (y, text) in &block.texts {
        out.push_str(&format!("<text x=\"{}\" y=\"{}\">{text}</text>\n", 3 * MARGIN, y + 4));
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Height of a line of text, in pixels as all below.
const LINE: usize = 18;
/// Width of a character, a little more than monospaced fonts take.
const CHARACTER: usize = 8;
/// Between the left edge and the boxes.
const MARGIN: usize = 12;
/// Between lanes.
const LANE: usize = 13;
/// Longest line of triggers.
const LINE_CHARACTERS: usize = 60;

#[cfg(test)]
mod tests {
    use super::{Block, LINE, Wire, lanes};
    use crate::diagram::Kind;
    use alloc::string::String;
    use alloc::vec::Vec;

    /// A state with one line that leads to it.
    fn state(place: usize, y: usize, wire_y: usize) -> Block {
        Block {
            name: "state",
            meaning: "",
            kind: Kind::Waiting,
            is_initial: false,
            y,
            end_x: 0,
            bottom: 0,
            texts: Vec::<(usize, String)>::new(),
            wires: alloc::vec![Wire { to: place, from_x: 0, y: wire_y }],
        }
    }

    /// Whether the lanes of two states are below each other, that of the first from 0 to `height` and that of the second `gap` below it.
    fn share_a_column(height: usize, gap: usize) -> bool {
        let below = height + gap;
        let lanes = lanes(&[state(0, 0, height), state(1, below, below + 2 * LINE)]);
        lanes[0].column == lanes[1].column
    }

    #[test]
    fn lanes_stand_below_each_other_with_more_than_a_line_between() {
        // The shorter one is given its place first: here the upper one, there the lower one.
        for height in [LINE, 3 * LINE] {
            assert!(!share_a_column(height, 0) && !share_a_column(height, LINE), "they would look like one");
            assert!(share_a_column(height, LINE + 1));
        }
    }
}
