//! Opening the screen in a pane of its own, beside the agent: the commands of the multiplexer or terminal that we are
//! in. Pure: what to run, not the running.

use crate::config::Env;

/// Where we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// tmux.
    Tmux,
    /// zellij.
    Zellij,
    /// WezTerm.
    Wezterm,
    /// kitty.
    Kitty,
}

impl Host {
    /// The host this environment says, the innermost first.
    pub fn of(env: &Env) -> Option<Self> {
        let set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
        if set("TMUX") {
            Some(Self::Tmux)
        } else if set("ZELLIJ") {
            Some(Self::Zellij)
        } else if set("WEZTERM_PANE") {
            Some(Self::Wezterm)
        } else if set("KITTY_WINDOW_ID") {
            Some(Self::Kitty)
        } else {
            None
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tmux => "tmux",
            Self::Zellij => "zellij",
            Self::Wezterm => "wezterm",
            Self::Kitty => "kitty",
        }
    }

    /// Command lines to run one after the other: a pane of `width` columns at the right running `program`, and the focus
    /// back where it was.
    pub fn commands(self, env: &Env, width: u16, program: &[String]) -> Vec<Vec<String>> {
        let line = |words: &[&str]| -> Vec<String> {
            words.iter().map(|word| (*word).to_owned()).chain(program.iter().cloned()).collect()
        };
        let alone = |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
        let width = width.to_string();
        match self {
            Self::Tmux => vec![line(&["tmux", "split-window", "-h", "-d", "-l", &width])],
            // zellij halves the pane; the focus goes to the new one and is brought back.
            Self::Zellij => vec![
                line(&["zellij", "run", "--direction", "right", "--close-on-exit", "--"]),
                alone(&["zellij", "action", "move-focus", "left"]),
            ],
            Self::Wezterm => {
                let here = env.get("WEZTERM_PANE").unwrap_or("0");
                vec![
                    line(&["wezterm", "cli", "split-pane", "--right", "--cells", &width, "--"]),
                    alone(&["wezterm", "cli", "activate-pane", "--pane-id", here]),
                ]
            }
            Self::Kitty => vec![line(&["kitty", "@", "launch", "--location=vsplit", "--keep-focus", "--cwd=current"])],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_its_commands_and_keeps_the_focus() {
        let program = ["cmem".to_owned(), "tui".to_owned()];
        for (name, value, host, first) in [
            ("TMUX", "/tmp/x,1,0", Host::Tmux, "tmux split-window -h -d -l 50 cmem tui"),
            ("ZELLIJ", "0", Host::Zellij, "zellij run --direction right --close-on-exit -- cmem tui"),
            ("WEZTERM_PANE", "3", Host::Wezterm, "wezterm cli split-pane --right --cells 50 -- cmem tui"),
            (
                "KITTY_WINDOW_ID",
                "1",
                Host::Kitty,
                "kitty @ launch --location=vsplit --keep-focus --cwd=current cmem tui",
            ),
        ] {
            let env = Env::from_iter([(name, value)]);
            assert_eq!(Host::of(&env), Some(host));
            assert_eq!(host.commands(&env, 50, &program)[0].join(" "), first);
        }
        assert_eq!(Host::of(&Env::from_iter([("TERM", "xterm")])), None);
        // tmux inside WezTerm is tmux.
        let both = Env::from_iter([("WEZTERM_PANE", "1"), ("TMUX", "x")]);
        assert_eq!(Host::of(&both), Some(Host::Tmux));
    }
}
