import type { Agent } from "../../engine/index.ts";
import type { TrafficLine } from "../../observe/trace/index.ts";
import { createServer, type Server, type ServerOptions } from "../../server/index.ts";
import { parseSse } from "../../wire/index.ts";
import type { ConsolePage } from "./console-page.ts";
import { createConsole, type ConsoleOptions } from "./console.ts";

export const TEST_LAUNCH_TOKEN = "launch-token-of-the-test";

/** A page that is smaller than the real page. */
const TEST_PAGE: ConsolePage = {
  html: "<!doctype html><title>console</title>",
  contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
  assets: new Map([["assets/page-1.js", { contentType: "text/javascript", body: "1" }]]),
};

/** A request to the API of a console. */
export interface TestRequest {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bearer token, or `false` for none. Default: the launch token. */
  readonly token?: string | false;
  readonly signal?: AbortSignal;
}

/** A server with a console on a loopback port. */
export class ConsoleTestServer {
  readonly server: Server;
  readonly url: string;
  readonly #close: () => Promise<void>;

  private constructor(server: Server, url: string, close: () => Promise<void>) {
    this.server = server;
    this.url = url;
    this.#close = close;
  }

  static async start(
    agents: Record<string, Agent>,
    serverOptions: ServerOptions = {},
    consoleOptions: Partial<ConsoleOptions> = {},
  ): Promise<ConsoleTestServer> {
    const consoleHandler = createConsole({
      loadPage: async () => TEST_PAGE,
      token: TEST_LAUNCH_TOKEN,
      allowPrivate: true,
      ...consoleOptions,
    });
    const server = createServer(agents, {
      store: "memory",
      observer: false,
      ...serverOptions,
      mountedHandlers: [consoleHandler],
    });
    const { url } = await server.listen();
    return new ConsoleTestServer(server, url, async () => {
      consoleHandler.close();
      await server.close();
    });
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** Sends a request to the API, as the page of the console does. */
  request(
    route: string,
    { body, headers, token = TEST_LAUNCH_TOKEN, signal }: TestRequest = {},
  ): Promise<Response> {
    const [method = "GET", path = ""] = route.split(" ");
    return fetch(`${this.url}/console/api/${path}`, {
      method,
      headers: {
        ...(token === false ? {} : { authorization: `Bearer ${token}` }),
        ...(method === "GET" ? {} : { "x-colloquy-console": "1" }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  }

  /** Returns the JSON of a response, and throws if the response is an error. */
  async readJson<T>(route: string, options: TestRequest = {}): Promise<T> {
    const response = await this.request(route, options);
    const text = await response.text();
    if (!response.ok) throw new Error(`${route}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Returns the lines of a task. */
  async readTaskLines(agent: string, task: string, options: TestRequest = {}): Promise<TrafficLine[]> {
    const response = await this.request(`GET agents/${agent}/tasks/${task}/lines`, options);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as TrafficLine]));
  }

  /** Sends a text, and returns the lines of its turn. */
  async send(agent: string, text: string, options: TestRequest = {}): Promise<TrafficLine[]> {
    const lines: TrafficLine[] = [];
    for await (const line of this.stream(agent, { parts: [{ text }] }, options)) lines.push(line);
    return lines;
  }

  /** Sends a message, and yields the lines of its turn. */
  async *stream(agent: string, message: object, options: TestRequest = {}): AsyncGenerator<TrafficLine> {
    const response = await this.request(`POST agents/${agent}/messages`, { body: { message }, ...options });
    yield* readTestLines(response);
  }
}

/** Yields the lines of an SSE response. Throws unless the response ends with a successful `end` event. */
export async function* readTestLines(response: Response): AsyncGenerator<TrafficLine> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  for await (const { event, data } of parseSse(response.body as unknown as AsyncIterable<Uint8Array>)) {
    if (event === "end") {
      const end = JSON.parse(data) as { reason: string };
      if (end.reason === "completed") return;
      throw new Error(data);
    }
    yield JSON.parse(data) as TrafficLine;
  }
  throw new Error("the stream has no end event");
}

/** Collects the lines of an SSE response, see `readTestLines`. */
export async function collectTestLines(lines: AsyncIterable<TrafficLine>): Promise<TrafficLine[]> {
  const collected: TrafficLine[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}

/** Returns the id of the task to which lines belong. */
export function findTestTaskId(lines: readonly TrafficLine[]): string {
  const line = lines.find((one) => "task_id" in one && one.task_id !== undefined);
  return line && "task_id" in line ? (line.task_id ?? "") : "";
}
