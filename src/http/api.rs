//! The questions that can be put, and the stream of what is new.

use std::io::{self, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::repository::Resolver;
use crate::hub::remember::ByHand;
use crate::hub::{Hub, Question};
use crate::memory::{Memory, MemoryId, ProjectRef};
use crate::recall::find::Engine;
use crate::recall::query::{Local, Sort, moment};
use crate::recall::tell::Teller;
use crate::recall::timeline::{around_memory, around_moment};
use crate::store::api::{Access, Filter, Order};
use crate::store::{Commit, StoreError};

use super::House;
use super::wire::{Answer, Request, open_events};

/// Rows of an answer at most.
const ROWS: usize = 500;
/// How often the database is asked whether something was written.
const LOOK: Duration = Duration::from_millis(500);
/// Looks without news after which the stream shows that it lives.
const QUIET: u32 = 30;

type Answered = Result<Answer, Answer>;

/// Answers a request.
pub fn answer(request: &Request, house: &House) -> Answer {
    let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
    let reads = request.method == "GET";
    let answered = match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["api", "health"]) => Ok(Answer::ok(json!({ "ok": true, "version": env!("CARGO_PKG_VERSION") }))),
        ("GET", ["api", "memories"]) => memories(request, house),
        ("GET", ["api", "memories", id]) => memory(id, house),
        ("GET", ["api", "timeline"]) => timeline(request, house),
        ("GET", ["api", "context"]) => context(request, house),
        ("GET", ["api", "projects"]) => projects(house),
        ("POST", ["api", "memories"]) => remember(request, house),
        (_, ["api", "health" | "memories" | "timeline" | "context" | "projects" | "stream", ..]) if !reads => {
            Err(Answer::fault(405, "this can only be read"))
        }
        _ => Err(Answer::fault(404, "there is nothing here")),
    };
    answered.unwrap_or_else(|fault| fault)
}

fn open(house: &House, access: Access) -> Result<Hub, Answer> {
    Hub::open(&house.dirs, &house.settings, access, house.clock.now()).map_err(|err| failed(&err))
}

/// No paths and no settings in what goes out: the kind of trouble is enough.
fn failed(err: &StoreError) -> Answer {
    match err {
        StoreError::Missing(_) => Answer::fault(503, "nothing is remembered yet"),
        _ => Answer::fault(503, "the database cannot be used now"),
    }
}

fn local(house: &House) -> Local {
    Local { now: house.clock.now(), zone: house.zone.clone() }
}

fn number(request: &Request, name: &str, default: usize, max: usize) -> Result<usize, Answer> {
    match request.query.get(name) {
        None => Ok(default),
        Some(text) => match text.parse::<usize>() {
            Ok(number) => Ok(number.min(max)),
            Err(_) => Err(Answer::fault(400, format!("{name} is no number"))),
        },
    }
}

/// The base of a question: a project by name, if one is given.
fn base(request: &Request, hub: &Hub) -> Result<(Filter, String), Answer> {
    match request.query.get("project").filter(|name| *name != "*" && !name.is_empty()) {
        None => Ok((Filter::default(), String::new())),
        Some(name) => match hub.project(name).map_err(|err| failed(&err))? {
            Ok(named) => Ok((Filter { projects: named.keys, ..Filter::default() }, named.label)),
            Err(unknown) => Err(Answer::fault(404, format!("no project is called {}", unknown.name))),
        },
    }
}

