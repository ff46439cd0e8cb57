#![allow(clippy::disallowed_methods)] // files and their modes are what is tested

use std::fs;
use std::path::Path;

use super::*;
use crate::store::api::{Access, Filter, Order};
use crate::store::schema::{self, Migration};
use crate::store::{StoreError, error};

fn hash(path: &Path) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    Sha256::digest(fs::read(path).unwrap()).to_vec()
}

#[test]
fn a_reader_sees_what_the_writer_wrote_and_cannot_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cmem.db");
    assert!(matches!(Store::open(&path, Access::ReadOnly, at(0)), Err(StoreError::Missing(_))));
    let mut writer = Store::open(&path, Access::ReadWrite, at(0)).unwrap();
    let mut reader = Store::open(&path, Access::ReadOnly, at(0)).unwrap();
    let before = reader.data_version().unwrap();
    keep(&mut writer, vec![memory("seen")]);
    assert_ne!(reader.data_version().unwrap(), before);
    assert_eq!(reader.list(&Filter::default(), Order::Newest, None, 5).unwrap().len(), 1);
    let err = reader.record(&Commit { memories: vec![memory("no")], ..Commit::default() }).unwrap_err();
    assert!(matches!(err, StoreError::ReadOnly), "{err}");
}

#[cfg(unix)]
#[test]
fn a098_files_are_private_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    // A directory left open by somebody: ours alone, so it is closed.
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    let path = data.join("cmem.db");
    fs::write(&path, b"").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let mut store = Store::open(&path, Access::ReadWrite, at(0)).unwrap();
    keep(&mut store, vec![memory("private")]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for entry in fs::read_dir(&data).unwrap() {
        let entry = entry.unwrap().path();
        assert_eq!(mode(&entry), 0o600, "{}", entry.display());
    }
    assert!(data.join("cmem.db-wal").exists() && data.join("cmem.db-shm").exists());
    // A directory with other people's things in it stays as it is.
    let home = dir.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("letter.txt"), b"x").unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
    Store::open(&home.join("cmem.db"), Access::ReadWrite, at(0)).unwrap();
    assert_eq!((mode(&home), mode(&home.join("cmem.db"))), (0o755, 0o600));
}

#[test]
fn a116_a_newer_file_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cmem.db");
    let mut store = Store::open(&path, Access::ReadWrite, at(0)).unwrap();
    keep(&mut store, vec![memory("from the future")]);
    store.conn.pragma_update(None, "user_version", schema::VERSION + 1).unwrap();
    store.checkpoint().unwrap();
    drop(store);
    let before = hash(&path);
    let Err(err) = Store::open(&path, Access::ReadWrite, at(0)) else { panic!("opened") };
    assert!(matches!(err, StoreError::Newer { have, know } if have == know + 1), "{err}");
    let text = err.to_string();
    assert!(text.contains(&schema::VERSION.to_string()) && text.contains(&(schema::VERSION + 1).to_string()), "{text}");
    assert_eq!(hash(&path), before);
    let reader = Store::open(&path, Access::ReadOnly, at(0)).unwrap();
    assert_eq!(reader.list(&Filter::default(), Order::Newest, None, 5).unwrap().len(), 1);
}

#[test]
fn a_foreign_file_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
    let before = hash(&path);
    for access in [Access::ReadWrite, Access::ReadOnly] {
        assert!(matches!(Store::open(&path, access, at(0)), Err(StoreError::Foreign(_))));
    }
    assert_eq!(hash(&path), before);
    fs::write(
        &path,
        b"this is no database, whatever its name says, and longer than a header of a hundred bytes is..............",
    )
    .unwrap();
    let before = hash(&path);
    assert!(matches!(Store::open(&path, Access::ReadWrite, at(0)), Err(StoreError::Corrupt(_))));
    assert_eq!(hash(&path), before);
}

/// A file of schema 1 with a row, and two more migrations made up for the test.
fn old_file(path: &Path) -> rusqlite::Connection {
    let mut store = Store::open(path, Access::ReadWrite, at(0)).unwrap();
    keep(&mut store, vec![memory("old row")]);
    store.checkpoint().unwrap();
    drop(store);
    rusqlite::Connection::open(path).unwrap()
}

const COLUMN: Migration = Migration {
    version: schema::VERSION + 1,
    run: |tx| schema::add_column(tx, "memory", "mood", "TEXT NOT NULL DEFAULT 'calm'"),
};

const FAILING: Migration = Migration {
    version: schema::VERSION + 2,
    run: |tx| {
        tx.execute_batch("CREATE TABLE half (x); INSERT INTO half VALUES (1);")?;
        Err(error::StoreError::Sql("made to fail".into()))
    },
};

fn with_base(more: &[fn() -> Migration]) -> Vec<Migration> {
    let base = schema::MIGRATIONS.iter().map(|it| Migration { version: it.version, run: it.run });
    base.chain(more.iter().map(|make| make())).collect()
}

#[test]
fn a115_a_half_migrated_file_is_finished_and_its_data_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cmem.db");
    let mut conn = old_file(&path);
    conn.execute_batch("ALTER TABLE memory ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'").unwrap();
    schema::bring_up_to_date(&mut conn, &path, &with_base(&[|| COLUMN]), at(7)).unwrap();
    let found: (String, String, i64) = conn
        .query_row("SELECT title, mood, (SELECT user_version FROM pragma_user_version) FROM memory", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(found, ("old row".into(), "calm".into(), schema::VERSION + 1));
    // The copy from before is there, complete and private.
    let copy = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|it| it == "bak"))
        .unwrap();
    assert_eq!(
        Store::open(&copy, Access::ReadOnly, at(0))
            .unwrap()
            .list(&Filter::default(), Order::Newest, None, 5)
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a115_a_failing_step_leaves_the_file_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cmem.db");
    let mut conn = old_file(&path);
    let before = hash(&path);
    let err = schema::bring_up_to_date(&mut conn, &path, &with_base(&[|| COLUMN, || FAILING]), at(7)).unwrap_err();
    assert!(err.to_string().contains("made to fail"));
    drop(conn);
    assert_eq!(hash(&path), before);
    let store = Store::open(&path, Access::ReadWrite, at(0)).unwrap();
    assert_eq!(store.list(&Filter::default(), Order::Newest, None, 5).unwrap().len(), 1);
}

#[test]
fn an_index_made_by_older_rules_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cmem.db");
    let mut store = Store::open(&path, Access::ReadWrite, at(0)).unwrap();
    keep(&mut store, vec![memory("findable")]);
    store.conn.execute_batch("INSERT INTO memory_fts (memory_fts) VALUES ('delete-all'); UPDATE state SET value = '0' WHERE key = 'store.index'; DELETE FROM type_count").unwrap();
    drop(store);
    let store = Store::open(&path, Access::ReadWrite, at(0)).unwrap();
    assert_eq!(store.words("findable", &Filter::default(), Order::Newest, 5).unwrap().hits.len(), 1);
    assert_eq!(store.type_counts(&Filter::default()).unwrap()[0].n, 1);
    assert!(store.check().unwrap().is_empty());
}
