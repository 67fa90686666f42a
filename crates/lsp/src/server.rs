//! The session: messages in, answers out, in the order in which they come.

use crate::colours::Painted;
use crate::config::{Config, SECTION};
use crate::snapshot::Snapshot;
use crate::text::Text;
use crate::worker::{self, Task};
use crate::{Pages, SCHEME, actions, colours, complete, hints, hover, navigate, outline, signature};
use gen_lsp_types as lsp;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use serde_json::Value;
use std::cell::{RefCell, RefMut};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// The end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// `shutdown`, then `exit`.
    Orderly,
    /// `exit` without `shutdown`, or a client that is gone.
    Abrupt,
}

/// The id of our question for the configuration.
const CONFIGURATION: &str = "configuration";

/// Serves a client until it says `exit` or is gone.
pub fn serve(connection: Connection, pages: Arc<dyn Pages>) -> std::io::Result<Exit> {
    let Connection { sender, receiver } = connection;
    let to_client = sender.clone();
    let (judge, thread) = worker::start(Arc::new(move |message| to_client.send(message).is_ok()))?;
    let send = Box::new(move |message| sender.send(message).is_ok());
    let mut server = Server::new(pages, send, judge);
    let mut queue: VecDeque<Message> = VecDeque::new();
    let exit = loop {
        // All that has come in, so that what is cancelled is not begun.
        while let Ok(message) = receiver.try_recv() {
            queue.push_back(message);
        }
        let Some(message) = queue.pop_front().or_else(|| receiver.recv().ok()) else { break Exit::Abrupt };
        if let Message::Request(request) = &message
            && is_cancelled(&queue, &request.id)
        {
            let id = request.id.clone();
            server.send(Response::new_err(id, ErrorCode::RequestCanceled as i32, "it was cancelled".into()).into());
            continue;
        }
        if let Some(exit) = server.take(message) {
            break exit;
        }
    };
    // Without its sender the worker ends; what it is at is not waited for longer than it takes.
    drop(server);
    let _ = thread.join();
    Ok(exit)
}

/// Whether a request of the queue cancels this one.
fn is_cancelled(queue: &VecDeque<Message>, id: &RequestId) -> bool {
    let cancels = |message: &Message| match message {
        Message::Notification(n) if n.method == "$/cancelRequest" => {
            let named = n.params.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
            named.as_ref() == Some(id)
        }
        _ => false,
    };
    queue.iter().any(cancels)
}

/// The state of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Before,
    Running,
    ShutDown,
}

/// Why a request has no answer.
pub struct Refused {
    pub code: ErrorCode,
    pub message: String,
}

impl Refused {
    /// It cannot be done, with the reason.
    pub fn because(message: impl Into<String>) -> Refused {
        Refused { code: ErrorCode::RequestFailed, message: message.into() }
    }

    fn params(message: impl Into<String>) -> Refused {
        Refused { code: ErrorCode::InvalidParams, message: message.into() }
    }
}

type Answer<T> = Result<T, Refused>;

struct Server {
    state: State,
    documents: HashMap<lsp::Uri, Arc<Snapshot>>,
    /// By document: the colours that the client has.
    painted: RefCell<HashMap<lsp::Uri, Painted>>,
    config: Config,
    client: lsp::ClientCapabilities,
    pages: Arc<dyn Pages>,
    send: Box<dyn Fn(Message) -> bool>,
    judge: Sender<Task>,
}

impl Server {
    fn new(pages: Arc<dyn Pages>, send: Box<dyn Fn(Message) -> bool>, judge: Sender<Task>) -> Self {
        let (documents, painted, config, client) = Default::default();
        Server { state: State::Before, documents, painted, config, client, pages, send, judge }
    }

    fn send(&self, message: Message) {
        // If this fails, the client is gone, and the next message ends the session.
        (self.send)(message);
    }

