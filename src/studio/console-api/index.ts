import type { AgentSkill, JsonObject, JsonValue } from "../../protocol/index.ts";
import type { ConsoleTaskSummary } from "./task-summary.ts";

export {
  type ConsoleTaskQuery,
  type ConsoleTaskSummary,
  findQuestion,
  matchesTaskQuery,
  summarizeObservedTask,
} from "./task-summary.ts";
export { createTestTurn, type ObservedTestTurn } from "./create-test-turn.ts";

/**
 * The HTTP API of the console, under `/console/api/`. Members are in camel case. A2A objects are ProtoJSON of A2A 1.0,
 * also for agents that speak A2A 0.3.
 *
 * Every request carries the header `authorization: Bearer TOKEN`, or the two halves of a session: the cookie of
 * `POST sign-in` and the header `x-colloquy-console-key` with its key. The page reads the token from the fragment of its
 * URL (`/console/#token=TOKEN`). State-changing requests also carry the header `x-colloquy-console: 1`, and with a session
 * the header `origin`. A console that a server mounts behind its own authentication accepts the server's credentials
 * instead of the token.
 *
 * | request | response |
 * |---|---|
 * | `POST sign-in` with `ConsoleSignInRequest` | `ConsoleSignInResult` and a cookie |
 * | `POST sign-out` | status 204, and the end of the cookie |
 * | `GET session` | `ConsoleSession` |
 * | `GET agents` | `ConsoleAgentList` |
 * | `POST agents` with `AddAgentRequest` | `ConsoleAgent`, status 201 |
 * | `DELETE agents/:agent` | status 204 |
 * | `GET agents/:agent/card` | `ConsoleCardReport` |
 * | `PUT agents/:agent/credentials` with `ConsoleCredentials` | `ConsoleAgent` |
 * | `DELETE agents/:agent/credentials` | `ConsoleAgent` |
 * | `GET tasks?…` with `ConsoleTaskQuery` as query parameters | `ConsoleTaskList` |
 * | `GET agents/:agent/tasks/:task` | `Task` |
 * | `GET agents/:agent/tasks/:task/lines` | traffic lines, as JSON Lines |
 * | `POST agents/:agent/messages` with `ConsoleSendRequest` | SSE of traffic lines until the turn ends |
 * | `POST agents/:agent/tasks/:task/subscribe?after=N` | SSE of traffic lines until the task ends or waits |
 * | `POST agents/:agent/tasks/:task/cancel` | `Task` |
 * | `POST agents/:agent/streams/:call/cut` | status 204 |
 * | `GET observed-lines` | the lines of its record files and those that it has observed, as JSON Lines |
 * | `GET lines?after=CURSOR` | SSE of all traffic lines, with the cursor in `id:`, and events `reload` |
 * | `POST push/:agent/tasks/:task` | `ConsolePushRegistration`, status 201 |
 *
 * A failed request has a status of at least 400 and the body `ConsoleErrorBody`. In an SSE response, each `data:` is
 * one `TrafficLine` as JSON. The event `end` (`ConsoleStreamEnd`) is the last event of a stream that ends as intended.
 * A stream without this event has lost its connection. Comments keep idle streams open. The event `reload` of `GET lines`
 * is an `AgentReloadNotice` of `colloquy dev`.
 */
export type ConsoleApiPath = `/console/api/${string}`;

/** Name of the header that state-changing requests carry. Its value is `1`. */
export const CONSOLE_REQUEST_HEADER = "x-colloquy-console";

/** Name of the header with the key of a session. */
export const CONSOLE_KEY_HEADER = "x-colloquy-console-key";

/** `POST sign-in`: the launch token, or a header with the user's credentials for the server. */
export type ConsoleSignInRequest =
  | { readonly token: string }
  | { readonly headers: Readonly<Record<string, string>> };

/** Result of `POST sign-in`. */
export interface ConsoleSignInResult {
  /** Value of the header `x-colloquy-console-key` of later requests. */
  readonly key: string;
}

