//! Languages memories can be written in. Type and concept ids stay as they are in every language (A161).

/// The named languages: code, English name, own name. Any other text is accepted as a language too.
pub const LANGUAGES: [(&str, &str, &str); 29] = [
    ("ar", "Arabic", "العربية"),
    ("bn", "Bengali", "বাংলা"),
    ("cs", "Czech", "čeština"),
    ("da", "Danish", "dansk"),
    ("de", "German", "Deutsch"),
    ("el", "Greek", "ελληνικά"),
    ("es", "Spanish", "español"),
    ("fi", "Finnish", "suomi"),
    ("fr", "French", "français"),
    ("he", "Hebrew", "עברית"),
    ("hi", "Hindi", "हिन्दी"),
    ("hu", "Hungarian", "magyar"),
    ("id", "Indonesian", "Bahasa Indonesia"),
    ("it", "Italian", "italiano"),
    ("ja", "Japanese", "日本語"),
    ("ko", "Korean", "한국어"),
    ("nl", "Dutch", "Nederlands"),
    ("no", "Norwegian", "norsk"),
    ("pl", "Polish", "polski"),
    ("pt-br", "Brazilian Portuguese", "português do Brasil"),
    ("ro", "Romanian", "română"),
    ("ru", "Russian", "русский"),
    ("sv", "Swedish", "svenska"),
    ("th", "Thai", "ไทย"),
    ("tr", "Turkish", "Türkçe"),
    ("uk", "Ukrainian", "українська"),
    ("ur", "Urdu", "اردو"),
    ("vi", "Vietnamese", "Tiếng Việt"),
    ("zh", "Chinese", "中文"),
];

/// The entry of a language code, in any case and with `_` for `-`.
pub(super) fn by_code(code: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let code = code.trim().to_lowercase().replace('_', "-");
    LANGUAGES.iter().find(|(it, _, _)| *it == code)
}

/// How a language is named to a model: `Japanese (日本語)` for a known code or name, otherwise the text itself; empty
/// for an empty setting. `en` is English.
pub fn language_name(setting: &str) -> String {
    let setting = setting.trim();
    if setting.eq_ignore_ascii_case("en") || setting.eq_ignore_ascii_case("english") {
        return "English".into();
    }
    let named = by_code(setting).or_else(|| {
        let lower = setting.to_lowercase();
        LANGUAGES.iter().find(|(_, name, own)| name.to_lowercase() == lower || own.to_lowercase() == lower)
    });
    match named {
        Some((_, name, own)) => format!("{name} ({own})"),
        None => setting.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a161_codes_names_and_any_other_text_are_languages() {
        assert_eq!(language_name("ja"), "Japanese (日本語)");
        assert_eq!(language_name("PT_BR"), "Brazilian Portuguese (português do Brasil)");
        assert_eq!(language_name("Deutsch"), "German (Deutsch)");
        assert_eq!(language_name("Schwyzerdütsch"), "Schwyzerdütsch");
        assert_eq!(language_name(" "), "");
    }
}