    /// Takes one message; gives how the session ends, if it does.
    fn take(&mut self, message: Message) -> Option<Exit> {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                let answer = catch_unwind(AssertUnwindSafe(|| self.request(request)));
                let answer = answer.unwrap_or_else(|_| {
                    let message = "this is a defect of the tool, not of the program; please report it".into();
                    Err(Refused { code: ErrorCode::InternalError, message })
                });
                let response_result = answer.map_err(|Refused { code, message }| ResponseError {
                    code: code as i32,
                    message,
                    data: None,
                });
                self.send(Response { id, response_result }.into());
            }
            Message::Notification(n) if n.method == "exit" => {
                return Some(if self.state == State::ShutDown { Exit::Orderly } else { Exit::Abrupt });
            }
            Message::Notification(n) if self.state == State::Running => {
                // A notification that makes no sense has no answer; it changes nothing.
                let _ = catch_unwind(AssertUnwindSafe(|| self.notification(n)));
            }
            Message::Notification(_) => {}
            Message::Response(response) => {
                if response.id == RequestId::from(CONFIGURATION.to_string())
                    && let Ok(Value::Array(sections)) = response.response_result
                {
                    self.configure(sections.first().unwrap_or(&Value::Null));
                }
            }
        }
        None
    }

    fn request(&mut self, request: Request) -> Answer<Value> {
        use lsp::LspRequestMethod as Method;
        let method = Method::from(request.method.as_str());
        match (self.state, method) {
            (State::Before, Method::Initialize) => return self.initialize(request.params),
            (State::Before, _) => {
                let message = "the session begins with initialize".into();
                return Err(Refused { code: ErrorCode::ServerNotInitialized, message });
            }
            (State::Running, Method::Shutdown) => {
                self.state = State::ShutDown;
                return Ok(Value::Null);
            }
            (State::ShutDown, _) | (_, Method::Initialize) => {
                let message = format!("{} comes too late in the session", request.method);
                return Err(Refused { code: ErrorCode::InvalidRequest, message });
            }
            _ => {}
        }
        let params = request.params;
        match method {
            Method::TextDocumentHover => self.at::<lsp::HoverRequest>(params, |p| p.text_document_position_params, {
                |s, at, _| Ok(hover::hover(s, at, &*self.pages))
            }),
            Method::TextDocumentCompletion => self.at::<lsp::CompletionRequest>(
                params,
                |p| p.text_document_position_params,
                |s, at, _| Ok(Some(complete::complete(s, at, self.has_snippets(), &*self.pages))),
            ),
            Method::TextDocumentSignatureHelp => self.at::<lsp::SignatureHelpRequest>(
                params,
                |p| p.text_document_position_params,
                |s, at, _| Ok(signature::help(s, at)),
            ),
            Method::CompletionItemResolve => {
                let item: lsp::CompletionItem = read(params)?;
                answer::<lsp::CompletionResolveRequest>(complete::resolve(item, &*self.pages))
            }
            Method::TextDocumentDefinition => self.at::<lsp::DefinitionRequest>(
                params,
                |p| p.text_document_position_params,
                |s, at, _| Ok(navigate::definition(s, at)),
            ),
            Method::TextDocumentReferences => self.at::<lsp::ReferencesRequest>(
                params,
                |p| p.text_document_position_params,
                |s, at, p| Ok(Some(navigate::references(s, at, p.context.include_declaration))),
            ),
            Method::TextDocumentDocumentHighlight => self.at::<lsp::DocumentHighlightRequest>(
                params,
                |p| p.text_document_position_params,
                |s, at, _| Ok(Some(navigate::highlights(s, at))),
            ),
            Method::TextDocumentPrepareRename => self.at::<lsp::PrepareRenameRequest>(
                params,
                |p| p.text_document_position_params,
                |s, at, _| Ok(navigate::prepare(s, at)),
            ),
            Method::TextDocumentRename => self.at::<lsp::RenameRequest>(
                params,
                |p| p.text_document_position_params,
                |s, at, p| navigate::rename(s, at, &p.new_name).map(Some),
            ),
            Method::TextDocumentFormatting => self.of::<lsp::DocumentFormattingRequest>(
                params,
                |p| p.text_document,
                |s, _| Ok(outline::formatting(s)),
            ),
            Method::TextDocumentDocumentSymbol => self.of::<lsp::DocumentSymbolRequest>(
                params,
                |p| p.text_document,
                |s, _| Ok(Some(outline::symbols(s).into())),
            ),
            Method::TextDocumentFoldingRange => {
                self.of::<lsp::FoldingRangeRequest>(params, |p| p.text_document, |s, _| Ok(Some(outline::folds(s))))
            }
            Method::TextDocumentCodeLens => {
                self.of::<lsp::CodeLensRequest>(params, |p| p.text_document, |s, _| Ok(Some(outline::lenses(s))))
            }
            Method::TextDocumentSemanticTokensFull => self.of::<lsp::SemanticTokensRequest>(
                params,
                |p| p.text_document,
                |s, _| Ok(Some(self.painted(s).full(s))),
            ),
            Method::TextDocumentSemanticTokensFullDelta => self.of::<lsp::SemanticTokensDeltaRequest>(
                params,
                |p| p.text_document,
                |s, p| Ok(Some(self.painted(s).delta(s, &p.previous_result_id))),
            ),
            Method::TextDocumentSemanticTokensRange => self.of::<lsp::SemanticTokensRangeRequest>(
                params,
                |p| p.text_document,
                |s, p| {
                    let data = colours::tokens(s, s.text.span(p.range));
                    Ok(Some(lsp::SemanticTokens { result_id: None, data }))
                },
            ),
            Method::TextDocumentCodeAction => self.of::<lsp::CodeActionRequest>(
                params,
                |p| p.text_document,
                |s, p| Ok(Some(actions::actions(s, s.text.span(p.range), &p.context.only.unwrap_or_default()))),
            ),
            Method::TextDocumentInlayHint => self.of::<lsp::InlayHintRequest>(
                params,
                |p| p.text_document,
                |s, p| Ok(Some(hints::hints(s, s.text.span(p.range)))),
            ),
            Method::WorkspaceTextDocumentContent => {
                let params: lsp::TextDocumentContentParams = read(params)?;
                answer::<lsp::TextDocumentContentRequest>(self.content(&params.uri.0)?)
            }
            _ => {
                let message = format!("{} is not a request that this server knows", request.method);
                Err(Refused { code: ErrorCode::MethodNotFound, message })
            }
        }
    }

    /// Answers a request about a document.
    fn of<R: lsp::Request>(
        &self,
        params: Value,
        whose: impl Fn(R::Params) -> lsp::TextDocumentIdentifier,
        work: impl FnOnce(&Arc<Snapshot>, R::Params) -> Answer<R::Result>,
    ) -> Answer<Value>
    where
        R::Params: Clone,
    {
        let params: R::Params = read(params)?;
        let uri = whose(params.clone()).uri;
        let snapshot = self.documents.get(&uri).ok_or_else(|| Refused::params(format!("{uri} is not open")))?;
        answer::<R>(work(snapshot, params)?)
    }

    /// Answers a request about a place in a document.
    fn at<R: lsp::Request>(
        &self,
        params: Value,
        place: impl Fn(R::Params) -> lsp::TextDocumentPositionParams,
        work: impl FnOnce(&Arc<Snapshot>, u32, R::Params) -> Answer<R::Result>,
    ) -> Answer<Value>
    where
        R::Params: Clone,
    {
        let whose = |params: R::Params| place(params).text_document;
        self.of::<R>(params, whose, |snapshot, params| {
            let at = snapshot.text.offset(place(params.clone()).position);
            work(snapshot, at, params)
        })
    }

    /// A page by its address.
    fn content(&self, uri: &str) -> Answer<lsp::TextDocumentContentResult> {
        let name = uri.strip_prefix(SCHEME).and_then(|rest| rest.strip_prefix(':'));
        let name = name.ok_or_else(|| Refused::params(format!("{uri} is no address of a page, {SCHEME}:NAME")))?;
        let page = self.pages.explain(name.trim_start_matches('/'));
        let text = page.ok_or_else(|| Refused::params(format!("nothing is called '{name}'")))?;
        Ok(lsp::TextDocumentContentResult { text })
    }

    fn painted(&self, snapshot: &Snapshot) -> RefMut<'_, Painted> {
        RefMut::map(self.painted.borrow_mut(), |all| all.entry(snapshot.uri.clone()).or_default())
    }

    fn has_snippets(&self) -> bool {
        let completion = self.client.text_document.as_ref().and_then(|t| t.completion.as_ref());
        completion.and_then(|c| c.completion_item.as_ref()).and_then(|i| i.snippet_support).unwrap_or(false)
    }

    fn initialize(&mut self, params: Value) -> Answer<Value> {
        let params: lsp::InitializeParams = read(params)?;
        self.client = params.capabilities;
        self.state = State::Running;
        let options = params.initialization_options.unwrap_or_default();
        // Only a client that has the commands of the lenses shows them.
        let has_commands = options.get("commands").and_then(Value::as_bool) == Some(true);
        self.configure(&options);
        let server_info = lsp::ServerInfo { name: "tessera".into(), version: Some(env!("CARGO_PKG_VERSION").into()) };
        let capabilities = capabilities(has_commands);
        answer::<lsp::InitializeRequest>(lsp::InitializeResult { capabilities, server_info: Some(server_info) })
    }

    fn notification(&mut self, n: Notification) -> Option<()> {
        use lsp::LspNotificationMethod as Method;
        match Method::from(n.method.as_str()) {
            Method::Initialized => {
                let workspace = self.client.workspace.clone().unwrap_or_default();
                if workspace.inlay_hint.and_then(|h| h.refresh_support) == Some(true) {
                    self.judge.send(Task::Refresh).ok()?;
                }
                self.ask();
            }
            Method::WorkspaceDidChangeConfiguration => {
                let params: lsp::DidChangeConfigurationParams = read(n.params).ok()?;
                match params.settings {
                    Value::Null => self.ask(),
                    settings => self.configure(&settings),
                }
            }
            Method::TextDocumentDidOpen => {
                let lsp::DidOpenTextDocumentParams { text_document: document } = read(n.params).ok()?;
                self.open(document.uri, document.version, Text::new(document.text));
            }
            Method::TextDocumentDidChange => {
                let params: lsp::DidChangeTextDocumentParams = read(n.params).ok()?;
                let lsp::VersionedTextDocumentIdentifier { version, text_document_identifier } = params.text_document;
                let before = self.documents.get(&text_document_identifier.uri)?;
                let text = before.text.changed(params.content_changes);
                self.open(text_document_identifier.uri, version, text);
            }
            Method::TextDocumentDidClose => {
                let params: lsp::DidCloseTextDocumentParams = read(n.params).ok()?;
                let uri = params.text_document.uri;
                self.documents.remove(&uri)?;
                self.painted.borrow_mut().remove(&uri);
                self.judge.send(Task::Forget(uri)).ok()?;
            }
            _ => {}
        }
        Some(())
    }

    /// A new version of a document.
    fn open(&mut self, uri: lsp::Uri, version: i32, text: Text) {
        let before = self.documents.get(&uri);
        let snapshot = Arc::new(Snapshot::new(uri.clone(), version, text, self.config.clone(), before));
        self.documents.insert(uri, snapshot.clone());
        // The worker is gone only when the session is over.
        let _ = self.judge.send(Task::Judge(snapshot));
    }

    /// Asks the client for its configuration, where it answers.
    fn ask(&self) {
        if self.client.workspace.as_ref().and_then(|w| w.configuration) == Some(true) {
            let items = vec![lsp::ConfigurationItem { section: Some(SECTION.into()), ..Default::default() }];
            let id = RequestId::from(CONFIGURATION.to_string());
            let params = lsp::ConfigurationParams { items };
            self.send(Request::new(id, "workspace/configuration".into(), params).into());
        }
    }

    fn configure(&mut self, settings: &Value) {
        // A missing section means the defaults.
        if settings.is_null() {
            return;
        }
        let (config, wrong) = Config::read(settings);
        for message in wrong {
            let params = lsp::ShowMessageParams { kind: lsp::MessageType::Warning, message };
            self.send(Notification::new("window/showMessage".into(), params).into());
        }
        if config != self.config {
            self.config = config;
            for snapshot in self.documents.values().cloned().collect::<Vec<_>>() {
                self.open(snapshot.uri.clone(), snapshot.version, snapshot.text.clone());
            }
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(params: Value) -> Answer<T> {
    serde_json::from_value(params).map_err(|error| Refused::params(error.to_string()))
}

fn answer<R: lsp::Request>(result: R::Result) -> Answer<Value> {
    let failed = |error: serde_json::Error| Refused { code: ErrorCode::InternalError, message: error.to_string() };
    serde_json::to_value(result).map_err(failed)
}

fn capabilities(has_commands: bool) -> lsp::ServerCapabilities {
    let triggers = ["%", "@", "!", "#", ".", "<", "=", "{", ",", " ", "("];
    lsp::ServerCapabilities {
        position_encoding: Some(lsp::PositionEncodingKind::UTF16),
        text_document_sync: Some(
            lsp::TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(lsp::TextDocumentSyncKind::Incremental),
                ..Default::default()
            }
            .into(),
        ),
        completion_provider: Some(lsp::CompletionOptions {
            trigger_characters: Some(triggers.map(String::from).to_vec()),
            resolve_provider: Some(true),
            ..Default::default()
        }),
        signature_help_provider: Some(lsp::SignatureHelpOptions {
            trigger_characters: Some(vec!["(".into(), ",".into(), " ".into()]),
            ..Default::default()
        }),
        folding_range_provider: Some(true.into()),
        code_lens_provider: has_commands.then(lsp::CodeLensOptions::default),
        hover_provider: Some(true.into()),
        definition_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_highlight_provider: Some(true.into()),
        document_symbol_provider: Some(true.into()),
        document_formatting_provider: Some(true.into()),
        rename_provider: Some(lsp::RenameOptions { prepare_provider: Some(true), ..Default::default() }.into()),
        code_action_provider: Some(
            lsp::CodeActionOptions {
                code_action_kinds: Some(vec![lsp::CodeActionKind::QuickFix, lsp::CodeActionKind::RefactorRewrite]),
                ..Default::default()
            }
            .into(),
        ),
        semantic_tokens_provider: Some(
            lsp::SemanticTokensOptions {
                legend: colours::legend(),
                range: Some(true.into()),
                full: Some(lsp::SemanticTokensFullDelta { delta: Some(true) }.into()),
                ..Default::default()
            }
            .into(),
        ),
        inlay_hint_provider: Some(true.into()),
        workspace: Some(lsp::WorkspaceOptions {
            text_document_content: Some(lsp::TextDocumentContentOptions { schemes: vec![SCHEME.into()] }.into()),
            ..Default::default()
        }),
        ..Default::default()
    }
}
