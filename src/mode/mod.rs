//! What is worth remembering: mode files (types, concepts, wording), inheritance, checks.
