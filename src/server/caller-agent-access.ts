import type { Caller } from "../engine/index.ts";
import type { TaskLogAccess } from "./task-log-access.ts";

/** Accesses the agents of a server on behalf of an authenticated caller. */
export interface CallerAgentAccess {
  readonly caller: Caller;
  /** Base URL of the agents. Only the `fetch` function of the caller context can reach this URL. */
  readonly url: string;
  /** Sends a request from the caller to the server, without a network connection. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Reads the caller's tasks from the task store. */
  readonly tasks: TaskLogAccess;
}