/** `GET session`: the console and what its user may do. */
export interface ConsoleSession {
  /**
   * `console` for `colloquy console URL…`, `dev` for `colloquy dev`, `serve` for a console that a server mounts, and
   * `file` for records without a live agent.
   */
  readonly mode: "console" | "dev" | "serve" | "file";
  /** Name for the title of the page, such as the host of the server or the name of a file. */
  readonly name: string;
  /** Version of Colloquy. */
  readonly version: string;
  /** Whether the user may send messages, and cancel tasks. False for records. */
  readonly canAct: boolean;
  /** Whether the user sees the tasks of all callers. */
  readonly isOperator: boolean;
  /** Whether the user has signed in with credentials for the server, and can sign out. */
  readonly canSignOut: boolean;
  readonly features: ConsoleFeatures;
}

/** Features that not every console has. */
export interface ConsoleFeatures {
  /** Whether `POST agents` adds agents by URL. */
  readonly addsAgents: boolean;
  /** Whether `PUT agents/:agent/credentials` accepts credentials. */
  readonly acceptsCredentials: boolean;
  /** Whether `POST push/…` registers the webhook of the console. */
  readonly receivesPush: boolean;
  /** Whether `GET tasks?text=` searches the text of at least one agent's tasks. */
  readonly searchesText: boolean;
  /** URL of the tap's fault API, if the console belongs to a tap. */
  readonly faultsUrl?: string;
}

/**
 * State of the connection to an agent. `degraded` means that the agent is usable, and that its card has problems or its
 * last request failed. `auth-needed` means that the agent rejected a request without valid credentials.
 */
export type ConsoleAgentStatus = "connecting" | "connected" | "degraded" | "unreachable" | "auth-needed";

/** An agent that the console shows. */
export interface ConsoleAgent {
  /** Id within the console, which is valid in URL paths. */
  readonly id: string;
  /** Name in the card, or the host if no card is known. Equals `agent` of the traffic lines of this agent. */
  readonly name: string;
  /** URL of the card or the agent, as the user entered it. Missing for agents of a record. */
  readonly url?: string;
  readonly status: ConsoleAgentStatus;
  /** The problem, and one thing to do. Present unless the status is `connected` or `connecting`. */
  readonly error?: string;
  /** Whether the server of the console serves the agent, so that the console reads its event log. */
  readonly isOwn: boolean;
  /** Whether the agent is part of a record, and accepts no requests. */
  readonly isRecorded: boolean;
  /** Protocol bindings in the card, for example `JSONRPC`. The console uses `binding`. */
  readonly bindings: readonly string[];
  readonly versions: readonly string[];
  readonly binding?: string;
  readonly version?: string;
  readonly description?: string;
  readonly skills: readonly AgentSkill[];
  readonly capabilities: ConsoleAgentCapabilities;
  /** Ways to sign in that the card declares, in the card's order. */
  readonly signIn: readonly ConsoleSignInScheme[];
  /** Names of the schemes for which the console holds credentials. */
  readonly credentials: readonly string[];
}

export interface ConsoleAgentCapabilities {
  readonly streaming: boolean;
  readonly pushNotifications: boolean;
  /** Whether the agent lists its tasks. Agents of A2A 0.3 cannot; the console lists the tasks that it has seen. */
  readonly listsTasks: boolean;
  /** Whether a stream resumes after event N. Other agents send the complete task first. */
  readonly resumesAfterEvent: boolean;
}

/** `GET agents`. */
export interface ConsoleAgentList {
  readonly agents: readonly ConsoleAgent[];
}

/** `POST agents`. */
export interface AddAgentRequest {
  readonly url: string;
}

/** A security scheme of a card, and the form that it needs. */
export interface ConsoleSignInScheme {
  /** Name in `securitySchemes` of the card. */
  readonly scheme: string;
  readonly kind:
    | "api-key"
    | "bearer"
    | "basic"
    | "oauth-client-credentials"
    | "oauth-device"
    | "headers"
    | "unsupported";
  readonly description?: string;
  /** Names of the members of `values` in `ConsoleCredentials`, in the order of the form. */
  readonly fields: readonly {
    readonly name: string;
    readonly label: string;
    readonly isSecret: boolean;
    /** Whether the value can have several lines. Default: false. */
    readonly isLong?: boolean;
  }[];
}

/** `PUT agents/:agent/credentials`. The console keeps the values in memory, and never sends them to a page. */
export interface ConsoleCredentials {
  readonly scheme: string;
  readonly values: Readonly<Record<string, string>>;
}

