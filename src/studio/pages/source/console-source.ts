import type {
  ConsoleAgent,
  ConsoleAgentList,
  ConsoleCardReport,
  ConsoleErrorBody,
  ConsolePushRegistration,
  ConsoleSession,
  ConsoleSignInRequest,
  ConsoleSignInResult,
  ConsoleStreamEnd,
  ConsoleTaskList,
} from "../../console-api/index.ts";
import type { Task } from "../../../protocol/index.ts";
import type { TrafficLine } from "../../../observe/trace/index.ts";
import { parseSse } from "../../../wire/index.ts";
import { parseWellFormedJson } from "./parse-well-formed-json.ts";
import { readBytes } from "./read-bytes.ts";
import { type TrafficSource, TrafficSourceError } from "./traffic-source.ts";
import { watchConsoleLines } from "./watch-console-lines.ts";

const api = /* @__PURE__ */ new URL("api/", location.href.split("#", 1)[0]);

async function request(method: string, path: string, init: ConsoleRequestInit = {}): Promise<Response> {
  const { body, signal } = init;
  const key = readSessionKey(api);
  const response = await fetch(new URL(path, api), {
    method,
    headers: {
      ...(key === undefined ? {} : { "x-colloquy-console-key": key }),
      ...(method === "GET" ? {} : { "x-colloquy-console": "1" }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  if (!response.ok) throw await readError(response);
  return response;
}

/** Starts a session with the launch token, or with credentials for the server. */
export function signInToConsole(credentials: ConsoleSignInRequest): Promise<void> {
  return signIn(api, credentials, (method, path, body) => request(method, path, { body }));
}

async function readJson<T>(method: string, path: string, body?: unknown): Promise<T> {
  return (await (await request(method, path, { body })).json()) as T;
}

async function* readStream(path: string, init: ConsoleRequestInit): AsyncGenerator<readonly TrafficLine[]> {
  yield* readLineEvents(await request("POST", path, init));
}

/** Opens the API of the console that served the page. */
export async function openConsoleSource(): Promise<TrafficSource> {
  const token = takeLaunchToken();
  if (token !== undefined)
    await signInToConsole({ token }).catch((error: unknown) => {
      // The session of an earlier start continues, although its link is no longer valid.
      if (readSessionKey(api) === undefined) throw error;
    });
  return {
    session: await readJson<ConsoleSession>("GET", "session"),
    listAgents: async () => (await readJson<ConsoleAgentList>("GET", "agents")).agents,
    readCard: (agentId) => readJson<ConsoleCardReport>("GET", `${formatAgentPath(agentId)}/card`),
    listTasks: (query) => {
      const params = new URLSearchParams();
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) params.set(name, String(value));
      return readJson<ConsoleTaskList>("GET", `tasks?${params}`);
    },
    readTask: (agentId, taskId) => readJson<Task>("GET", formatTaskPath(agentId, taskId)),
    async *readLines(agentId, taskId, signal) {
      const path = `${formatTaskPath(agentId, taskId)}/lines`;
      yield* readJsonLines(await request("GET", path, signal === undefined ? {} : { signal }));
    },
    async *readObservedLines() {
      yield* readJsonLines(await request("GET", "observed-lines"));
    },
    watchLines: (onLines, onConnection, onReload) =>
      watchConsoleLines(
        (cursor, signal) =>
          request("GET", cursor === undefined ? "lines" : `lines?after=${encodeURIComponent(cursor)}`, {
            signal,
          }),
        onLines,
        onConnection,
        onReload,
      ),
    actions: {
      signOut: async () => {
        await request("POST", "sign-out");
        forgetSession(api);
      },
      addAgent: (url) => readJson<ConsoleAgent>("POST", "agents", { url }),
      removeAgent: async (agentId) => void (await request("DELETE", formatAgentPath(agentId))),
      putCredentials: (agentId, credentials) =>
        readJson<ConsoleAgent>("PUT", `${formatAgentPath(agentId)}/credentials`, credentials),
      deleteCredentials: (agentId) =>
        readJson<ConsoleAgent>("DELETE", `${formatAgentPath(agentId)}/credentials`),
      sendMessage: (agentId, body, signal) =>
        readStream(`${formatAgentPath(agentId)}/messages`, { body, signal }),
      subscribe: (agentId, taskId, after, signal) =>
        readStream(
          `${formatTaskPath(agentId, taskId)}/subscribe${after === undefined ? "" : `?after=${after}`}`,
          {
            signal,
          },
        ),
      cancelTask: (agentId, taskId) => readJson<Task>("POST", `${formatTaskPath(agentId, taskId)}/cancel`),
      cutStream: async (agentId, call) =>
        void (await request("POST", `${formatAgentPath(agentId)}/streams/${encodeURIComponent(call)}/cut`)),
      registerPush: (agentId, taskId) =>
        readJson<ConsolePushRegistration>(
          "POST",
          `push/${encodeURIComponent(agentId)}/tasks/${encodeURIComponent(taskId)}`,
        ),
    },
  };
}

interface ConsoleRequestInit {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

function formatAgentPath(agentId: string): string {
  return `agents/${encodeURIComponent(agentId)}`;
}

function formatTaskPath(agentId: string, taskId: string): string {
  return `${formatAgentPath(agentId)}/tasks/${encodeURIComponent(taskId)}`;
}

/** Yields the lines of an SSE response, and throws unless the response ends with the event `end`. */
async function* readLineEvents(response: Response): AsyncGenerator<readonly TrafficLine[]> {
  for await (const { event, data } of parseSse(readBytes(response))) {
    if (event === "end") {
      const { reason, error } = JSON.parse(data) as ConsoleStreamEnd;
      if (reason === "failed")
        throw new TrafficSourceError(error?.reason ?? "INTERNAL", error?.message ?? "The stream failed.");
      return;
    }
    yield [parseWellFormedJson(data) as TrafficLine];
  }
  throw new TrafficSourceError(
    "CONNECTION_LOST",
    "The console closed the stream before its end. Subscribe to the task.",
  );
}

async function readError(response: Response): Promise<TrafficSourceError> {
  const fallback = `The console responded with status ${response.status}.`;
  try {
    const { error } = (await response.json()) as ConsoleErrorBody;
    return new TrafficSourceError(error.reason, error.message);
  } catch {
    return new TrafficSourceError("INTERNAL", fallback);
  }
}

/** Yields the lines of a JSON Lines response in batches, one per chunk that the network delivers. */
async function* readJsonLines(response: Response): AsyncGenerator<readonly TrafficLine[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of readBytes(response)) {
    const texts = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = texts.pop() ?? "";
    yield texts.filter((text) => text !== "").map((text) => parseWellFormedJson(text) as TrafficLine);
  }
  if (rest !== "") yield [parseWellFormedJson(rest) as TrafficLine];
}

/** All tabs of the console share the key. The storage of a page belongs to one origin, with its port. */
function formatStorageKey(api: URL): string {
  return `colloquy-console-key ${api.pathname}`;
}

/** Returns the key of the session, or `undefined` if the user has not signed in. The cookie is the other half. */
function readSessionKey(api: URL): string | undefined {
  return localStorage.getItem(formatStorageKey(api)) ?? undefined;
}

/** Starts a session. `send` sends a request to the API, and throws if the request fails. */
async function signIn(
  api: URL,
  request: ConsoleSignInRequest,
  send: (method: string, path: string, body: unknown) => Promise<Response>,
): Promise<void> {
  const { key } = (await (await send("POST", "sign-in", request)).json()) as ConsoleSignInResult;
  localStorage.setItem(formatStorageKey(api), key);
}

function forgetSession(api: URL): void {
  localStorage.removeItem(formatStorageKey(api));
}

/** Removes the launch token from the fragment of the URL, and returns it. The fragment can also name a route. */
function takeLaunchToken(): string | undefined {
  const params = new URLSearchParams(location.hash.replace(/^#/, ""));
  const token = params.get("token") ?? undefined;
  if (token !== undefined) history.replaceState(undefined, "", `#${params.get("route") ?? ""}`);
  return token;
}
