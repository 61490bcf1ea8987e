import type { Browser, BrowserContextOptions } from "playwright-core";
import { agent, artifact, data, file, inputRequired, status, text } from "../../agents/adapters/index.ts";
import {
  openPageRecordingRequestsAndErrors,
  type PageWithRequestsAndErrors,
} from "../../cards/html/browser.fixture.ts";
import { createConsole } from "../console/index.ts";
import type { Agent } from "../../engine/index.ts";
import { fromBase64 } from "../../protocol/index.ts";
import { createServer, type ServerOptions } from "../../server/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../observe/trace/recording/index.ts";
import { renderServedPage } from "./index.ts";

const CONSOLE_TOKEN = "token-of-the-page-test";
/** A red square of 10 pixels. */
const PNG_BASE64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";

/** Writes a report with every kind of content. */
export const reportAgent: Agent = agent(
  {
    name: "reporter",
    description: "Writes reports with tables, data, and files.",
    skills: [
      {
        id: "report",
        name: "Report",
        description: "Writes a report about a subject",
        tags: ["writing"],
        examples: ["Write a report about tides", "Compare three rivers"],
      },
    ],
  },
  async function* ({ text: subject }) {
    yield status("Reading the sources");
    yield `# Report\n\n`;
    yield `You asked: *${subject}*.\n\n| river | length |\n|---|---|\n| Rhine | 1,233 km |\n| Elbe | 1,094 km |\n\n`;
    yield "- first, `measure`\n- then **compare**\n";
    yield artifact(
      { name: "figures" },
      data({
        rivers: [
          { name: "Rhine", km: 1233 },
          { name: "Elbe", km: 1094 },
        ],
        isExact: true,
      }),
    );
    yield artifact(
      { name: "map" },
      file(fromBase64(PNG_BASE64), { filename: "map.png", mediaType: "image/png" }),
      file(new TextEncoder().encode("<h1>Map</h1><p>of rivers</p>"), {
        filename: "map.html",
        mediaType: "text/html",
      }),
    );
  },
);

/** Asks for a cake with a form. */
export const bakerAgent: Agent = agent(
  { name: "baker", description: "Bakes cakes." },
  async function* ({ message, history }) {
    if (history.length === 1)
      yield inputRequired(
        "Which cake shall I bake?",
        data({
          schema: {
            type: "object",
            title: "Cake",
            properties: {
              size: { type: "string", enum: ["small", "large"], title: "Size" },
              layers: { type: "integer", minimum: 1, maximum: 5, title: "Layers" },
              hasCandles: { type: "boolean", title: "With candles" },
            },
            required: ["size", "layers"],
          },
        }),
      );
    else yield `Baking ${JSON.stringify(message.parts.find((part) => "data" in part))}`;
  },
);

/** Asks for an approval, as the adapters of agent frameworks do. */
export const clerkAgent: Agent = agent(
  { name: "clerk", description: "Pays expenses after an approval." },
  async function* ({ message, history }) {
    if (history.length === 1)
      yield inputRequired(
        text("May I pay?"),
        data({
          type: "tool-approval-request",
          approvalId: "a1",
          toolName: "reimburse",
          input: { amount: 250, purpose: "a chair" },
        }),
      );
    else yield `Decision: ${JSON.stringify(message.parts.find((part) => "data" in part))}`;
  },
);

/** Streams numbers. The test decides when the agent continues. */
export class SteppedAgent {
  readonly agent: Agent;
  #waiting: (() => void)[] = [];
  #permits = 0;

  constructor(name = "ticker") {
    this.agent = agent({ name, description: "Counts." }, async function* (this: void, { text: request }) {
      const count = Number(/\d+/.exec(request)?.[0] ?? 3);
      for (let number = 1; number <= count; number++) {
        await take();
        yield `${number}\n`;
      }
    });
    const take = (): Promise<void> =>
      new Promise((resolve) => {
        if (this.#permits > 0) {
          this.#permits -= 1;
          resolve();
        } else this.#waiting.push(resolve);
      });
  }

  /** Lets the agent send `count` more numbers. */
  allow(count: number): void {
    for (let permit = 0; permit < count; permit++) {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#permits += 1;
    }
  }
}

/** Servers with agents, and a console in front of them. */
export class ConsolePageTest {
  readonly url: string;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  /** Serves agents together with a console, as `colloquy serve --console` does. */
  static async serve(
    agents: Readonly<Record<string, Agent>>,
    options: ServerOptions = {},
    consoleOptions: Partial<NonNullable<Parameters<typeof createConsole>[0]>> = {},
    port = 0,
  ): Promise<ConsolePageTest> {
    const record =
      consoleOptions.serverRecord ??
      createTrafficWriter(createMemoryTrafficSink(), { vantage: "server", name: "test", code: "test" });
    return ConsolePageTest.#start(
      agents,
      { ...options, record },
      { serverRecord: record, ...consoleOptions },
      port,
    );
  }

  /** Serves agents on a server of their own, and a console that calls them, as `colloquy console URL` does. */
  static async call(
    agents: Readonly<Record<string, Agent>>,
    options: ServerOptions = {},
    consoleOptions: Partial<NonNullable<Parameters<typeof createConsole>[0]>> = {},
  ): Promise<ConsolePageTest> {
    const remote = createServer(agents, { store: "memory", observer: false, ...options });
    const { url } = await remote.listen();
    const names = Object.keys(agents);
    const test = await ConsolePageTest.callUrls(
      names.length === 1 ? [url] : names.map((name) => `${url}/a2a/${name}`),
      consoleOptions,
    );
    return new ConsolePageTest(test.url, async () => {
      await test.close();
      await remote.close();
    });
  }

  /** Serves a console that calls the agents at these URLs. */
  static callUrls(
    agentUrls: readonly string[],
    consoleOptions: Partial<NonNullable<Parameters<typeof createConsole>[0]>> = {},
  ): Promise<ConsolePageTest> {
    return ConsolePageTest.#start({}, {}, { agentUrls, mode: "console", ...consoleOptions });
  }

  static async #start(
    agents: Readonly<Record<string, Agent>>,
    serverOptions: ServerOptions,
    consoleOptions: Partial<NonNullable<Parameters<typeof createConsole>[0]>>,
    port = 0,
  ): Promise<ConsolePageTest> {
    const handler = createConsole({
      loadPage: async () => renderServedPage(consoleOptions.name ?? "Test console"),
      name: "Test console",
      token: CONSOLE_TOKEN,
      allowPrivate: true,
      ...consoleOptions,
    });
    const server = createServer(agents, {
      store: "memory",
      observer: false,
      ...serverOptions,
      mountedHandlers: [handler],
    });
    const { url } = await server.listen({ port });
    return new ConsolePageTest(url, async () => {
      handler.close();
      await server.close();
    });
  }

  /** Opens the page in a browser, at a route such as `#/chat`. */
  open(
    browser: Browser,
    route = "",
    options: BrowserContextOptions = {},
  ): Promise<PageWithRequestsAndErrors> {
    const fragment = route === "" ? "" : `&route=${encodeURIComponent(route.replace(/^#/, ""))}`;
    return openPageRecordingRequestsAndErrors(
      browser,
      `${this.url}/console/#token=${CONSOLE_TOKEN}${fragment}`,
      options,
    );
  }

  close(): Promise<void> {
    return this.#close();
  }
}
