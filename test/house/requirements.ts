/**
 * The requirements of the A2A specification (1.0.1, and 0.3.0 under V) and of our own engine, as data. Test
 * titles cite the ids that they verify, as in `it("rejects an empty parts list [F-10]", …)`.
 * `requirements.test.ts` finds requirements that no test verifies.
 */

/**
 * M: MUST in the specification. S: SHOULD. O: MAY. D: the specification is silent or contradicts itself, and
 * this is our decision. E: a guarantee of the engine or the console. A requirement with several levels has the strictest
 * one.
 */
export type RequirementLevel = "M" | "S" | "O" | "D" | "E";

/**
 * The reason why a requirement is not implemented or not verified. `later`: not implemented yet, or only in
 * part. `outside`: a task for the operator of a server or the author of an agent, which our code cannot
 * enforce. `untested`: implemented without a test, which is allowed only for non-binding requirements.
 */
export type RequirementStatus =
  | "implemented"
  | { readonly later: string }
  | { readonly outside: string }
  | { readonly untested: string };

export type Requirement = readonly [
  id: string,
  level: RequirementLevel,
  section: string,
  text: string,
  status?: RequirementStatus,
];

export const REQUIREMENTS: readonly Requirement[] = [
  // Agent card
  ["A-01", "M", "8.2", "an agent card is served at /.well-known/agent-card.json"],
  ["A-02", "M", "4.4.1", "the card has every required field; an empty list of skills is accepted"],
  [
    "A-03",
    "M",
    "5.2",
    "the card declares every interface with its true binding and URL, the preferred one first",
  ],
  ["A-04", "M", "5.8", "core bindings are named JSONRPC, GRPC and HTTP+JSON"],
  ["A-05", "S", "3.6", "protocolVersion is Major.Minor"],
  [
    "A-06",
    "M",
    "4.4.6",
    "interface URLs are HTTPS in production",
    { outside: "who deploys a server says where it is reached: publicUrl, grpc.publicAddress, grpc.tls" },
  ],
  ["A-07", "M", "3.6.2", "several versions of one binding may be listed and each behaves as its own"],
  ["A-08", "M", "3.3.4", "capabilities gate operations; an absent one is false"],
  ["A-09", "S", "13.3", "no secrets or internal URLs in the card"],
  ["A-10", "M", "4.5", "security schemes and requirements have the shape of the proto"],
  ["A-11", "S", "4.4.5", "skill ids are unique; their modes override the card's"],
  ["A-12", "S", "4.6.1", "extensions are declared in the capabilities"],
  ["A-20", "S", "8.6.1", "the card is served with Cache-Control max-age"],
  ["A-21", "S", "8.6.1", "the card is served with an ETag; If-None-Match gives 304; HEAD works"],
  ["A-22", "O", "8.6.1", "the card is served with Last-Modified"],
  ["A-23", "D", "13.3", "a negotiated card varies by A2A-Version"],
  ["A-24", "S", "8.6.2", "the client asks again conditionally when its card has expired"],
  ["A-30", "M", "3.1.11", "the extended card requires authentication"],
  ["A-31", "M", "3.3.4", "no extended card declared: UnsupportedOperation"],
  ["A-32", "M", "13.3", "the extended card is given by permission"],
  ["A-33", "S", "3.1.11", "the extended card replaces the public one for the session"],
  ["A-34", "D", "3.1.11", "an unauthenticated request for the extended card is answered 401"],
  ["A-40", "O", "8.4", "cards may be signed"],
  ["A-41", "M", "8.4.1", "default values in the signed payload follow the rule of their field"],
  ["A-42", "M", "8.4.1", "the signed payload is canonical by RFC 8785"],
  ["A-43", "D", "8.4.1", "Struct content is never stripped"],
  ["A-44", "M", "8.4.2", "the protected header has alg and kid"],
  ["A-45", "M", "8.4.3", "several signatures are allowed; revoked keys do not verify"],
  ["A-46", "D", "8.4", "the verifier also tries the canonical form of the SDKs"],

  // Versions
  ["B-01", "M", "3.6.1", "the client sends A2A-Version with every request"],
  ["B-02", "M", "3.6.1", "the version may come as a query parameter on all HTTP bindings"],
  ["B-03", "M", "3.6", "versions are matched by Major.Minor; 1.0.1 is 1.0"],
  ["B-04", "M", "3.6.2", "an unsupported version is refused before the operation is looked at"],
  ["B-05", "M", "3.6.2", "a missing version is 0.3"],
  ["B-06", "M", "3.6.2", "a request is processed with the semantics of its version"],
  ["B-07", "D", "3.6.2", "missingVersion: infer takes 1.0 methods and routes as 1.0"],
  ["B-08", "D", "3.6.2", "a malformed version is refused and the answer lists the supported ones"],
  ["B-09", "M", "3.6.3", "the client selects the binding and the version, and can be told which"],
  ["B-10", "D", "8.2", "the shape of the card without a version header is configurable"],

  // JSON-RPC
  ["C-01", "M", "9.1", "JSON-RPC 2.0 over POST with application/json; streams are text/event-stream"],
  ["C-02", "M", "9.4", "methods have their PascalCase names"],
  ["C-03", "M", "9.4", "results have the shape of their operation"],
  ["C-04", "M", "9.1", "the request's id is echoed verbatim in every answer and every SSE event"],
  ["C-05", "M", "9.5", "error data is an array of objects with @type"],
  ["C-06", "M", "9.5", "the codes of JSON-RPC are used for its errors, -32001 to -32099 for those of A2A"],
  [
    "C-07",
    "D",
    "9.1",
    "HTTP 200 for errors of JSON-RPC, 405 with Allow for other verbs, 413 for large bodies",
  ],
  ["C-08", "D", "9.5", "an invalid envelope is -32600"],
  ["C-09", "D", "9.4.8", "params may be left out where none is required; an array of params is -32602"],
  ["C-10", "M", "9.2", "names of service parameters are case-insensitive"],
  [
    "C-11",
    "D",
    "9.1",
    "application/json with parameters and application/a2a+json are accepted, other types refused",
  ],
  ["C-12", "D", "9.4.2", "what fails before a stream is a JSON answer; what fails in it is an SSE event"],
  ["C-13", "D", "9.1", "the endpoint answers with and without a trailing slash"],

  // HTTP+JSON
  ["D-01", "S", "11.1", "answers are application/a2a+json; application/json requests are accepted"],
  ["D-02", "M", "11.5", "query parameters are camelCase, decoded, and typed"],
  ["D-03", "M", "11.6", "errors are google.rpc.Status with ErrorInfo"],
  ["D-04", "S", "11.6", "invalid requests are 400 with every field violation"],
  ["D-05", "M", "5.4", "HTTP statuses follow the table of errors"],
  ["D-06", "M", "11.7", "SSE data is a bare StreamResponse"],
  ["D-07", "D", "11", "success is always 200"],
  ["D-08", "D", "11.3", "an empty body is valid for :cancel and :subscribe"],
  [
    "D-09",
    "D",
    "11.3",
    "unknown routes are 404 and wrong methods 405, both in JSON; ids are percent-decoded",
  ],
  ["D-10", "D", "11.7", "what fails in a stream is an SSE event with a google.rpc.Status"],
  ["D-11", "D", "11.3", "a tenant in the path must equal the one in the body"],

  // gRPC
  ["E-01", "M", "10.1", "the service is lf.a2a.v1.A2AService"],
  ["E-02", "M", "10.2", "service parameters travel as metadata"],
  ["E-03", "M", "10.6", "errors carry google.rpc.Status with ErrorInfo"],
  ["E-04", "M", "10.7", "streams are server streams; a client that cancels one does not cancel the task"],
  ["E-05", "D", "3.3.2", "authentication failures are UNAUTHENTICATED and PERMISSION_DENIED"],

  // SendMessage, SendStreamingMessage
  ["F-01", "M", "3.1.1", "the answer is a task or a message"],
  ["F-02", "M", "3.2.2", "by default the answer waits until the task is terminal or interrupted"],
  ["F-03", "M", "3.2.2", "returnImmediately answers once the task exists"],
  ["F-04", "M", "3.4.2", "task ids come from the server; an unknown one is TaskNotFound"],
  ["F-05", "M", "3.1.1", "a message to a terminal task is UnsupportedOperation, before any stream"],
  ["F-06", "M", "3.4.3", "a message with only a task id gets the task's context"],
  ["F-07", "M", "3.4.3", "a context that is not the task's is refused"],
  ["F-08", "M", "3.4.1", "a context id is kept as given, or made and answered"],
  ["F-09", "M", "3.1.1", "unsupported media types of parts are ContentTypeNotSupported"],
  ["F-10", "M", "3.3.2", "all parameters are validated before anything is done"],
  ["F-11", "O", "3.3.1", "the same message sent again is the same task"],
  ["F-12", "S", "3.2.2", "output is tailored to acceptedOutputModes"],
  [
    "F-13",
    "M",
    "3.2.2",
    "an inline push configuration is registered first, or refused where push is unsupported",
  ],
  ["F-14", "M", "3.2.4", "historyLength applies to the task in the answer"],
  ["F-15", "O", "3.3.3", "messages to unfinished tasks are accepted; two runs never overlap"],
  ["F-16", "S", "3.4.3", "referenceTaskIds give context and leak nothing"],
  [
    "F-17",
    "M",
    "3.7",
    "results are artifacts",
    { outside: "the makers of agents write output as artifacts; an author may still say it in a status" },
  ],
  ["F-18", "D", "3.3.2", "an agent that throws fails its task and tells nothing private"],
  ["F-19", "D", "3.5.2", "a client that disconnects cancels nothing"],
  ["F-20", "S", "3.4.1", "work after a terminal task is a new task in the same context"],

  // GetTask, ListTasks
  ["F-30", "M", "3.1.3", "GetTask gives the current state; an unknown task is TaskNotFound"],
  [
    "F-31",
    "M",
    "3.2.4",
    "historyLength gives at most that many of the newest messages; 0 none; negative is refused",
  ],
  ["F-32", "M", "3.1.4", "ListTasks gives the caller's tasks, newest status first, with a stable cursor"],
  ["F-33", "M", "3.1.4", "pageSize is 50 by default and 1 to 100"],
  ["F-34", "M", "3.1.4", "tasks, nextPageToken, pageSize and totalSize are always there"],
  ["F-35", "M", "3.1.4", "artifacts are listed only with includeArtifacts"],
  ["F-36", "M", "3.1.4", "filters are exact, inclusive in time, and combined"],
  ["F-37", "D", "3.1.4", "a page token that is invalid or of another query is refused"],
  ["F-38", "M", "6.5", "an unknown enum name is refused"],

  // CancelTask
  ["F-40", "M", "3.1.5", "CancelTask cancels and answers the task"],
  ["F-41", "M", "3.1.5", "a terminal task is TaskNotCancelable, an unknown one TaskNotFound"],
  ["F-42", "M", "3.3.1", "a cancelled task is answered unchanged"],
  [
    "F-43",
    "D",
    "3.1.5",
    "whatever state results is answered; tasks that wait can be cancelled; streams see the end",
  ],

  // SubscribeToTask
  ["F-50", "M", "3.1.6", "a subscription begins with the task as it is and closes when it is terminal"],
  [
    "F-51",
    "M",
    "3.1.6",
    "subscribing to a terminal task is UnsupportedOperation, to an unknown one TaskNotFound",
  ],
  ["F-52", "D", "3.1.6", "a subscription stays open across turns"],
  ["F-53", "D", "3.1.6", "between the snapshot and the events nothing is missing and nothing comes twice"],

  // Streams
  ["G-01", "M", "3.1.2", "a stream is one message, or a task followed by its updates"],
  ["G-02", "M", "3.1.2", "a stream closes at a terminal state; there is no final flag"],
  [
    "G-03",
    "M",
    "3.5.2",
    "every stream of a task has the same events in the same order; none affects another",
  ],
  [
    "G-04",
    "D",
    "11.7",
    "SendStreamingMessage closes when input is required and stays open for authentication",
  ],
  ["G-05", "D", "11.7", "streams are not cached nor buffered, and a comment breaks long silence"],
  ["G-06", "D", "3.5.2", "a slow reader has a bounded buffer and does not slow other readers"],
  ["G-07", "M", "4.2.2", "chunks are merged into the stored artifact"],
  ["G-08", "D", "4.2.1", "every update has its task id and context id"],
  ["G-09", "D", "5.6.1", "status timestamps are UTC with milliseconds and never decrease"],

  // Capabilities
  [
    "H-01",
    "M",
    "3.3.4",
    "without push, its operations are PushNotificationNotSupported, before the task is looked up",
  ],
  ["H-02", "M", "3.3.4", "without streaming, streaming operations are UnsupportedOperation"],
  ["H-03", "M", "3.3.4", "without an extended card, asking for it is UnsupportedOperation"],
  ["H-04", "M", "3.3.4", "a required extension that the client does not declare is refused"],

  // Push notifications
  ["I-01", "M", "3.1.7", "creating a push configuration answers it with its id"],
  ["I-02", "M", "3.1.7", "push configurations are kept"],
  ["I-03", "M", "3.1.8", "push configurations are read, listed and deleted"],
  ["I-04", "M", "4.3.3", "a push payload is a StreamResponse"],
  ["I-05", "M", "4.3.3", "a push carries the configured authorization"],
  ["I-06", "D", "4.3.3", "a push carries its token and version"],
  ["I-07", "M", "4.3.3", "every update is tried at every webhook; failures harm nothing"],
  ["I-08", "D", "4.3.3", "pushes are in order and the terminal one is never dropped"],
  ["I-09", "S", "13.2", "webhooks at private addresses are refused"],
  ["I-10", "S", "13.2", "push credentials are secrets"],
  ["I-11", "D", "13.2", "push content obeys the caller's scope"],
  ["I-12", "M", "13.2", "a receiver validates what it is sent"],

  // Extensions, tenants
  ["J-01", "M", "3.2.6", "A2A-Extensions lists the client's extensions"],
  ["J-02", "S", "4.6", "the answer lists the activated extensions"],
  ["J-03", "M", "4.6.3", "an unsupported version of an extension is never replaced by another"],
  ["J-04", "M", "4.6", "extensions are inactive by default"],
  ["J-05", "S", "4.6.2", "messages and artifacts list the extensions that contributed"],
  ["K-01", "M", "8.3.2", "the client echoes the tenant of the interface"],
  ["K-02", "D", "13.1", "tenants are isolated"],

  // Errors
  ["1.L", "M", "5.4", "every error has its JSON-RPC code, HTTP status, gRPC status and reason"],

  // Authentication and security
  ["M-01", "M", "7.4", "every request is authenticated where the server asks for it"],
  ["M-02", "M", "3.3.2", "somebody else's task is byte-identical to no task"],
  ["M-03", "M", "13.1", "every operation checks the caller; lists are confined to the caller"],
  ["M-04", "D", "13.1", "(tenant, principal) owns tasks and contexts"],
  ["M-05", "M", "7.6.1", "AUTH_REQUIRED is a state of a task, with a message"],
  [
    "M-06",
    "M",
    "7.6.4",
    "AUTH_REQUIRED authorises nothing by itself",
    { outside: "what an authorization permits is decided by the agent that waits for it" },
  ],
  [
    "M-07",
    "M",
    "7.1",
    "TLS in production",
    {
      outside:
        "a server listens on loopback or behind a proxy; grpc.tls and the clients that insist on TLS are tested",
    },
  ],
  ["M-08", "S", "13.4", "sizes and complexity are limited; no credentials in logs"],
  [
    "M-09",
    "M",
    "14.1",
    "file URLs are validated before a server fetches them",
    { outside: "no code of ours fetches the URL of a part; agents and their models do" },
  ],
  ["M-10", "S", "7.2", "the client scopes credentials and forwards none to redirects"],
  ["M-11", "D", "7.4", "authentication failures in JSON-RPC are 401 or 403 with a JSON-RPC error"],

  // Guarantees of the engine
  ["E1", "E", "", "one writer per task; events are visible once appended, numbered from 1 without gaps"],
  ["E2", "E", "", "a reader never drives a task"],
  ["E3", "E", "", "a subscription is a snapshot at n and every event after n exactly once"],
  ["E4", "E", "", "every SSE event has its number; Last-Event-ID resumes after it; silence is broken"],
  ["E5", "E", "", "a slow reader costs bounded memory and blocks no other reader"],
  ["E6", "E", "", "the cost of a chunk is flat; waiting chunks are merged without loss"],
  ["E7", "E", "", "terminal states absorb; the table of moves is total"],
  ["E8", "E", "", "cancel reaches the agent, sticks, and fences off an agent that ignores it"],
  [
    "E9",
    "E",
    "",
    "a killed process loses nothing; orphaned runs are resumed, restarted or failed, as their agent says",
  ],
  ["E10", "E", "", "the same message twice is one task; other content under its id is an error"],
  ["E11", "E", "", "two runs never overlap in one task"],
  ["E12", "E", "", "push: at least once, in order, retried, dead-lettered"],
  ["E13", "E", "", "(tenant, principal) owns tasks; somebody else's is no task"],
  ["E14", "E", "", "everything is bounded; past a bound a clear refusal with Retry-After"],
  [
    "E15",
    "E",
    "",
    "drain on SIGTERM",
    {
      later:
        "runs have a while to end, and then fail or wait for the next start, as their agent says; none is handed over to another process that runs",
    },
  ],
  ["E16", "E", "", "time never goes backwards in a task"],
  [
    "E17",
    "E",
    "",
    "a task whose owner, store or disk failed is settled within seconds of the fault's end, without a restart",
  ],
  ["E18", "E", "", "a finished step is not repeated in a later attempt, on any node"],
  [
    "E21",
    "E",
    "",
    "any node: subscribe, send, cancel, and deliver work on every node of a store, and a node's death is over within a lease",
  ],
  ["E22", "E", "", "every hop carries the trace, and each run states its trace and its parent task"],
  [
    "E24",
    "E",
    "",
    "a turn ends by its agent, or by a limit on its silence or time, with a reason that its caller reads",
  ],
  ["E25", "E", "", "a default server runs no code of the features that it does not use"],
  ["E26", "E", "", "the record and the console state only what was seen, and call the rest unknown"],

  // The page of the console
  ["B1", "E", "", "the console computes no critical path of a task that it did not observe"],
  ["B2", "E", "", "the console shows the times of commits, and no invented ones"],
  ["B3", "E", "", "calls to agents of other vendors are in the trace and on the critical path"],
  ["B4", "E", "", "a reload of the chat continues the conversation"],
  ["B5", "E", "", "links, rows, and URLs without a token open in other tabs"],
  ["B6", "E", "", "a restart of the server ends no session of a page"],
  ["B7", "E", "", "the chat follows a fast answer until the user scrolls up"],
  ["B8", "E", "", "agents with the same name are told apart"],
  ["B9", "E", "", "thousands of status messages are one line and a list"],
  ["B10", "E", "", "a chat shows the state of a task whose server refuses the subscription"],
  ["B11", "E", "", "a chat with an agent that needs credentials leads to the sign-in"],
  ["B12", "E", "", "push notifications are offered only if they can arrive"],
  ["B13", "E", "", "a form with a mistake states it next to its button, and focuses the field"],
  ["B14", "E", "", "a task that does not exist has no actions"],
  ["B15", "E", "", "the console does not show its own reads"],
  ["B16", "E", "", "colloquy dev shows the cause and the stack of an error"],
  ["B17", "E", "", "an unknown agent is named, with links to the others"],
  ["B18", "E", "", "an agent that streams its answer is working"],
  ["B19", "E", "", "search finds parts of Chinese words"],
  ["B20", "E", "", "a phone shows every screen"],

  // A2A 0.3 (section numbers of 0.3.0)
  ["V-01", "M", "0.3 §3.5.6", "methods have the names of 0.3, and their parameters its shapes"],
  ["V-02", "M", "0.3 §7.1", "results are bare tasks and messages that name their kind"],
  ["V-03", "M", "0.3 §7.2", "elements of a stream are bare tasks, messages and updates that name their kind"],
  [
    "V-04",
    "M",
    "0.3 §7.2.2",
    "every status update says whether it is final; a stream ends behind one that is",
  ],
  ["V-05", "M", "0.3 §6.3", "states and roles are written in the words of 0.3"],
  ["V-06", "M", "0.3 §6.4", "a message has its kind, role, id and parts; a kind that is missing is inferred"],
  ["V-07", "M", "0.3 §6.5", "parts are of kind text, file or data"],
  [
    "V-08",
    "D",
    "0.3 §6.5.3",
    "data that is no object travels wrapped and marked, as the official SDKs do it",
  ],
  [
    "V-09",
    "D",
    "0.3 §7.1.2",
    "a request waits unless blocking is false; in the proto, which can not tell, unless it is configured and not true",
  ],
  [
    "V-10",
    "M",
    "0.3 §7.5",
    "push configurations are set, got (also the first one), listed as an array, deleted",
  ],
  ["V-11", "M", "0.3 §8", "errors have the codes of 0.3; there is no -32008 and no -32009"],
  ["V-12", "D", "0.3 §7.9", "resubscribing to a task at rest gives the task and ends"],
  [
    "V-13",
    "M",
    "0.3 §3.2.3",
    "HTTP+JSON has the routes of 0.3 below /v1, with ids in paths and the rest in queries",
  ],
  ["V-14", "D", "0.3 §3.2.3", "HTTP+JSON takes messages as the proto and as the JSON-RPC types have them"],
  ["V-15", "M", "0.3 §3.2.3", "HTTP+JSON speaks application/json, in the shapes of the proto"],
  [
    "V-16",
    "M",
    "0.3 §3.2.3",
    "errors over HTTP+JSON have one form, a code and a message, and a fitting status",
  ],
  ["V-17", "M", "0.3 §3.2.6", "extensions travel in X-A2A-Extensions; A2A-Extensions is understood"],
  ["V-18", "M", "0.3 §3.3.1", "streams are server-sent events whose data are JSON-RPC responses"],
  ["V-19", "M", "0.3 §5.5", "the card has every field that 0.3 requires"],
  ["V-20", "M", "0.3 §5.5.3", "security schemes and requirements have the shape of 0.3"],
  ["V-21", "M", "0.3 §5.3", "the card is served at its well-known path, and at the one before 0.3"],
  [
    "V-22",
    "M",
    "0.3 §5.6",
    "the card names its preferred transport and all interfaces of 0.3, the main one too",
  ],
  ["V-23", "M", "0.3 §3.2.2", "ProtoJSON of 0.3 has its resource names, content, and cancelled with two l"],
  ["V-24", "M", "0.3 §9.5", "a push is the bare task with its kind"],
  ["V-25", "M", "0.3 §3.5.6", "0.3 has no list of tasks over JSON-RPC, and no tenants"],
  ["V-26", "M", "0.3 §7.10", "the extended card is asked for by the method and the route of 0.3"],
];
