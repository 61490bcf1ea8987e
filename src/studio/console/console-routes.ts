import { getSharedRedactor } from "../../observe/logging/index.ts";
import { A2AError, TASK_STATES, isObject, type Task, type TaskState } from "../../protocol/index.ts";
import type { AgentSource, TaskListing } from "./agent-source.ts";
import type {
  ConsoleCredentials,
  ConsoleSession,
  ConsoleTaskQuery,
  ConsoleTaskSummary,
} from "../console-api/index.ts";
import {
  createEmptyResponse,
  createJsonResponse,
  createJsonTextResponse,
  API_HEADERS,
} from "./console-response.ts";
import type { ConsoleUser } from "./console-user.ts";
import type { LineJournal } from "./line-journal.ts";
import { createLineStreamResponse } from "./line-stream.ts";
import { listTasksOfListings } from "./list-tasks.ts";
import { parseSendRequest } from "./parse-send-request.ts";
import type { PushReceiver } from "./push-receiver.ts";
import { MAX_MESSAGE_BYTES, readJsonBody } from "./read-json-body.ts";
import type { ReloadNotices } from "./reload-notices.ts";
import type { StreamOperation } from "./stream-operation.ts";
import type { Workspace } from "./workspace.ts";

/** Everything that a request of a user needs. */
export interface ConsoleRequest {
  readonly request: Request;
  readonly url: URL;
  readonly user: ConsoleUser;
  readonly workspace: Workspace;
  readonly session: ConsoleSession;
  readonly agents: ConsoleAgents;
  /** The lines of the record files of the console. */
  readonly recordJournal: LineJournal;
  readonly push: PushReceiver;
  readonly notices: ReloadNotices;
  /** URL of the console without a slash at the end. */
  readonly consoleUrl: string;
}

/** The agents of a user: agents of the own server, remote agents, and agents of records. */
export interface ConsoleAgents {
  list(): Promise<readonly AgentSource[]>;
  listTaskListings(): Promise<readonly TaskListing[]>;
  /** Rejects with NOT_FOUND if the user has no such agent. */
  get(id: string): Promise<AgentSource>;
  /** Adds a remote agent. */
  add(url: string): Promise<AgentSource>;
  /** Removes a remote agent that the user has added. */
  remove(id: string): void;
  /** Makes the next request of an agent use the current credentials. */
  reconnect(id: string): void;
}

type RouteHandler = (console: ConsoleRequest, ...parameters: string[]) => Response | Promise<Response>;

