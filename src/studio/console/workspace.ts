import type { TrafficLineInput, TrafficModel } from "../../observe/trace/index.ts";
import {
  createTrafficWriter,
  type TrafficSink,
  type TrafficWriter,
} from "../../observe/trace/recording/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { AgentCredentialStore } from "./credentials/index.ts";
import { DEFAULT_JOURNAL_LENGTH, LineJournal } from "./line-journal.ts";
import { createJournalModelReader } from "./observed-tasks.ts";
import { findCurrentOperation, StreamOperation } from "./stream-operation.ts";

/** The lines go to the listeners of the writer, and to no file. */
const NO_SINK: TrafficSink = { write: () => {}, close: () => {} };

/**
 * Longer bodies are shortened, in characters. Pages show files of messages and artifacts, and two such bodies fit into
 * the journal.
 */
const MAX_BODY_LENGTH = DEFAULT_JOURNAL_LENGTH / 2;

/** Maximum number of messages and subscriptions that one user runs at the same time. */
const MAX_OPERATIONS = 100;

/**
 * Everything that the console keeps for one user: the observed lines, the added agents, and their credentials. Users of
 * a shared console do not see each other's workspace.
 */
export class Workspace {
  readonly journal: LineJournal;
  /** The traffic of the requests that the console makes for the user. */
  readonly record: TrafficWriter;
  readonly credentials: AgentCredentialStore = new AgentCredentialStore();
  /** URLs of the remote agents that the user has added, by agent id. */
  readonly addedUrls: Map<string, string> = new Map();
  /** The base URL of requests to the own server, which stay in the process, and the URL under which the user reached it. */
  ownServerUrls: { readonly inProcess: string; readonly reached: string } = { inProcess: "", reached: "" };
  /** Returns the model of all observed lines. */
  readonly readModel: () => TrafficModel;
  readonly #operations = new Set<StreamOperation>();
  /** Lines of the server that wait until the earlier lines are loaded. */
  #waitingLines: string[] | undefined;
  #loading: Promise<void> | undefined;

  constructor(name: string, code: string, maxJournalLength?: number) {
    this.journal = new LineJournal(maxJournalLength);
    this.readModel = createJournalModelReader(this.journal);
    this.record = createTrafficWriter(NO_SINK, {
      vantage: "client",
      name,
      code,
      maxBodyLength: MAX_BODY_LENGTH,
    });
    // The client writes to the same writer object.
    const write = this.record.write.bind(this.record);
    this.record.write = (line, rawMembers) => write(this.#correctLine(line), rawMembers);
    this.journal.append(this.record.header.trimEnd());
    this.record.subscribe((text) => {
      const operation = findCurrentOperation();
      const { callKey } = this.journal.append(text, operation);
      if (callKey !== undefined) operation?.calls.add(callKey);
    });
  }

  #correctLine(line: TrafficLineInput): TrafficLineInput {
    const { inProcess, reached } = this.ownServerUrls;
    return {
      ...line,
      // No name or form tells that a header for a gateway is a secret.
      ...("headers" in line &&
        line.headers && { headers: this.credentials.hideEnteredHeaders(line.headers) }),
      ...("url" in line &&
        line.url?.startsWith(`${inProcess}/`) && { url: reached + line.url.slice(inProcess.length) }),
    };
  }

  /** Adds a line of the server. */
  observe(text: string): void {
    if (this.#waitingLines) this.#waitingLines.push(text);
    else this.journal.append(text);
  }

  /** Adds the lines that the server observed before the workspace was opened, once. */
  loadEarlierLines(readLines: () => AsyncIterable<string>): Promise<void> {
    this.#loading ??= this.#load(readLines());
    return this.#loading;
  }

  async #load(lines: AsyncIterable<string>): Promise<void> {
    const waiting: string[] = [];
    this.#waitingLines = waiting;
    try {
      for await (const text of lines) this.journal.append(text);
    } finally {
      this.#waitingLines = undefined;
      for (const text of waiting) this.journal.append(text);
    }
  }

  /** Starts an operation, whose lines are in the journal. Throws RESOURCE_EXHAUSTED above the limit. */
  startOperation(work: (signal: AbortSignal) => AsyncIterable<unknown>): StreamOperation {
    if (this.#operations.size >= MAX_OPERATIONS)
      throw new A2AError(
        "RESOURCE_EXHAUSTED",
        `The console runs ${MAX_OPERATIONS} streams for this user already; close one of them.`,
      );
    const operation = new StreamOperation();
    this.#operations.add(operation);
    void operation.run(work).finally(() => {
      this.#operations.delete(operation);
      this.journal.wakeReaders();
    });
    return operation;
  }

  /** Breaks the connection of a call, so that the client resumes its stream. */
  cutStream(call: string): void {
    const key = `${this.record.id} ${call}`;
    const operation = [...this.#operations].find(({ calls }) => calls.has(key));
    if (!operation)
      throw new A2AError("NOT_FOUND", `No open stream has the call ${call.slice(0, 40)}; subscribe again.`);
    if (operation.cut() === 0)
      throw new A2AError(
        "UNSUPPORTED_OPERATION",
        "The stream has no HTTP connection that the console can cut; use an agent with JSON-RPC or HTTP+JSON.",
      );
  }

  close(): void {
    for (const operation of this.#operations) operation.close();
  }
}
