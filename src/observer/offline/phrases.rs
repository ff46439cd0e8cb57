//! Connecting words in the language of the turn. What is told is the user's and the agent's text; these only join it.

use super::sentence::is_cjk;

/// A set of connecting words.
#[derive(Debug)]
pub struct Phrases {
    /// Before the user's words.
    pub asked: &'static str,
    /// Before words said while the agent worked.
    pub steered: &'static str,
    /// Before words given on refusing a call.
    pub refused_with: &'static str,
    /// Before a call that was refused.
    pub refused: &'static str,
    /// Before the files.
    pub changed: &'static str,
    /// A new file.
    pub new: &'static str,
    /// `and N more`; N is put for `#`.
    pub more: &'static str,
    /// Before files moved.
    pub moved: &'static str,
    /// Before the first error.
    pub error: &'static str,
    /// `N passed`.
    pub passed: &'static str,
    /// `N failed`.
    pub failed: &'static str,
    /// A run without numbers.
    pub ok: &'static str,
    /// Likewise.
    pub not_ok: &'static str,
    /// Between two outcomes of one command.
    pub then: &'static str,
    /// Before a commit.
    pub commit: &'static str,
    /// Before a link.
    pub pull_request: &'static str,
    /// Before versions.
    pub version: &'static str,
    /// The user stopped the turn.
    pub interrupted: &'static str,
    /// No closing answer.
    pub unfinished: &'static str,
    /// The last test run failed.
    pub still_failing: &'static str,
    /// `N files`.
    pub files: &'static str,
    /// `N commits`.
    pub commits: &'static str,
    /// `read N files`
    pub read: &'static str,
    /// `N searches`.
    pub searches: &'static str,
    /// Work without words.
    pub worked_on: &'static str,
    /// Between list items.
    pub comma: &'static str,
    /// Quotation marks.
    pub quotes: (&'static str, &'static str),
}

/// The set for a text: by script, then by German's small words; English otherwise.
pub fn for_text(text: &str) -> &'static Phrases {
    let (mut han, mut kana, mut letters) = (0u32, 0u32, 0u32);
    for ch in text.chars().take(2_000) {
        match ch {
            '\u{3040}'..='\u{30ff}' => kana += 1,
            _ if is_cjk(ch) && ch.is_alphabetic() => han += 1,
            _ if ch.is_alphabetic() => letters += 1,
            _ => {}
        }
    }
    if (kana + han) * 4 > letters && kana * 8 > han && kana > 1 {
        return &JAPANESE;
    }
    if han > 1 && han * 4 > letters {
        return &CHINESE;
    }
    if is_german(text) { &GERMAN } else { &ENGLISH }
}

fn is_german(text: &str) -> bool {
    const SMALL: [&str; 20] = [
        "der", "die", "das", "und", "ist", "nicht", "wird", "wurde", "warum", "bitte", "mit", "für", "auf", "eine",
        "einen", "ich", "wir", "beim", "dem", "den",
    ];
    let mut small = 0;
    let mut words = 0;
    for word in text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()).take(120) {
        words += 1;
        small += usize::from(SMALL.contains(&word.to_lowercase().as_str()));
    }
    small >= 2 && small * 7 >= words
}

static ENGLISH: Phrases = Phrases {
    asked: "Asked: ",
    steered: "While it ran, the user said: ",
    refused_with: "The user refused, saying: ",
    refused: "Refused: ",
    changed: "Changed: ",
    new: "new",
    more: " and # more",
    moved: "Moved: ",
    error: "First error: ",
    passed: "# passed",
    failed: "# failed",
    ok: "passed",
    not_ok: "failed",
    then: ", then ",
    commit: "Commit ",
    pull_request: "Pull request: ",
    version: "Version: ",
    interrupted: "The user stopped this turn before its end.",
    unfinished: "The turn ended without a closing answer.",
    still_failing: "Not resolved when the turn ended: ",
    files: "# files changed",
    commits: "# commits",
    read: "# files read",
    searches: "# searches",
    worked_on: "Worked on ",
    comma: ", ",
    quotes: ("“", "”"),
};

static GERMAN: Phrases = Phrases {
    asked: "Gefragt: ",
    steered: "Währenddessen sagte der Nutzer: ",
    refused_with: "Vom Nutzer abgelehnt mit den Worten: ",
    refused: "Abgelehnt: ",
    changed: "Geändert: ",
    new: "neu",
    more: " und # weitere",
    moved: "Verschoben: ",
    error: "Erster Fehler: ",
    passed: "# bestanden",
    failed: "# fehlgeschlagen",
    ok: "bestanden",
    not_ok: "fehlgeschlagen",
    then: ", danach ",
    commit: "Commit ",
    pull_request: "Pull Request: ",
    version: "Version: ",
    interrupted: "Der Nutzer hat diese Runde vor ihrem Ende abgebrochen.",
    unfinished: "Die Runde endete ohne abschließende Antwort.",
    still_failing: "Am Ende der Runde ungelöst: ",
    files: "# Dateien geändert",
    commits: "# Commits",
    read: "# Dateien gelesen",
    searches: "# Suchen",
    worked_on: "Arbeit an ",
    comma: ", ",
    quotes: ("„", "“"),
};

static CHINESE: Phrases = Phrases {
    asked: "请求：",
    steered: "过程中用户说：",
    refused_with: "用户拒绝并说明：",
    refused: "被拒绝：",
    changed: "修改：",
    new: "新建",
    more: " 等另外 # 个",
    moved: "移动：",
    error: "首个错误：",
    passed: "# 个通过",
    failed: "# 个失败",
    ok: "通过",
    not_ok: "失败",
    then: "，之后",
    commit: "提交 ",
    pull_request: "合并请求：",
    version: "版本：",
    interrupted: "用户在结束前中断了这一轮。",
    unfinished: "这一轮没有结束语。",
    still_failing: "结束时仍未解决：",
    files: "修改 # 个文件",
    commits: "# 次提交",
    read: "读取 # 个文件",
    searches: "# 次搜索",
    worked_on: "处理 ",
    comma: "、",
    quotes: ("“", "”"),
};

static JAPANESE: Phrases = Phrases {
    asked: "依頼：",
    steered: "作業中のユーザーの発言：",
    refused_with: "ユーザーが拒否し、こう述べた：",
    refused: "拒否：",
    changed: "変更：",
    new: "新規",
    more: " ほか # 件",
    moved: "移動：",
    error: "最初のエラー：",
    passed: "# 件成功",
    failed: "# 件失敗",
    ok: "成功",
    not_ok: "失敗",
    then: "、その後",
    commit: "コミット ",
    pull_request: "プルリクエスト：",
    version: "バージョン：",
    interrupted: "このターンは終わる前にユーザーが中断した。",
    unfinished: "締めくくりの回答なしに終わった。",
    still_failing: "終了時に未解決：",
    files: "# ファイル変更",
    commits: "# コミット",
    read: "# ファイル読み取り",
    searches: "検索 # 回",
    worked_on: "作業対象 ",
    comma: "、",
    quotes: ("「", "」"),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_told_by_script_and_small_words() {
        assert_eq!(for_text("fix the login race").asked, ENGLISH.asked);
        assert_eq!(for_text("修复登录竞态 in refresh.rs").asked, CHINESE.asked);
        assert_eq!(for_text("ログインの競合を直してください").asked, JAPANESE.asked);
        assert_eq!(for_text("Warum schlägt der Test auf dem Server fehl?").asked, GERMAN.asked);
        assert_eq!(for_text("the die is cast").asked, ENGLISH.asked);
    }
}
