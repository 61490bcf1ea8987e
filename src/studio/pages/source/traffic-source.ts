import type {
  AgentReloadNotice,
  ConsoleAgent,
  ConsoleCardReport,
  ConsoleCredentials,
  ConsolePushRegistration,
  ConsoleSendRequest,
  ConsoleSession,
  ConsoleTaskList,
  ConsoleTaskQuery,
} from "../../console-api/index.ts";
import type { RunView } from "../cards/run-view.ts";
import type { Task } from "../../../protocol/index.ts";
import type { TrafficLine } from "../../../observe/trace/index.ts";

/**
 * Everything that the page shows. There are three implementations: the API of a console, lines that a one-file export
 * contains, and a file that a server watches. All views are functions of the lines.
 */
export interface TrafficSource {
  readonly session: ConsoleSession;
  listAgents(): Promise<readonly ConsoleAgent[]>;
  readCard(agentId: string): Promise<ConsoleCardReport>;
  listTasks(query: ConsoleTaskQuery): Promise<ConsoleTaskList>;
  readTask(agentId: string, taskId: string): Promise<Task>;
  /** Yields the lines of a task in batches, oldest first, and ends at the present. */
  readLines(agentId: string, taskId: string, signal?: AbortSignal): AsyncIterable<readonly TrafficLine[]>;
  /** Yields the lines of all tasks that the console has observed, oldest first. Missing for records. */
  readObservedLines?(): AsyncIterable<readonly TrafficLine[]>;
  /**
   * Calls `onLines` with each batch of new lines of all tasks, and returns a function that stops the calls. The source
   * reconnects after a failure, and reports the connection to `onConnection`. A console of `colloquy dev` reports its
   * reloads to `onReload`.
   */
  watchLines(
    onLines: (lines: readonly TrafficLine[]) => void,
    onConnection?: (state: WatchConnection) => void,
    onReload?: (notice: AgentReloadNotice) => void,
  ): () => void;
  /** The run of the card protocol in the record, if the record has one. */
  readonly cardRun?: RunView;
  /** Whether the record contains no traffic, and only message cards. Default: false. */
  readonly hasOnlyCards?: boolean;
  /** Missing for records, which accept no requests. */
  readonly actions?: TrafficActions;
}

/** State of the connection that delivers new lines. A record that does not grow is `ended`. */
export type WatchConnection =
  | { readonly state: "connecting" | "live" | "ended" }
  | { readonly state: "reconnecting"; readonly attempt: number; readonly error: string };

/** Requests to agents. A rejected request throws a `TrafficSourceError`. */
export interface TrafficActions {
  /** Ends the session of all tabs. */
  signOut(): Promise<void>;
  addAgent(url: string): Promise<ConsoleAgent>;
  removeAgent(agentId: string): Promise<void>;
  putCredentials(agentId: string, credentials: ConsoleCredentials): Promise<ConsoleAgent>;
  deleteCredentials(agentId: string): Promise<ConsoleAgent>;
  /** Yields the lines of the turn. The stream ends with the turn, and throws if its connection breaks. */
  sendMessage(
    agentId: string,
    request: ConsoleSendRequest,
    signal: AbortSignal,
  ): AsyncIterable<readonly TrafficLine[]>;
  /** Subscribes to a task after an event. `after` 0 replays the complete log, if the agent keeps its log. */
  subscribe(
    agentId: string,
    taskId: string,
    after: number | undefined,
    signal: AbortSignal,
  ): AsyncIterable<readonly TrafficLine[]>;
  cancelTask(agentId: string, taskId: string): Promise<Task>;
  /** Breaks the connection of a stream of the console, so that the client of the console resumes the stream. */
  cutStream(agentId: string, call: string): Promise<void>;
  registerPush(agentId: string, taskId: string): Promise<ConsolePushRegistration>;
}

/** A request to the source that failed. `reason` is the reason of the A2A error, for example `TASK_NOT_FOUND`. */
export class TrafficSourceError extends Error {
  override readonly name = "TrafficSourceError";
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Names the person in front of the page. A record does not show who used its console. */
export function getConsoleUser({ session }: TrafficSource): string | undefined {
  return session.mode === "file" ? undefined : PAGE_USER;
}

/** Sender of the messages of this console. */
export const PAGE_USER = "You";
