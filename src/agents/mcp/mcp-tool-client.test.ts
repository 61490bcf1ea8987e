import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../adapters/index.ts";
import { collect, connect } from "../../client/index.ts";
import type { StreamResponse } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import {
  createMcpServer,
  createMcpToolClient,
  type McpToolClient,
  type McpToolClientOptions,
} from "./index.ts";
import type { McpToolProgress } from "./mcp-tool-client.ts";
import { createScriptedAgent } from "./scripted-agent.fixture.ts";
import { serveTestToolOverMcp2025, serveTestToolsOverHttp } from "./mcp-tool-server.fixture.ts";
import { getScriptArguments } from "../../../test/support/fork-script.ts";

const resolveFilePath = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const stdioAddress2026 = {
  command: process.execPath,
  args: getScriptArguments(new URL("mcp-tool-server.fixture.ts", import.meta.url)),
};
const stdioAddress2025 = {
  command: process.execPath,
  args: [resolveFilePath("../../../examples/mcp-server.ts")],
};

let httpToolServer: Awaited<ReturnType<typeof serveTestToolsOverHttp>>;
beforeAll(async () => {
  httpToolServer = await serveTestToolsOverHttp();
});
afterAll(() => httpToolServer.close());

function openToolClient(options: McpToolClientOptions): McpToolClient {
  const tools = createMcpToolClient(options);
  onTestFinished(() => tools.close());
  return tools;
}

describe("the headers of an MCP tool client", () => {
  async function startRedirectingServer(target: () => string): Promise<string> {
    const server = createHttpServer((incoming, outgoing) => {
      incoming.resume();
      outgoing.writeHead(307, { location: target() }).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it("are not sent to another origin that the server redirects to", async () => {
    const received: unknown[] = [];
    const thief = createHttpServer((incoming, outgoing) => {
      received.push(incoming.headers["x-api-key"]);
      incoming.resume();
      outgoing.writeHead(404).end();
    }).listen(0, "127.0.0.1");
    await once(thief, "listening");
    onTestFinished(() => void thief.close());
    const thiefUrl = `http://127.0.0.1:${(thief.address() as AddressInfo).port}`;
    const url = await startRedirectingServer(() => `${thiefUrl}/mcp`);
    const tools = openToolClient({ url: `${url}/mcp`, headers: { "x-api-key": "s3cret" } });
    await expect(tools.listTools()).rejects.toThrow(`redirects to ${thiefUrl}`);
    expect(received).toEqual([]);
  });

  it("are sent to another path that the server redirects to", async () => {
    const target = new URL(httpToolServer.url);
    const fetchWithRedirect: typeof fetch = (url, init) =>
      url instanceof URL && url.pathname === "/slash"
        ? Promise.resolve(new Response(null, { status: 307, headers: { location: target.pathname } }))
        : fetch(url, init);
    const tools = openToolClient({ url: `${target.origin}/slash`, fetch: fetchWithRedirect });
    expect((await tools.listTools())[0]).toMatchObject({ name: "echo" });
  });
});

describe.each([
  ["a program", () => stdioAddress2026],
  ["a URL", () => ({ url: httpToolServer.url })],
])("the tools of an MCP server that is %s", (_, address) => {
  let tools: McpToolClient;
  beforeAll(() => {
    tools = createMcpToolClient(address());
  });
  afterAll(() => tools.close());

  it("are listed", async () => {
    const [echo] = await tools.listTools();
    expect(echo).toMatchObject({ name: "echo", title: "Echo", description: "Says it again" });
    expect(echo?.inputSchema["type"]).toBe("object");
  });

  it("are called, many at once", async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_one, at) => tools.callTool("echo", { at })),
    );
    expect(results.map(({ data }) => data)).toEqual(results.map((_one, at) => ({ at })));
    expect(results[7]).toMatchObject({ text: '{"at":7}', isError: false });
  });

  it("return parts that an agent can yield", async () => {
    const { parts, text } = await tools.callTool("show");
    expect(text).toBe("one\ntwo");
    expect(parts).toEqual([
      { text: "one" },
      { raw: "AQI=", mediaType: "image/png" },
      { text: "two", filename: "a b.md", mediaType: "text/markdown" },
      { raw: "AAE=", filename: "x.bin" },
      { url: "https://example.com/y", filename: "y", mediaType: "text/html" },
    ]);
  });

  it("report their own failures as text that a model can read", async () => {
    expect(await tools.callTool("fail")).toMatchObject({ text: "No such city.", isError: true });
  });

  it("reject unknown tool names", async () => {
    await expect(tools.callTool("nonsense")).rejects.toThrow(/The MCP server .* refused: .*nonsense/);
  });

  it("report progress", async () => {
    const seen: string[] = [];
    const onProgress = ({ progress, total, message }: McpToolProgress): void => {
      seen.push(`${progress}/${total} ${message}`);
      if (progress === total) void tools.callTool("seen");
    };
    await tools.callTool("steps", {}, { onProgress });
    expect(seen).toEqual(["1/3 first", "2/3 second", "3/3 undefined"]);
  });

  it("are notified when a call is aborted", async () => {
    const before = JSON.parse((await tools.callTool("counts")).text) as { cancelled: number };
    const stop = new AbortController();
    const enough = new Error("enough");
    const call = tools.callTool("hang", {}, { signal: stop.signal, onProgress: () => stop.abort(enough) });
    await expect(call).rejects.toBe(enough);
    await expect
      .poll(async () => JSON.parse((await tools.callTool("counts")).text) as unknown)
      .toMatchObject({ cancelled: before.cancelled + 1 });
  });

  it("fail after the timeout without a response or progress", async () => {
    const call = tools.callTool("hang", {}, { timeoutMs: 20 });
    await expect(call).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.stringContaining("did not respond") as string,
    });
  });

  it("are not called with a signal that is aborted already", async () => {
    await expect(tools.callTool("echo", {}, { signal: AbortSignal.abort("no") })).rejects.toBe("no");
  });
});

