//! Themes: colours named for what they mean, as TOML that users copy and edit.
//!
//! A theme inherits from another, down to `terminal`, which uses the sixteen colours the user chose for their terminal
//! and sets no background. Reading never fails: an unknown key or colour is a [`Fault`] with its line, the rest applies
//! and what is missing falls back to the parent. No meaning rests on colour alone: `mono` drops every colour and the
//! screen still says everything.

mod color;
mod glyphs;
mod parse;

use std::collections::HashMap;

use ratatui::style::{Modifier, Style};

pub use color::{Depth, Layered, Paint, contrast, luminance};
pub use glyphs::{GlyphSet, Signs, nerd_icon};
pub use parse::{Fault, ThemeFile, load};

/// The shipped themes, by name, in the order `:theme` lists them.
pub const SHIPPED: [(&str, &str); 15] = [
    ("terminal", include_str!("../../../themes/terminal.toml")),
    ("mono", include_str!("../../../themes/mono.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
    ("colorblind", include_str!("../../../themes/colorblind.toml")),
    ("catppuccin-mocha", include_str!("../../../themes/catppuccin-mocha.toml")),
    ("catppuccin-latte", include_str!("../../../themes/catppuccin-latte.toml")),
    ("gruvbox-dark", include_str!("../../../themes/gruvbox-dark.toml")),
    ("gruvbox-light", include_str!("../../../themes/gruvbox-light.toml")),
    ("solarized-dark", include_str!("../../../themes/solarized-dark.toml")),
    ("solarized-light", include_str!("../../../themes/solarized-light.toml")),
    ("nord", include_str!("../../../themes/nord.toml")),
    ("tokyonight", include_str!("../../../themes/tokyonight.toml")),
    ("rose-pine", include_str!("../../../themes/rose-pine.toml")),
    ("rose-pine-dawn", include_str!("../../../themes/rose-pine-dawn.toml")),
    ("everforest", include_str!("../../../themes/everforest.toml")),
];

macro_rules! roles {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// What a colour is for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Role {
            $(#[doc = $doc] $variant,)*
        }

        impl Role {
            /// Every role.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name in a theme file.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

roles! {
    Text "text" "Body text.",
    Background "background" "The whole screen's background; only its colour counts.",
    Muted "muted" "What may be overlooked: times, ids, hints.",
    Strong "strong" "Titles of what is open.",
    Accent "accent" "The program's name, the current view, keys.",
    Heading "heading" "Day and session lines.",
    Border "border" "Frames.",
    BorderFocus "border-focus" "The frame of the pane that has the keys.",
    Cursor "cursor" "The row under the cursor.",
    Mark "mark" "Marked rows.",
    Match "match" "What a search found.",
    Fault "fault" "A part of a query that is not understood.",
    Ok "ok" "Well.",
    Warn "warn" "Look here.",
    Error "error" "Broken.",
    In "in" "In the next context.",
    Out "out" "Not in it.",
    Pinned "pinned" "Pinned by the user.",
    Excluded "excluded" "Excluded by the user.",
    Fresh "fresh" "A memory that has just come.",
    Unseen "unseen" "The line between new and seen.",
    Input "input" "What is being typed.",
    Chart "chart" "Bars and cells of charts.",
}

/// How a role or type is drawn: colours still in layers, so that one theme serves every depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Text colour.
    pub fg: Option<Layered>,
    /// Background colour.
    pub bg: Option<Layered>,
    /// Bold, dim, underline, reverse, italic.
    pub modifier: Modifier,
}

impl Look {
    fn style(self, depth: Depth) -> Style {
        let mut style = Style::default().add_modifier(self.modifier);
        if let Some(fg) = self.fg.and_then(|layered| layered.at(depth)) {
            style = style.fg(fg);
        }
        if let Some(bg) = self.bg.and_then(|layered| layered.at(depth)) {
            style = style.bg(bg);
        }
        style
    }
}

/// Whether a theme is made for dark or light screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appearance {
    /// Made for dark backgrounds.
    Dark,
    /// Made for light ones.
    Light,
    /// Either.
    Any,
}

/// A theme ready to draw with, at one depth.
#[derive(Clone, Debug)]
pub struct Theme {
    /// Its name.
    pub name: String,
    /// What it is made for.
    pub appearance: Appearance,
    /// The signs it asks for, if it does.
    pub glyphs: Option<GlyphSet>,
    styles: Vec<Style>,
    types: HashMap<String, Style>,
    wild: Style,
}

impl Theme {
    /// `file` at `depth`.
    pub fn new(file: &ThemeFile, depth: Depth) -> Self {
        let mut styles: Vec<Style> = Role::ALL.iter().map(|role| file.look(*role).style(depth)).collect();
        if depth == Depth::Mono {
            // Without colour the cursor must still be seen, and errors must stand out.
            styles[Role::Cursor as usize] = Style::default().add_modifier(Modifier::REVERSED);
            styles[Role::Error as usize] = styles[Role::Error as usize].add_modifier(Modifier::BOLD);
            styles[Role::Match as usize] = styles[Role::Match as usize].add_modifier(Modifier::UNDERLINED);
        }
        let types = file.types.iter().map(|(id, look)| (id.clone(), look.style(depth))).collect();
        let wild = file.types.get("wild").copied().unwrap_or_default().style(depth);
        Self { name: file.name.clone(), appearance: file.appearance, glyphs: file.glyphs, styles, types, wild }
    }

    /// How `role` is drawn.
    pub fn of(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// The style of everything that has no other: body text on the theme's background.
    pub fn base(&self) -> Style {
        let mut style = self.of(Role::Text);
        style.bg = self.of(Role::Background).bg.or(self.of(Role::Background).fg);
        style
    }

    /// How a type's glyph is drawn.
    pub fn of_type(&self, type_id: &str, wild: bool) -> Style {
        if wild { self.wild } else { self.types.get(type_id).copied().unwrap_or_else(|| self.of(Role::Text)) }
    }
}

/// The theme made for the other kind of screen, where `name` is of a pair and made for the wrong one.
pub fn sibling(name: &str, light: bool) -> Option<&'static str> {
    const PAIRS: [(&str, &str); 4] = [
        ("catppuccin-mocha", "catppuccin-latte"),
        ("gruvbox-dark", "gruvbox-light"),
        ("solarized-dark", "solarized-light"),
        ("rose-pine", "rose-pine-dawn"),
    ];
    let (dark, bright) = PAIRS.into_iter().find(|(dark, bright)| [*dark, *bright].contains(&name))?;
    let wanted = if light { bright } else { dark };
    (wanted != name).then_some(wanted)
}

/// Contrast of the readable roles on the theme's background, worst first: `(role, ratio)`. Roles drawn in the
/// terminal's own colours are left out: nobody can know them.
pub fn contrasts(file: &ThemeFile, background: Option<(u8, u8, u8)>) -> Vec<(&'static str, f64)> {
    let look = file.look(Role::Background);
    let Some(bg) = look.bg.or(look.fg).and_then(|layered| layered.best.rgb()).or(background) else {
        return Vec::new();
    };
    let mut out: Vec<_> = Role::ALL
        .iter()
        .filter(|role| !matches!(role, Role::Background | Role::Border | Role::BorderFocus | Role::Chart))
        .filter_map(|role| {
            let look = file.look(*role);
            if look.modifier.contains(Modifier::REVERSED) {
                return None;
            }
            let fg = look.fg?.best.rgb()?;
            let bg = look.bg.and_then(|layered| layered.best.rgb()).unwrap_or(bg);
            Some((role.name(), contrast(fg, bg)))
        })
        .collect();
    out.sort_by(|a, b| a.1.total_cmp(&b.1));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped(name: &str) -> ThemeFile {
        let (file, faults) = load(name, &|_| None);
        assert_eq!(faults, [], "{name}");
        file
    }

    #[test]
    fn all_fifteen_load_without_a_fault_and_name_themselves() {
        for (name, _) in SHIPPED {
            let file = shipped(name);
            assert_eq!(file.name, name);
            for depth in [Depth::Mono, Depth::Ansi16, Depth::Ansi256, Depth::True] {
                let theme = Theme::new(&file, depth);
                if depth == Depth::Mono {
                    for role in Role::ALL {
                        assert_eq!((theme.of(*role).fg, theme.of(*role).bg), (None, None), "{name} {role:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn body_text_of_every_theme_is_readable_on_its_background() {
        for (name, _) in SHIPPED {
            for (role, ratio) in contrasts(&shipped(name), None) {
                // Muted text is there to be overlooked; what has to be read stands at 4.5.
                let floor = if matches!(role, "muted" | "out" | "excluded") { 3.0 } else { 4.5 };
                assert!(ratio >= floor, "{name}: {role} has {ratio:.2}");
            }
        }
    }

    #[test]
    fn the_default_theme_sets_no_background_and_uses_the_palette_only() {
        let file = shipped("terminal");
        for role in Role::ALL {
            let look = file.look(*role);
            assert_eq!(look.bg, None, "{role:?}");
            if let Some(fg) = look.fg {
                assert!(matches!(fg.best, Paint::Default | Paint::Palette(_)), "{role:?}");
            }
        }
    }
}
