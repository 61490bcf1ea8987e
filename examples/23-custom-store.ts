/**
 * A task store for a database of your own. The database of this example keeps JSON texts by key, and changes several
 * keys at once. The example checks the store with the rules of `colloquy/testing`, and then serves an agent.
 *
 *     node examples/23-custom-store.ts
 */
import { agent, connect, createServer, foldLoggedEvents, LogEvent, type TaskStore } from "colloquy";
import { TASK_STORE_RULES } from "colloquy/testing";

type LogAppend = Parameters<TaskStore["commit"]>[0][number];
type Scope = LogAppend["scope"];
type Refusal = "conflict" | "duplicate-message";
type StoredTask = NonNullable<Awaited<ReturnType<TaskStore["load"]>>>;

/** The database. Replace it with the client of a real one. */
interface KeyValueDatabase {
  get(key: string): Promise<string | undefined>;
  /** Returns the values of all keys with a prefix. */
  scan(prefix: string): Promise<string[]>;
  /** Writes all entries or none. */
  write(entries: ReadonlyMap<string, string>): Promise<void>;
}

/** The row of a task, without its events. */
interface TaskRow {
  readonly taskId: string;
  readonly contextId: string;
  readonly seq: number;
  readonly status: LogAppend["status"];
  readonly queuedTurns: NonNullable<StoredTask["queuedTurns"]>;
}

/** Joins the parts of a key without ambiguity. */
const toKey = (kind: string, scope: Scope, ...rest: string[]): string =>
  [kind, scope.tenant, scope.principal, scope.agent, ...rest].map(encodeURIComponent).join("/");
const toEventKey = (scope: Scope, taskId: string, seq: number): string =>
  toKey("event", scope, taskId, String(seq).padStart(12, "0"));

class KeyValueStore implements TaskStore {
  readonly name = "key-value";
  readonly #database: KeyValueDatabase;
  /** Commits run one after the other, because each reads the rows that it changes. */
  #lastCommit: Promise<unknown> = Promise.resolve();

  constructor(database: KeyValueDatabase) {
    this.#database = database;
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {
    await this.#lastCommit;
  }

  commit(batch: readonly LogAppend[]): Promise<(Refusal | undefined)[]> {
    const committed = this.#lastCommit.then(() => this.#writeBatch(batch));
    this.#lastCommit = committed.catch(() => {});
    return committed;
  }

  async #writeBatch(batch: readonly LogAppend[]): Promise<(Refusal | undefined)[]> {
    const entries = new Map<string, string>();
    const refusals: (Refusal | undefined)[] = [];
    for (const append of batch) refusals.push(await this.#addAppend(append, entries));
    await this.#database.write(entries);
    return refusals;
  }

  /** Adds the entries of an append to those of the batch, or returns the reason for its refusal. */
  async #addAppend(append: LogAppend, entries: Map<string, string>): Promise<Refusal | undefined> {
    const { scope, taskId, contextId, expectedSeq, events, messages, queueChange, status } = append;
    const read = async (key: string): Promise<string | undefined> =>
      entries.get(key) ?? (await this.#database.get(key));
    const known = await read(toKey("task", scope, taskId));
    const row = known === undefined ? undefined : (JSON.parse(known) as TaskRow);
    if ((row?.seq ?? 0) !== expectedSeq || append.epoch !== 0) return "conflict";
    const ids = messages.filter(({ wasQueued }) => !wasQueued).map(({ messageId }) => messageId);
    if (new Set(ids).size < ids.length) return "duplicate-message";
    for (const id of ids) if (await read(toKey("message", scope, id))) return "duplicate-message";
    const { added = [], removedThrough = 0 } = queueChange ?? {};
    const queuedTurns = [...(row?.queuedTurns ?? []), ...added].filter(
      ({ position }) => position > removedThrough,
    );
    const seq = expectedSeq + events.length;
    const next: TaskRow = { taskId, contextId, seq, status, queuedTurns };
    entries.set(toKey("task", scope, taskId), JSON.stringify(next));
    for (const event of events) entries.set(toEventKey(scope, taskId, event.seq), event.jsonText);
    for (const { messageId, seq: messageSeq } of messages)
      entries.set(toKey("message", scope, messageId), JSON.stringify({ taskId, seq: messageSeq }));
    return undefined;
  }

  async #readLog(scope: Scope, taskId: string): Promise<LogEvent[]> {
    const texts = await this.#database.scan(`${toKey("event", scope, taskId)}/`);
    return texts.map((text, at) => LogEvent.fromJsonText(at + 1, text));
  }