/** The routes of the API. A parameter `:name` matches one segment of the path. */
const ROUTES: Readonly<Record<string, RouteHandler>> = {
  "GET session": ({ session }) => createJsonResponse(session),
  "GET agents": async ({ agents }) =>
    createJsonResponse({ agents: await Promise.all((await agents.list()).map((agent) => agent.describe())) }),
  "POST agents": async (console) => {
    const body = await readJsonBody(console.request);
    assertFeature(console.session.features.addsAgents, "adds no agents");
    const url = isObject(body) ? body["url"] : undefined;
    if (typeof url !== "string" || url === "")
      throw A2AError.invalidParams([{ field: "url", description: "must be the URL of an agent" }]);
    return createJsonResponse(await (await console.agents.add(url)).describe(), 201);
  },
  "DELETE agents/:agent": async ({ agents }, agent = "") => {
    agents.remove(agent);
    return createEmptyResponse();
  },
  "GET agents/:agent/card": async ({ agents }, agent = "") =>
    createJsonResponse(await (await agents.get(agent)).reportCard()),
  "PUT agents/:agent/credentials": async (console, agent = "") => {
    assertFeature(console.session.features.acceptsCredentials, "accepts no credentials");
    const source = await console.agents.get(agent);
    const credentials = parseCredentials(await readJsonBody(console.request));
    const { signIn } = await source.describe();
    console.workspace.credentials.setCredentials(agent, signIn, credentials);
    console.agents.reconnect(agent);
    return createJsonResponse(await source.describe());
  },
  "DELETE agents/:agent/credentials": async ({ agents, workspace }, agent = "") => {
    const source = await agents.get(agent);
    workspace.credentials.deleteCredentials(agent);
    agents.reconnect(agent);
    return createJsonResponse(await source.describe());
  },
  "GET tasks": async ({ agents, url, workspace, recordJournal }) => {
    const query = parseTaskQuery(url.searchParams);
    const list = await listTasksOfListings(await agents.listTaskListings(), query);
    const tasks = list.tasks.map((task): ConsoleTaskSummary => {
      const facts = workspace.journal.findFacts(task.id) ?? recordJournal.findFacts(task.id) ?? {};
      const { parent, ...known } = facts;
      const { agent, task_id: id } = parent ?? {};
      return {
        ...known,
        ...(id !== undefined && { parent: { id, ...(agent !== undefined && { agent }) } }),
        ...task,
      };
    });
    return createJsonResponse({ ...list, tasks });
  },
  "GET agents/:agent/tasks/:task": async ({ agents }, agent = "", task = "") =>
    createTaskResponse(await (await agents.get(agent)).readTask(task)),
  "GET agents/:agent/tasks/:task/lines": async ({ agents }, agent = "", task = "") =>
    createJsonLinesResponse((await agents.get(agent)).readTaskLines(task)),
  "POST agents/:agent/messages": async (console, agent = "") => {
    assertCanAct(console);
    const source = await console.agents.get(agent);
    const message = parseSendRequest(await readJsonBody(console.request, MAX_MESSAGE_BYTES));
    return streamOperation(console, (signal) => source.sendMessage(message, signal));
  },
  "POST agents/:agent/tasks/:task/subscribe": async (console, agent = "", task = "") => {
    assertCanAct(console);
    const source = await console.agents.get(agent);
    const after = parseAfter(console.url.searchParams.get("after"));
    return streamOperation(console, (signal) => source.subscribe(task, after, signal));
  },
  "POST agents/:agent/tasks/:task/cancel": async (console, agent = "", task = "") => {
    assertCanAct(console);
    return createTaskResponse(await (await console.agents.get(agent)).cancelTask(task));
  },
  "POST agents/:agent/streams/:call/cut": ({ workspace }, _agent = "", call = "") => {
    workspace.cutStream(call);
    return createEmptyResponse();
  },
  "GET observed-lines": ({ user, workspace, recordJournal }) => {
    user.server.reportWatch();
    return createJsonLinesResponse(listLineTexts([recordJournal, workspace.journal]));
  },
  "GET lines": ({ user, url, notices, workspace: { journal } }) => {
    user.server.reportWatch();
    const after = parseAfter(url.searchParams.get("after")) ?? journal.lastCursor;
    return createLineStreamResponse(
      {
        journal,
        after: Math.min(after, journal.lastCursor),
        ...(user.seesUnownedLines ? { notices } : {}),
      },
      API_HEADERS,
    );
  },
  "POST push/:agent/tasks/:task": async (console, agent = "", taskId = "") => {
    assertCanAct(console);
    const { workspace, push, consoleUrl } = console;
    const source = await console.agents.get(agent);
    const { name: agentName } = await source.describe();
    const target = { source, taskId, agentName, workspace };
    return createJsonResponse(await push.register(target, `${consoleUrl}/hooks`), 201);
  },
};

const PATTERNS = Object.entries(ROUTES).map(([route, handle]) => {
  const [method = "", path = ""] = route.split(" ");
  return { method, segments: path.split("/"), handle };
});

/** Performs a request to the API. `path` is the path below `/console/api/`. */
export async function routeConsoleRequest(path: string, console: ConsoleRequest): Promise<Response> {
  const segments = path.split("/").map(decodeSegment);
  const matches = PATTERNS.filter((pattern) => matchesSegments(pattern.segments, segments));
  if (matches.length === 0)
    throw new A2AError("NOT_FOUND", `The console has no ${path.slice(0, 100)}; see docs/how-to/console.md.`);
  const match = matches.find(({ method }) => method === console.request.method);
  if (!match) {
    const allowed = matches.map(({ method }) => method).join(", ");
    throw new A2AError(
      "METHOD_NOT_ALLOWED",
      `${path.slice(0, 100)} does not support ${console.request.method}; use ${allowed}.`,
    );
  }
  const parameters = segments.filter((_, at) => match.segments[at]?.startsWith(":"));
  return await match.handle(console, ...parameters);
}

