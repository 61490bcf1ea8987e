import type { Observer, TaskScope } from "../../engine/index.ts";
import {
  createTrafficWriter,
  type TrafficSink,
  type TrafficWriter,
} from "../../observe/trace/recording/index.ts";
import { ConsoleReadFilter } from "./console-reads.ts";
import { formatEventLine } from "./log-lines.ts";

/** Receives a line of the own server. `owner` is the key of the caller whose task the line concerns, if it is known. */
export type ServerLineListener = (text: string, owner: string | undefined) => void;

/** Kinds of lines that the work on a task causes. Other callers can send requests that name the task, too. */
const TASK_LINE_KINDS: ReadonlySet<string> = new Set(["event", "turn", "model", "tool", "push"]);

interface ServerLineContext {
  readonly serverRecord: TrafficWriter | undefined;
  /** Names of the agents by id. */
  readonly ownNames: ReadonlyMap<string, string>;
}

/** Number of tasks whose owners the console remembers, for lines that name only the task. */
const MAX_KNOWN_OWNERS = 50_000;

const NO_SINK: TrafficSink = { write: () => {}, close: () => {} };

/** Returns the key of a caller who owns tasks. */
export function getOwnerKey({ tenant, principal }: Pick<TaskScope, "tenant" | "principal">): string {
  return JSON.stringify([tenant, principal]);
}

/**
 * Follows the activity of the own server: the committed events, and the turns and push notifications. If the server
 * records its traffic, the requests and streams of all clients are included.
 */
export class ServerLines {
  /** The line about the writer of the other lines. */
  readonly header: string;
  /** Listeners for the server that has mounted the console. */
  readonly observer: Observer;
  readonly #onLine: ServerLineListener;
  readonly #ownersByTask = new Map<string, string>();
  readonly #reads = new ConsoleReadFilter();
  readonly #stopRecord: () => void;

  constructor(
    name: string,
    code: string,
    { serverRecord, ownNames }: ServerLineContext,
    onLine: ServerLineListener,
  ) {
    this.#onLine = onLine;
    const getAgentName = ({ agent }: TaskScope): string => ownNames.get(agent) ?? agent;
    const record = serverRecord ?? createTrafficWriter(NO_SINK, { vantage: "server", name, code });
    this.header = record.header.trimEnd();
    this.#stopRecord = record.subscribe((text) => this.#addRecordLine(text));
    this.observer = {
      onEvent: ({ scope, taskId, event }) => {
        this.#rememberOwner(taskId, scope);
        const at = new Date().toISOString();
        onLine(
          formatEventLine(event, { agent: getAgentName(scope), taskId, at, isTimeKnown: true }),
          getOwnerKey(scope),
        );
      },
      ...(serverRecord
        ? {}
        : {
            onRun: ({ scope, taskId, phase, error }) => {
              const message = error instanceof Error ? error.message : String(error);
              record.write({
                kind: "turn",
                agent: getAgentName(scope),
                task_id: taskId,
                phase,
                ...(error === undefined ? {} : { error: message }),
              });
            },
            onPush: ({ scope, taskId, configId, seq, outcome, reason }) =>
              record.write({
                kind: "push",
                agent: getAgentName(scope),
                task_id: taskId,
                config_id: configId,
                log_seq: seq,
                outcome,
                ...(reason === undefined ? {} : { reason }),
              }),
          }),
    };
  }

  close(): void {
    this.#stopRecord();
  }

  #addRecordLine(text: string): void {
    // The owner is known after the observers of the current commit have run.
    queueMicrotask(() => {
      const line = JSON.parse(text) as Parameters<ConsoleReadFilter["isConsoleRead"]>[0] & {
        readonly task_id?: string;
      };
      const { kind, task_id } = line;
      const owner = TASK_LINE_KINDS.has(kind) ? this.#ownersByTask.get(task_id ?? "") : undefined;
      // `onEvent` reports the events of this server. Other servers can write to the same record.
      if ((kind === "event" && owner !== undefined) || this.#reads.isConsoleRead(line)) return;
      this.#onLine(text, owner);
    });
  }

  #rememberOwner(taskId: string, scope: TaskScope): void {
    if (this.#ownersByTask.has(taskId)) return;
    this.#ownersByTask.set(taskId, getOwnerKey(scope));
    if (this.#ownersByTask.size <= MAX_KNOWN_OWNERS) return;
    for (const oldest of this.#ownersByTask.keys()) {
      this.#ownersByTask.delete(oldest);
      break;
    }
  }
}