  async load(scope: Scope, taskId: string): Promise<StoredTask | undefined> {
    const text = await this.#database.get(toKey("task", scope, taskId));
    if (text === undefined) return undefined;
    const { seq, queuedTurns } = JSON.parse(text) as TaskRow;
    // A commit can add events after the read of the row.
    const log = (await this.#readLog(scope, taskId)).slice(0, seq);
    const task = foldLoggedEvents(undefined, log);
    if (!task) return undefined;
    return { task, seq, epoch: 0, awaitsRecovery: false, ...(queuedTurns.length > 0 && { queuedTurns }) };
  }

  async readEvents(
    scope: Scope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    const events: LogEvent[] = [];
    let bytes = 0;
    for (const event of (await this.#readLog(scope, taskId)).slice(after)) {
      events.push(event);
      bytes += Buffer.byteLength(event.jsonText);
      if (events.length >= limit.events || bytes > limit.maxBytes) break;
    }
    return events;
  }

  async list(scope: Scope, query: Parameters<TaskStore["list"]>[1]): ReturnType<TaskStore["list"]> {
    const { contextId, status, statusSince = "", after, limit, maxBytes = Infinity } = query;
    const rows = (await this.#database.scan(`${toKey("task", scope)}/`))
      .map((text) => JSON.parse(text) as TaskRow)
      .filter((row) => (contextId ?? row.contextId) === row.contextId)
      .filter((row) => (status ?? row.status.state) === row.status.state)
      .filter((row) => row.status.timestamp >= statusSince)
      .toSorted((a, b) => (isNewer(a.status.timestamp, a.taskId, b.status.timestamp, b.taskId) ? -1 : 1));
    const rest = after
      ? rows.filter((row) => isNewer(after.timestamp, after.taskId, row.status.timestamp, row.taskId))
      : rows;
    const tasks: StoredTask["task"][] = [];
    let bytes = 0;
    for (const { taskId } of rest.slice(0, limit)) {
      const stored = await this.load(scope, taskId);
      if (!stored) continue;
      if (!query.includeArtifacts) delete stored.task.artifacts;
      bytes += Buffer.byteLength(JSON.stringify(stored.task));
      if (tasks.length > 0 && bytes > maxBytes) break;
      tasks.push(stored.task);
    }
    return { tasks, hasMore: rest.length > tasks.length, total: rows.length };
  }

  async findMessage(scope: Scope, messageId: string): Promise<{ taskId: string; seq: number } | undefined> {
    const text = await this.#database.get(toKey("message", scope, messageId));
    return text === undefined ? undefined : (JSON.parse(text) as { taskId: string; seq: number });
  }
}

function isNewer(time: string, id: string, otherTime: string, otherId: string): boolean {
  return time === otherTime ? id > otherId : time > otherTime;
}

/** A database in memory. */
function createMemoryDatabase(): KeyValueDatabase {
  const values = new Map<string, string>();
  return {
    get: async (key) => values.get(key),
    scan: async (prefix) =>
      [...values.keys()]
        .filter((key) => key.startsWith(prefix))
        .toSorted()
        .flatMap((key) => values.get(key) ?? []),
    write: async (entries) => entries.forEach((value, key) => values.set(key, value)),
  };
}

for (const { title, check } of TASK_STORE_RULES) {
  await check(new KeyValueStore(createMemoryDatabase()));
  console.log(`The store follows the rule: ${title}.`);
}

const echo = agent({ name: "echo", description: "Repeats messages" }, async function* ({ text }) {
  yield text;
});
const server = createServer({ echo }, { store: new KeyValueStore(createMemoryDatabase()) });
const remote = await connect("http://echo.example", {
  fetch: (input, init) => server.fetch(new Request(input, init)),
});
const answered = await remote.send("hello");
if ("task" in answered) console.log(answered.task.status.state, answered.task.artifacts?.[0]?.parts);
await server.close();