fn memories(request: &Request, house: &House) -> Answered {
    let hub = open(house, Access::ReadOnly)?;
    let (base, label) = base(request, &hub)?;
    let engine = match request.query.get("engine").map_or("auto", String::as_str) {
        "auto" => Engine::Auto,
        "exact" => Engine::Exact,
        "words" => Engine::Words,
        "fuzzy" => Engine::Fuzzy,
        "meaning" => Engine::Meaning,
        _ => return Err(Answer::fault(400, "engine is auto, exact, words, fuzzy or meaning")),
    };
    let sort = match request.query.get("sort").map_or("newest", String::as_str) {
        "newest" => Sort::Newest,
        "oldest" => Sort::Oldest,
        "relevance" => Sort::Relevance,
        _ => return Err(Answer::fault(400, "sort is newest, oldest or relevance")),
    };
    let question = Question {
        text: request.query.get("q").cloned().unwrap_or_default(),
        base,
        label,
        engine,
        sort,
        limit: number(request, "limit", 50, ROWS)?.max(1),
        count: false,
        keys: false,
    };
    let found = hub.search(&question, &local(house)).map_err(|err| failed(&err))?.found;
    let items: Vec<Value> = found
        .items
        .iter()
        .map(|item| {
            let mut value = serde_json::to_value(&item.memory).unwrap_or_default();
            value["score"] = json!(item.score);
            value["why"] = json!(item.why.iter().map(|engine| engine.word()).collect::<Vec<_>>());
            value
        })
        .collect();
    Ok(Answer::ok(json!({
        "engines": found.engines.iter().map(|engine| engine.word()).collect::<Vec<_>>(),
        "notes": found.notes,
        "scope": found.scope,
        "faults": found.faults.iter().map(|fault| fault.what.clone()).collect::<Vec<_>>(),
        "more": found.more,
        "items": items,
    })))
}

fn memory(id: &str, house: &House) -> Answered {
    let Some(id) = id.parse().ok().filter(|_| id.bytes().all(|byte| byte.is_ascii_digit())) else {
        return Err(Answer::fault(400, "an id is a whole number"));
    };
    let (found, _) = open(house, Access::ReadOnly)?.show(&[MemoryId(id)]).map_err(|err| failed(&err))?;
    match found.first() {
        Some(memory) => Ok(Answer::ok(json!(memory))),
        None => Err(Answer::fault(404, format!("there is no memory {id}"))),
    }
}

fn timeline(request: &Request, house: &House) -> Answered {
    let hub = open(house, Access::ReadOnly)?;
    let (mut filter, _) = base(request, &hub)?;
    filter.not_projects = hub.excluded().map_err(|err| failed(&err))?;
    let (before, after) = (number(request, "before", 10, ROWS)?, number(request, "after", 10, ROWS)?);
    let anchor = request.query.get("anchor").map_or("now", String::as_str);
    let timeline = match anchor.parse() {
        Ok(id) => around_memory(hub.store(), MemoryId(id), &filter, before, after)
            .map_err(|err| failed(&err))?
            .ok_or_else(|| Answer::fault(404, format!("there is no memory {id}")))?,
        Err(_) => {
            let at = moment(anchor, &local(house)).ok_or_else(|| Answer::fault(400, "anchor is an id or a time"))?;
            around_moment(hub.store(), at.start(), &filter, before, after).map_err(|err| failed(&err))?
        }
    };
    Ok(Answer::ok(json!({ "anchor": timeline.anchor, "at": timeline.at, "items": timeline.items })))
}

fn context(request: &Request, house: &House) -> Answered {
    let Some(dir) = request.query.get("project").filter(|dir| Path::new(dir.as_str()).is_absolute()) else {
        return Err(Answer::fault(400, "project is the absolute path of a directory"));
    };
    let hub = open(house, Access::ReadOnly)?;
    let project = Resolver::new(&house.env).resolve(dir);
    let teller = Teller {
        store: hub.store(),
        mode: hub.mode(),
        zone: &house.zone,
        settings: &house.settings.context,
        excluded: hub.exclusions(),
    };
    let context = teller.session_start(&project).map_err(|err| failed(&err))?;
    let out = context.left_out.iter().map(|it| json!({ "id": it.id, "reason": it.reason.word() }));
    Ok(Answer::ok(json!({
        "text": context.text, "tokens": context.tokens, "in": context.ids(), "out": out.collect::<Vec<_>>(),
    })))
}

fn projects(house: &House) -> Answered {
    let projects = open(house, Access::ReadOnly)?.projects().map_err(|err| failed(&err))?;
    Ok(Answer::ok(json!(projects)))
}

