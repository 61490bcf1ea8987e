import type { JsonValue, Task } from "../../protocol/index.ts";
import type {
  ConsoleAgent,
  ConsoleCardReport,
  ConsoleTaskQuery,
  ConsoleTaskSummary,
} from "../console-api/index.ts";
import type { ParsedSendRequest } from "./parse-send-request.ts";

/** A task in a list, and the position after which the list continues. */
export interface PositionedTask {
  readonly summary: ConsoleTaskSummary;
  readonly position: JsonValue;
}

export interface PositionedTaskPage {
  readonly tasks: readonly PositionedTask[];
  readonly hasMore: boolean;
  /** Why the page may lack tasks. */
  readonly problem?: string;
}

/** Conditions of a task list, for the agents of one source. */
export type TaskListFilter = Omit<ConsoleTaskQuery, "pageToken" | "pageSize">;

/** A list of tasks with the newest status first: the tasks of the own server, of a remote agent, or of a record. */
export interface TaskListing {
  /** Id of the agent, or a name for the tasks of several agents. Unique in the console. */
  readonly id: string;
  readonly searchesText: boolean;
  /** Returns whether the list can contain tasks of an agent. */
  hasAgent(agentId: string): boolean;
  /** Returns at most `limit` tasks after a position, or the first tasks without a position. */
  list(filter: TaskListFilter, position: JsonValue | undefined, limit: number): Promise<PositionedTaskPage>;
}

/** An agent that the console shows. Records and servers that are not reachable reject the requests. */
export interface AgentSource {
  readonly id: string;
  describe(): Promise<ConsoleAgent>;
  reportCard(): Promise<ConsoleCardReport>;
  readTask(taskId: string): Promise<Task>;
  /** Yields the lines of a task as JSON text, oldest first. */
  readTaskLines(taskId: string): AsyncIterable<string>;
  /** Sends a message and yields the events of its turn. The traffic record of the workspace receives the lines. */
  sendMessage(request: ParsedSendRequest, signal: AbortSignal): AsyncIterable<unknown>;
  /** Yields the events of a task after an event, and the current task without `after`. */
  subscribe(taskId: string, after: number | undefined, signal: AbortSignal): AsyncIterable<unknown>;
  cancelTask(taskId: string): Promise<Task>;
  /** Registers a webhook for a task, and returns the id of the webhook configuration. */
  registerWebhook(taskId: string, webhook: { readonly url: string; readonly token: string }): Promise<string>;
}
