//! Painting the state on a buffer: reads, never changes. Only what is visible is looked at.
//!
//! One file a part of the screen. `ui` holds what they share: styles, frames, numbers and ages as words.

mod context;
mod detail;
mod empty;
mod feed;
mod forms;
mod header;
mod legend;
mod observer;
mod popup;
mod rec;
mod search;
mod sessions;
mod side;
mod status;
mod strip;
mod timeline;
mod trash;
mod ui;

use ratatui::buffer::Buffer;

use super::layout::{Breadth, screen};
use super::state::{Popup, State, View};

pub use detail::last_scroll;
pub use observer::report;
pub use rec::{rec_cell, shows_ages};
pub use ui::{age, thousands, tokens};

use ui::Ui;

/// Paints everything. Returns where the hardware cursor belongs, and whether it is to be seen: in a line that is being
/// typed it is; else it stands unseen on the active row, where screen readers and magnifiers look.
pub fn draw(state: &State, buf: &mut Buffer) -> ((u16, u16), bool) {
    let mut ui = Ui::new(state, buf);
    ui.fill();
    match ui.screen.breadth() {
        Breadth::Rec => header::rec_only(&mut ui),
        Breadth::Ticker => header::ticker(&mut ui),
        _ => whole(&mut ui),
    }
    ui.cursor
}

fn whole(ui: &mut Ui<'_>) {
    header::draw(ui);
    if ui.screen.banner.height > 0 {
        header::banner(ui);
    }
    if ui.screen.search.height > 0 {
        search::line(ui);
    }
    match ui.state.view {
        View::Feed => {
            side::draw(ui);
            feed::draw(ui);
            detail::draw(ui);
        }
        View::Timeline => timeline::draw(ui),
        View::Sessions => sessions::draw(ui),
        View::Context => context::draw(ui),
        View::Observer => observer::draw(ui),
        View::Trash => trash::draw(ui),
    }
    status::draw(ui);
    if ui.state.guard.tripped.is_some() {
        strip::guard(ui);
        return;
    }
    match &ui.state.popup {
        Some(Popup::Legend(legend)) => legend::popup(ui, legend),
        Some(Popup::Picker(picker)) => popup::picker(ui, picker),
        Some(Popup::Strip(strip)) => strip::draw(ui, strip),
        Some(Popup::Line(line)) => popup::line(ui, line),
        Some(Popup::Merge(form)) => forms::merge(ui, form),
        Some(Popup::Redact(form)) => forms::redact(ui, form),
        Some(Popup::Text(text)) => popup::text(ui, text),
        None => popup::pending(ui),
    }
}

/// A buffer of the state's size with everything on it.
pub fn render(state: &State) -> Buffer {
    let (width, height) = state.size;
    let mut buf = Buffer::empty(ratatui::layout::Rect::new(0, 0, width, height));
    draw(state, &mut buf);
    buf
}

/// The screen of a state, for those who only want its places.
pub fn places(state: &State) -> super::layout::Screen {
    screen(state)
}