fn remember(request: &Request, house: &House) -> Answered {
    if !request.shows(&house.token) {
        return Err(Answer::fault(401, "writing needs the token: Authorization: Bearer …"));
    }
    let body: Value = serde_json::from_slice(&request.body).map_err(|_| Answer::fault(400, "the body is no JSON"))?;
    let known = ["text", "title", "type", "concepts", "files", "project", "pin"];
    let Some(fields) = body.as_object() else { return Err(Answer::fault(400, "the body is no JSON object")) };
    if let Some(unknown) = fields.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(Answer::fault(400, format!("there is no field {unknown}")));
    }
    let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
    let list = |key: &str| -> Vec<String> {
        body[key].as_array().into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
    };
    let mut hub = open(house, Access::ReadWrite)?;
    let project: Option<ProjectRef> = match text("project") {
        name if name.is_empty() => None,
        dir if Path::new(&dir).is_absolute() => Some(Resolver::new(&house.env).resolve(&dir)),
        name => {
            let projects = hub.projects().map_err(|err| failed(&err))?;
            let known = projects.into_iter().find(|it| it.name == name && it.worktree.is_none());
            let known = known.ok_or_else(|| Answer::fault(404, format!("no project is called {name}")))?;
            Some(ProjectRef { root: known.root, name: known.name, worktree: None })
        }
    };
    let by_hand = ByHand {
        text: text("text"),
        title: text("title"),
        type_word: text("type"),
        concepts: list("concepts"),
        files: list("files"),
        pin: body["pin"] == true,
        ..ByHand::default()
    };
    let now = house.clock.now();
    let Some(memory) = by_hand.memory(hub.mode(), project, now) else {
        return Err(Answer::fault(400, "there is nothing to remember in it"));
    };
    let commit = Commit { memories: vec![memory], now: Some(now), ..Commit::default() };
    let recorded = hub.store_mut().record(&commit).map_err(|err| failed(&err))?;
    match recorded.ids.first().copied().flatten() {
        Some(id) => {
            let (found, _) = hub.show(&[id]).map_err(|err| failed(&err))?;
            Ok(Answer { status: if recorded.new > 0 { 201 } else { 200 }, body: json!(found.first()) })
        }
        None => Err(Answer::fault(403, "this was deleted before and is not remembered again")),
    }
}

/// Events: `memory` for each that is new, with its id as the event's; a comment now and then, so that a client that is
/// gone is noticed. Whoever comes back asks for what it missed with `GET /api/memories`.
pub fn stream(stream: &mut TcpStream, house: &House) -> io::Result<()> {
    let Ok(hub) = open(house, Access::ReadOnly) else {
        return Answer::fault(503, "nothing is remembered yet").write(stream);
    };
    open_events(stream)?;
    writeln!(stream, "retry: 2000\n: cmem\n")?;
    stream.flush()?;
    let store = hub.store();
    let broken = |err: StoreError| io::Error::other(err.to_string());
    let (mut last, mut version) = (store.last_id().map_err(broken)?, store.data_version().map_err(broken)?);
    let mut quiet = 0;
    loop {
        std::thread::park_timeout(LOOK);
        let now = store.data_version().map_err(broken)?;
        if now == version {
            quiet += 1;
            if quiet % QUIET == 0 {
                write!(stream, ": still here\n\n")?;
                stream.flush()?;
            }
            continue;
        }
        (version, quiet) = (now, 0);
        let newest = store.last_id().map_err(broken)?;
        if newest > last {
            let filter = Filter {
                ids: vec![(MemoryId(last + 1), MemoryId(newest))],
                not_projects: hub.excluded().map_err(broken)?,
                ..Filter::default()
            };
            for memory in store.list(&filter, Order::Oldest, None, ROWS).map_err(broken)? {
                event(stream, &memory)?;
            }
            last = newest;
        }
        write!(stream, "event: changed\ndata: {{}}\n\n")?;
        stream.flush()?;
    }
}

fn event(stream: &mut impl Write, memory: &Memory) -> io::Result<()> {
    // JSON holds no line ends of its own, so one data line is enough.
    let data = serde_json::to_string(memory)?;
    write!(stream, "event: memory\nid: {}\ndata: {data}\n\n", memory.id.0)
}
