//! The recording cell (tui.md B.12): a word, an age, a colour; never off the screen.

use crate::hub::live::Rec;
use crate::tui::state::State;
use crate::tui::theme::Role;

use super::ui::age;

/// What the cell says and how.
pub fn rec_cell(state: &State) -> (String, Role) {
    if let Some(trouble) = &state.closed {
        let word = match trouble.kind {
            crate::hub::live::TroubleKind::Missing => "REC none",
            crate::hub::live::TroubleKind::Busy => "REC locked",
            _ => "NO DB",
        };
        return (word.to_owned(), Role::Error);
    }
    let since = |at: i64| age(state.now - at);
    match state.pages.vitals.rec {
        Rec::Unknown if state.opened.read_only.is_some() => ("READ ONLY".into(), Role::Warn),
        Rec::Unknown => ("REC …".into(), Role::Muted),
        Rec::Ok(at) => (format!("REC ok {}", since(at)), Role::Ok),
        Rec::Idle => ("REC idle".into(), Role::Ok),
        Rec::Lag(at) => (format!("REC LAG {}", since(at)), Role::Warn),
        Rec::Wait(until) => {
            let at = crate::memory::from_millis(until).to_zoned_datetime(state.zone.clone());
            (format!("REC WAIT {:02}:{:02}", at.hour(), at.minute()), Role::Warn)
        }
        Rec::Gap(at) => (format!("REC GAP {}", since(at)), Role::Error),
        Rec::Off => ("REC OFF".into(), Role::Warn),
        Rec::Down(0) => ("REC DOWN".into(), Role::Error),
        Rec::Down(at) => (format!("REC DOWN {}", since(at)), Role::Error),
        Rec::ReadOnly => ("READ ONLY".into(), Role::Warn),
    }
}

/// Whether something on the screen grows older: then it is drawn anew now and then.
pub fn shows_ages(state: &State) -> bool {
    state.closed.is_none() && matches!(state.pages.vitals.rec, Rec::Ok(_) | Rec::Lag(_) | Rec::Gap(_) | Rec::Down(1..))
}
