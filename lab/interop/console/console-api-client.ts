import type {
  ConsoleAgent,
  ConsoleCardReport,
  ConsoleCredentials,
  ConsoleStreamEnd,
  ConsoleTaskList,
} from "../../../src/studio/console/index.ts";
import type { JsonObject, Task } from "../../../src/protocol/index.ts";
import type { TrafficLine } from "../../../src/observe/trace/index.ts";

/** The end of an event stream of the console, and its traffic lines. */
export interface ConsoleStreamResult {
  readonly lines: readonly TrafficLine[];
  /** `undefined` if the stream ended without the event `end`. */
  readonly end: ConsoleStreamEnd | undefined;
}

/** Calls the HTTP API of a console, as its page does. */
export class ConsoleApiClient {
  readonly #url: string;
  readonly #token: string;

  /** `url` is the URL of the page with its token, as the command prints it. */
  constructor(url: string) {
    const page = new URL(url);
    this.#token = new URLSearchParams(page.hash.slice(1)).get("token") ?? "";
    page.hash = "";
    this.#url = new URL("api/", page).href;
  }

  addAgent(url: string): Promise<ConsoleAgent> {
    return this.#readJson("POST", "agents", { url });
  }

  async listAgents(): Promise<readonly ConsoleAgent[]> {
    return (await this.#readJson<{ agents: ConsoleAgent[] }>("GET", "agents")).agents;
  }

  readCard(agent: string): Promise<ConsoleCardReport> {
    return this.#readJson("GET", `agents/${agent}/card`);
  }

  signIn(agent: string, credentials: ConsoleCredentials): Promise<ConsoleAgent> {
    return this.#readJson("PUT", `agents/${agent}/credentials`, credentials);
  }

  listTasks(agent: string): Promise<ConsoleTaskList> {
    return this.#readJson("GET", `tasks?agent=${agent}`);
  }

  readTask(agent: string, task: string): Promise<Task> {
    return this.#readJson("GET", `agents/${agent}/tasks/${task}`);
  }

  cancelTask(agent: string, task: string): Promise<Task> {
    return this.#readJson("POST", `agents/${agent}/tasks/${task}/cancel`, {});
  }

  async readTaskLines(agent: string, task: string): Promise<TrafficLine[]> {
    const response = await this.#request("GET", `agents/${agent}/tasks/${task}/lines`);
    const texts = (await response.text()).split("\n").filter((text) => text !== "");
    return texts.map((text) => JSON.parse(text) as TrafficLine);
  }

  /** Sends a message and reads the stream to its end. `onLine` receives each line as it arrives. */
  async sendMessage(
    agent: string,
    message: JsonObject,
    onLine: (line: TrafficLine) => void | Promise<void> = () => {},
  ): Promise<ConsoleStreamResult> {
    const response = await this.#request("POST", `agents/${agent}/messages`, { message });
    const lines: TrafficLine[] = [];
    let end: ConsoleStreamEnd | undefined;
    for await (const { event, data } of readServerSentEvents(response)) {
      if (event === "end") end = JSON.parse(data) as ConsoleStreamEnd;
      else {
        const line = JSON.parse(data) as TrafficLine;
        lines.push(line);
        await onLine(line);
      }
    }
    return { lines, end };
  }

  async #readJson<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await (await this.#request(method, path, body)).json()) as T;
  }

  async #request(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(new URL(path, this.#url), {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        "x-colloquy-console": "1",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
  }
}

async function* readServerSentEvents(response: Response): AsyncGenerator<{ event: string; data: string }> {
  let rest = "";
  for await (const text of (response.body as ReadableStream<Uint8Array>).pipeThrough(
    new TextDecoderStream(),
  )) {
    const frames = (rest + text).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const data = /^data: ?(.*)$/m.exec(frame)?.[1];
      if (data !== undefined) yield { event: /^event: ?(.*)$/m.exec(frame)?.[1] ?? "message", data };
    }
  }
}