function matchesSegments(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((segment, at) => (segment.startsWith(":") ? segments[at] !== "" : segment === segments[at]))
  );
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
}

/** Starts an operation, and returns its lines. If the page closes the response, the operation ends. */
function streamOperation(
  { workspace }: ConsoleRequest,
  work: (signal: AbortSignal) => AsyncIterable<unknown>,
): Response {
  const { journal } = workspace;
  const after = journal.lastCursor;
  const operation: StreamOperation = workspace.startOperation(work);
  return createLineStreamResponse(
    {
      journal,
      after,
      includes: (entry) => entry.operation === operation,
      findEnd: () => operation.end,
      onClose: () => operation.close(),
    },
    API_HEADERS,
  );
}

/** Pages show tasks like lines of a record, without secrets. */
function createTaskResponse(task: Task): Response {
  return createJsonTextResponse(getSharedRedactor().redactJson(JSON.stringify(task)));
}

/** Maximum length of the text that is sent at once, in characters. */
const MAX_CHUNK_LENGTH = 256 * 1024;

/** Yields the lines that the journals contain at the time of the call. */
async function* listLineTexts(journals: readonly LineJournal[]): AsyncGenerator<string> {
  // A slow reader reads a copy of the list, because the journal drops old lines meanwhile.
  for (const { text } of journals.flatMap((journal) => [...journal.entriesAfter(0)])) yield text;
}

function createJsonLinesResponse(lines: AsyncIterable<string>): Response {
  const encoder = new TextEncoder();
  const iterator = lines[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let text = "";
      while (text.length < MAX_CHUNK_LENGTH) {
        const { done, value } = await iterator.next();
        if (done) {
          if (text !== "") controller.enqueue(encoder.encode(text));
          return controller.close();
        }
        text += `${value}\n`;
      }
      controller.enqueue(encoder.encode(text));
    },
    cancel: async () => void (await iterator.return?.()),
  });
  return new Response(body, { headers: { ...API_HEADERS, "content-type": "application/jsonl" } });
}

function assertCanAct({ session }: ConsoleRequest): void {
  assertFeature(session.canAct, "shows records, and sends no requests");
}

function assertFeature(isEnabled: boolean, problem: string): void {
  if (!isEnabled)
    throw new A2AError(
      "UNSUPPORTED_OPERATION",
      `This console ${problem}; start colloquy console with a URL.`,
    );
}

function parseAfter(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw A2AError.invalidParams([
    { field: "after", description: "must be a number; omit it to start with the present" },
  ]);
}

function parseCredentials(body: unknown): ConsoleCredentials {
  if (isObject(body) && typeof body["scheme"] === "string" && isObject(body["values"]))
    return { scheme: body["scheme"], values: body["values"] as Record<string, string> };
  throw A2AError.invalidParams([{ field: "scheme", description: 'send {"scheme": "…", "values": {…}}' }]);
}

function parseTaskQuery(params: URLSearchParams): ConsoleTaskQuery {
  const state = readParam(params, "state");
  if (state !== undefined && !(TASK_STATES as readonly string[]).includes(state))
    throw A2AError.invalidParams([
      { field: "state", description: `must be one of ${TASK_STATES.join(", ")}` },
    ]);
  const pageSize = Number(readParam(params, "pageSize") ?? 50);
  if (!Number.isInteger(pageSize) || pageSize < 1)
    throw A2AError.invalidParams([{ field: "pageSize", description: "must be a positive integer" }]);
  const query: Record<string, string | undefined> = {};
  for (const name of ["agent", "context", "text", "from", "to", "pageToken"] as const) {
    const value = readParam(params, name);
    if (value !== undefined) query[name] = value;
  }
  for (const name of ["from", "to"] as const)
    if (query[name] !== undefined && Number.isNaN(Date.parse(query[name])))
      throw A2AError.invalidParams([{ field: name, description: "must be an ISO 8601 time" }]);
  return { ...query, ...(state === undefined ? {} : { state: state as TaskState }), pageSize };
}

function readParam(params: URLSearchParams, name: string): string | undefined {
  return params.get(name) || undefined;
}