describe("the connection to an MCP server", () => {
  it("opens on first use and again after its process has ended, without repeating a call", async () => {
    const tools = openToolClient(stdioAddress2026);
    await expect(tools.callTool("crash")).rejects.toMatchObject({
      message: expect.stringContaining("did not respond") as string,
      cause: { message: expect.stringContaining("it wrote: the disk is full") as string },
    });
    const { text } = await tools.callTool("counts");
    // The counters are those of a new process, which has received no other call.
    expect(JSON.parse(text)).toEqual({ called: 0, cancelled: 0 });
  });

  it("does not pass this process's environment to a command", async () => {
    process.env["SOME_SECRET"] = "x";
    onTestFinished(() => void delete process.env["SOME_SECRET"]);
    const { text } = await openToolClient({ ...stdioAddress2026, env: { GIVEN: "y" } }).callTool("variables");
    expect(text.split(" ")).toContain("GIVEN");
    expect(text).not.toContain("SOME_SECRET");
  });

  it("reports why a command or a URL failed", async () => {
    await expect(openToolClient({ command: "no-such-program" }).listTools()).rejects.toThrow(
      'The MCP server "no-such-program" did not respond: spawn no-such-program ENOENT',
    );
    const broken = { command: process.execPath, args: ["-e", "console.error('no key'); process.exit(1)"] };
    await expect(openToolClient(broken).listTools()).rejects.toMatchObject({
      cause: { message: expect.stringContaining("it wrote: no key") as string },
    });
    await expect(openToolClient({ url: "http://127.0.0.1:9/mcp" }).listTools()).rejects.toThrow(
      "The MCP server at http://127.0.0.1:9 did not respond",
    );
  });

  it("hides the command line and stderr of a server from the agent's callers", async () => {
    const script = "console.error('password hunter2'); process.exit(1)";
    const tools = openToolClient({ command: process.execPath, args: ["-e", script, "--", "--key=hunter3"] });
    const seen: unknown[] = [];
    const toolUser = agent({ name: "careless", description: "Uses tools" }, async function* ({ signal }) {
      yield* (await tools.callTool("echo", {}, { signal })).parts;
    });
    const server = createServer(toolUser, { observer: { onError: ({ error }) => void seen.push(error) } });
    onTestFinished(() => server.close());
    const remote = await connect((await server.listen()).url);
    const response = JSON.stringify(await remote.send("hi"));
    expect(response).toContain("did not respond");
    // The flag -e is not checked, because random ids may contain that text.
    expect(response).not.toMatch(/hunter|console\.error/);
    expect(seen).toMatchObject([
      { cause: { message: expect.stringMatching(/hunter3.*hunter2/s) as string } },
    ]);
  });

  it("does not send its headers to another host after a redirect", async () => {
    const receivedHeaders: unknown[] = [];
    const targetServer = createHttpServer(({ headers }, response) => {
      receivedHeaders.push(headers["x-key"]);
      response.writeHead(404).end();
    }).listen(0, "127.0.0.1");
    await once(targetServer, "listening");
    const { port } = targetServer.address() as AddressInfo;
    const redirectingServer = createHttpServer(({ url }, response) => {
      const isFirst = url === "/mcp";
      const location = isFirst ? "/mcp/" : `http://127.0.0.1:${port}/mcp`;
      if (!isFirst) receivedHeaders.push("near");
      response.writeHead(307, { location }).end();
    }).listen(0, "127.0.0.1");
    await once(redirectingServer, "listening");
    onTestFinished(() => void [redirectingServer.close(), targetServer.close()]);
    const url = `http://127.0.0.1:${(redirectingServer.address() as AddressInfo).port}/mcp`;
    await expect(openToolClient({ url, headers: { "x-key": "s3cret" } }).listTools()).rejects.toThrow(
      "did not respond",
    );
    expect(new Set(receivedHeaders)).toEqual(new Set(["near"]));
  });

  it.each(["an abort", "a close"])("does not open after %s", async (end) => {
    const began = Promise.withResolvers<void>();
    // A server that accepts connections and does not answer.
    const hang: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error));
        began.resolve();
      });
    const tools = openToolClient({ url: "http://127.0.0.1:1/mcp", fetch: hang });
    const abort = new AbortController();
    const list = tools.listTools({ signal: abort.signal });
    await began.promise;
    if (end === "a close") await Promise.all([tools.close(), expect(list).rejects.toThrow()]);
    else {
      abort.abort(new Error("stopped"));
      await expect(list).rejects.toThrow("stopped");
    }
  });

  it("cannot be used after it was closed", async () => {
    const tools = createMcpToolClient(stdioAddress2026);
    await tools.listTools();
    await tools.close();
    await expect(tools.listTools()).rejects.toThrow("was closed");
  });

  it("supports servers of MCP 2025", async () => {
    const tools = openToolClient(stdioAddress2025);
    expect((await tools.listTools()).map(({ name }) => name)).toEqual(["in_stock"]);
    expect(await tools.callTool("in_stock", { fruit: "pears" })).toMatchObject({ text: "3", isError: false });
  });

  it("starts a new session when the server no longer knows the session", async () => {
    const forgetful = await serveTestToolOverMcp2025();
    onTestFinished(() => forgetful.close());
    const tools = openToolClient({ url: forgetful.url });
    expect((await tools.callTool("hello")).text).toBe("hello");
    forgetful.forget();
    expect((await tools.callTool("hello")).text).toBe("hello");
  });

  it("ends its session when it is closed", async () => {
    const methods: unknown[] = [];
    const server = await serveTestToolOverMcp2025();
    onTestFinished(() => server.close());
    const recordMethod: typeof fetch = (url, init) => {
      methods.push(init?.method);
      return fetch(url, init);
    };
    const tools = openToolClient({ url: server.url, fetch: recordMethod });
    await tools.callTool("hello");
    await tools.close();
    expect(methods.at(-1)).toBe("DELETE");
  });

  it("calls agents that an MCP server offers as tools", async () => {
    const mcp = await createMcpServer({ parrot: createScriptedAgent({ streaming: true }) });
    onTestFinished(() => mcp.close());
    const tools = openToolClient(await mcp.listen());
    const { text, data } = await tools.callTool("parrot_say", { message: "hello" });
    expect(text).toBe("You said: hello");
    expect(data).toMatchObject({ state: "TASK_STATE_COMPLETED" });
  });
});