/** `GET agents/:agent/card`: the card, and how the agent behaved compared with it. */
export interface ConsoleCardReport {
  /** The card as the agent served it. */
  readonly card: JsonObject;
  readonly cardUrl?: string;
  readonly problems: readonly ConsoleCardProblem[];
  readonly signature: ConsoleCardSignature;
  readonly observed: readonly ConsoleCardObservation[];
}

export interface ConsoleCardProblem {
  /** Path in the card, for example `skills[0].tags`. */
  readonly path: string;
  readonly message: string;
  readonly severity: "error" | "warning";
}

export interface ConsoleCardSignature {
  /**
   * `verified`: a trusted key has signed the card. `self-signed`: a key that the origin of the card publishes has signed
   * the card. `invalid`: a signature does not match its key. `unverified`: the console has no key.
   */
  readonly status: "unsigned" | "verified" | "self-signed" | "invalid" | "unverified";
  readonly keyIds: readonly string[];
  /** The key that has signed the card, or why no signature is good. */
  readonly detail?: string;
}

/** A claim of the card, and what the console observed. */
export interface ConsoleCardObservation {
  /** For example `capabilities.streaming: true`. */
  readonly claim: string;
  /** For example `3 streams with 14 events`. */
  readonly observation: string;
  readonly isConsistent: boolean;
}

/** `GET tasks`. */
export interface ConsoleTaskList {
  readonly tasks: readonly ConsoleTaskSummary[];
  /** Missing on the last page. */
  readonly nextPageToken?: string;
  /** Whether the query may contain `text`. */
  readonly isTextSearchable: boolean;
  /** Agents whose tasks are missing or incomplete, and why. */
  readonly problems: readonly { readonly agent: string; readonly message: string }[];
}

/** `POST agents/:agent/messages`. */
export interface ConsoleSendRequest {
  /**
   * A2A 1.0 `Message`. The console adds a missing `messageId` and `role`. To edit and send again, omit `taskId` and set
   * `referenceTaskIds`.
   */
  readonly message: JsonObject;
  /** A2A 1.0 `SendMessageConfiguration`. */
  readonly configuration?: JsonObject;
  readonly metadata?: JsonObject;
}

/** Data of the SSE event `end`. */
export interface ConsoleStreamEnd {
  /** `completed` at the end of the turn, `canceled` if the page closed the stream, `failed` with an error. */
  readonly reason: "completed" | "canceled" | "failed";
  readonly error?: ConsoleErrorBody["error"];
}

/**
 * Data of the SSE event `reload`: the result of `colloquy dev` after the user has saved a file. Each stream of `GET lines`
 * begins with the failures that the user has not corrected yet, so that a page that connects forgets the earlier ones.
 * Callers without the launch token or operator rights receive no notices, because they contain paths and code.
 */
export type AgentReloadNotice = AgentReloaded | AgentLoadFailed | AgentRemoved;

interface AgentReloadSubject {
  /** Id of the agent, or the path of its file if the file has never been loaded. */
  readonly agent: string;
  /** Time in ISO 8601 format. */
  readonly at: string;
}

/** The agent was loaded again, or for the first time. Its next turn uses the new code. */
export interface AgentReloaded extends AgentReloadSubject {
  readonly kind: "agentReloaded";
  /** The id that the agent had before its rename. It answers until the command ends. */
  readonly earlierId?: string;
}

/** The file of the agent cannot be loaded. The earlier version of the agent stays, if there is one. */
export interface AgentLoadFailed extends AgentReloadSubject {
  readonly kind: "agentLoadFailed";
  /** The file, and the problem. */
  readonly message: string;
  /** Stack of the error with the frames of the user's files. Missing if no error was thrown. */
  readonly stack?: string;
}

/** The agent, or a file that could not be loaded, is no longer there. */
export interface AgentRemoved extends AgentReloadSubject {
  readonly kind: "agentRemoved";
}

/** `POST push/:agent/tasks/:task`. Deliveries become `push` lines. */
export interface ConsolePushRegistration {
  /** Id of the webhook configuration at the agent. */
  readonly configId: string;
  /** URL to which the agent posts. The agent must be able to reach the console. */
  readonly url: string;
}

/** Body of a failed request. */
export interface ConsoleErrorBody {
  readonly error: {
    /** Reason of the A2A error, for example `TASK_NOT_FOUND`. */
    readonly reason: string;
    /** The problem, its location, and one remedy. */
    readonly message: string;
    readonly details?: JsonValue;
  };
}