describe("a tool in a generator", () => {
  it("reports its progress as status updates and returns its result", async () => {
    const tools = openToolClient({ url: httpToolServer.url });
    const worker = agent({ name: "worker", description: "Works" }, async function* ({ signal }) {
      const { text } = yield* tools.streamTool("steps", {}, { signal });
      yield `It is ${text}.`;
    });
    const agentServer = createServer(worker, { store: "memory" });
    onTestFinished(() => agentServer.close());
    const remote = await connect((await agentServer.listen()).url);
    const statusTexts: string[] = [];
    async function* seen(): AsyncGenerator<StreamResponse> {
      for await (const event of remote.stream("go")) {
        if ("statusUpdate" in event) {
          const [part] = event.statusUpdate.status.message?.parts ?? [];
          if (part && "text" in part) statusTexts.push(part.text);
          if (statusTexts.length === 3) await tools.callTool("seen");
        }
        yield event;
      }
    }
    const done = await collect(seen());
    expect(statusTexts).toEqual(["first", "second", "steps: 3 of 3"]);
    expect(done).toMatchObject({ task: { artifacts: [{ parts: [{ text: "It is done." }] }] } });
  });

  it("is canceled with the task", async () => {
    const before = httpToolServer.counts.cancelled;
    const tools = openToolClient({ url: httpToolServer.url });
    const worker = agent({ name: "worker", description: "Works" }, async function* ({ signal }) {
      yield* tools.streamTool("hang", {}, { signal });
    });
    const agentServer = createServer(worker, { store: "memory" });
    onTestFinished(() => agentServer.close());
    const remote = await connect((await agentServer.listen()).url);
    for await (const event of remote.stream("go")) {
      const isWorking = "statusUpdate" in event && event.statusUpdate.status.message !== undefined;
      if (isWorking) await remote.tasks.cancel(event.statusUpdate.taskId);
    }
    await expect.poll(() => httpToolServer.counts.cancelled).toBe(before + 1);
  });
});
