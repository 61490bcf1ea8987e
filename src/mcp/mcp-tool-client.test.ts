import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../adapters/index.ts";
import { collect, connect } from "../client/index.ts";
import type { StreamResponse } from "../protocol/index.ts";
import { createServer } from "../server/index.ts";
import {
  createMcpServer,
  createMcpToolClient,
  type McpToolClient,
  type McpToolClientOptions,
  type McpToolProgress,
} from "./index.ts";
import { createScriptedAgent } from "./scripted-agent.fixture.ts";
import { serveTools2025, serveToolsOverHttp } from "./mcp-tool-server.fixture.ts";

const resolveFilePath = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const stdioAddress2026 = { command: process.execPath, args: [resolveFilePath("tools.fixture.ts")] };
const stdioAddress2025 = {
  command: process.execPath,
  args: [resolveFilePath("../../examples/mcp-server.ts")],
};

let httpToolServer: Awaited<ReturnType<typeof serveToolsOverHttp>>;
beforeAll(async () => {
  httpToolServer = await serveToolsOverHttp();
});
afterAll(() => httpToolServer.close());

function openToolClient(options: McpToolClientOptions): McpToolClient {
  const tools = createMcpToolClient(options);
  onTestFinished(() => tools.close());
  return tools;
}

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

  it("give parts that an agent can yield", async () => {
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

  it("say of their own failures what a model may read", async () => {
    expect(await tools.callTool("fail")).toMatchObject({ text: "No such city.", isError: true });
  });

  it("reject what there is not", async () => {
    await expect(tools.callTool("nonsense")).rejects.toThrow(/The MCP server .* refused: .*nonsense/);
  });

  it("tell how far they are", async () => {
    const seen: string[] = [];
    const onProgress = ({ progress, total, message }: McpToolProgress): void => {
      seen.push(`${progress}/${total} ${message}`);
      if (progress === total) void tools.callTool("seen");
    };
    await tools.callTool("steps", {}, { onProgress });
    expect(seen).toEqual(["1/3 first", "2/3 second", "3/3 undefined"]);
  });

  it("hear that nobody waits any more", async () => {
    const before = JSON.parse((await tools.callTool("counts")).text) as { cancelled: number };
    const stop = new AbortController();
    const enough = new Error("enough");
    const call = tools.callTool("hang", {}, { signal: stop.signal, onProgress: () => stop.abort(enough) });
    await expect(call).rejects.toBe(enough);
    await expect
      .poll(async () => JSON.parse((await tools.callTool("counts")).text) as unknown)
      .toMatchObject({ cancelled: before.cancelled + 1 });
  });

  it("fail when they say nothing for too long", async () => {
    const call = tools.callTool("hang", {}, { timeoutMs: 20 });
    await expect(call).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.stringContaining("did not answer") as string,
    });
  });

  it("are not called with a signal that is aborted already", async () => {
    await expect(tools.callTool("echo", {}, { signal: AbortSignal.abort("no") })).rejects.toBe("no");
  });
});

describe("the connection to an MCP server", () => {
  it("is made when it is needed, and again when its process has ended; no call is repeated", async () => {
    const tools = openToolClient(stdioAddress2026);
    await expect(tools.callTool("crash")).rejects.toMatchObject({
      message: expect.stringContaining("did not answer") as string,
      cause: { message: expect.stringContaining("it wrote: the disk is full") as string },
    });
    const { text } = await tools.callTool("counts");
    // Another process, which was asked for nothing but this.
    expect(JSON.parse(text)).toEqual({ called: 0, cancelled: 0 });
  });

  it("passes on no secrets of this process", async () => {
    process.env["SOME_SECRET"] = "x";
    onTestFinished(() => void delete process.env["SOME_SECRET"]);
    const { text } = await openToolClient({ ...stdioAddress2026, env: { GIVEN: "y" } }).callTool("variables");
    expect(text.split(" ")).toContain("GIVEN");
    expect(text).not.toContain("SOME_SECRET");
  });

  it("says what is wrong with a program, and with a URL", async () => {
    await expect(openToolClient({ command: "no-such-program" }).listTools()).rejects.toThrow(
      'The MCP server "no-such-program" did not answer: spawn no-such-program ENOENT',
    );
    const broken = { command: process.execPath, args: ["-e", "console.error('no key'); process.exit(1)"] };
    await expect(openToolClient(broken).listTools()).rejects.toMatchObject({
      cause: { message: expect.stringContaining("it wrote: no key") as string },
    });
    await expect(openToolClient({ url: "http://127.0.0.1:9/mcp" }).listTools()).rejects.toThrow(
      "The MCP server at http://127.0.0.1:9 did not answer",
    );
  });

  it("tells a caller of the agent neither how the program was started nor what it wrote", async () => {
    const script = "console.error('password hunter2'); process.exit(1)";
    const tools = openToolClient({ command: process.execPath, args: ["-e", script, "--", "--key=hunter3"] });
    const seen: unknown[] = [];
    const careless = agent({ name: "careless", description: "Uses tools" }, async function* ({ signal }) {
      yield* (await tools.callTool("echo", {}, { signal })).parts;
    });
    const server = createServer(careless, { observer: { onError: ({ error }) => void seen.push(error) } });
    onTestFinished(() => server.close());
    const remote = await connect((await server.listen()).url);
    const told = JSON.stringify(await remote.send("hi"));
    expect(told).toContain("did not answer");
    // Ids may have any letter behind a hyphen, so the flag -e is no sign.
    expect(told).not.toMatch(/hunter|console\.error/);
    expect(seen).toMatchObject([
      { cause: { message: expect.stringMatching(/hunter3.*hunter2/s) as string } },
    ]);
  });

  it("carries headers to no other host, wherever the server sends it", async () => {
    const asked: unknown[] = [];
    const elsewhere = createHttpServer(({ headers }, response) => {
      asked.push(headers["x-key"]);
      response.writeHead(404).end();
    }).listen(0, "127.0.0.1");
    await once(elsewhere, "listening");
    const { port } = elsewhere.address() as AddressInfo;
    const near = createHttpServer(({ url }, response) => {
      const isFirst = url === "/mcp";
      const location = isFirst ? "/mcp/" : `http://127.0.0.1:${port}/mcp`;
      if (!isFirst) asked.push("near");
      response.writeHead(307, { location }).end();
    }).listen(0, "127.0.0.1");
    await once(near, "listening");
    onTestFinished(() => void [near.close(), elsewhere.close()]);
    const url = `http://127.0.0.1:${(near.address() as AddressInfo).port}/mcp`;
    await expect(openToolClient({ url, headers: { "x-key": "s3cret" } }).listTools()).rejects.toThrow(
      "did not answer",
    );
    expect(new Set(asked)).toEqual(new Set(["near"]));
  });

  it("is over when it was closed", async () => {
    const tools = createMcpToolClient(stdioAddress2026);
    await tools.listTools();
    await tools.close();
    await expect(tools.listTools()).rejects.toThrow("was closed");
  });

  it("speaks with servers of 2025", async () => {
    const tools = openToolClient(stdioAddress2025);
    expect((await tools.listTools()).map(({ name }) => name)).toEqual(["in_stock"]);
    expect(await tools.callTool("in_stock", { fruit: "pears" })).toMatchObject({ text: "3", isError: false });
  });

  it("begins another session when its server has forgotten it", async () => {
    const forgetful = await serveTools2025();
    onTestFinished(() => forgetful.close());
    const tools = openToolClient({ url: forgetful.url });
    expect((await tools.callTool("hello")).text).toBe("hello");
    forgetful.forget();
    expect((await tools.callTool("hello")).text).toBe("hello");
  });

  it("reaches agents, too, which are tools elsewhere", async () => {
    const mcp = await createMcpServer({ parrot: createScriptedAgent({ streaming: true }) });
    onTestFinished(() => mcp.close());
    const tools = openToolClient(await mcp.listen());
    const { text, data } = await tools.callTool("parrot_say", { message: "hello" });
    expect(text).toBe("You said: hello");
    expect(data).toMatchObject({ state: "TASK_STATE_COMPLETED" });
  });
});

describe("a tool in a generator", () => {
  it("tells the task how far it is, and gives its result", async () => {
    const tools = openToolClient({ url: httpToolServer.url });
    const worker = agent({ name: "worker", description: "Works" }, async function* ({ signal }) {
      const { text } = yield* tools.streamTool("steps", {}, { signal });
      yield `It is ${text}.`;
    });
    const own = createServer(worker, { store: "memory" });
    onTestFinished(() => own.close());
    const remote = await connect((await own.listen()).url);
    const said: string[] = [];
    async function* seen(): AsyncGenerator<StreamResponse> {
      for await (const event of remote.stream("go")) {
        if ("statusUpdate" in event) {
          const [part] = event.statusUpdate.status.message?.parts ?? [];
          if (part && "text" in part) said.push(part.text);
          if (said.length === 3) await tools.callTool("seen");
        }
        yield event;
      }
    }
    const done = await collect(seen());
    expect(said).toEqual(["first", "second", "steps: 3 of 3"]);
    expect(done).toMatchObject({ task: { artifacts: [{ parts: [{ text: "It is done." }] }] } });
  });

  it("is given up with the task", async () => {
    const before = httpToolServer.counts.cancelled;
    const tools = openToolClient({ url: httpToolServer.url });
    const worker = agent({ name: "worker", description: "Works" }, async function* ({ signal }) {
      yield* tools.streamTool("hang", {}, { signal });
    });
    const own = createServer(worker, { store: "memory" });
    onTestFinished(() => own.close());
    const remote = await connect((await own.listen()).url);
    for await (const event of remote.stream("go")) {
      const isAtIt = "statusUpdate" in event && event.statusUpdate.status.message !== undefined;
      if (isAtIt) await remote.tasks.cancel(event.statusUpdate.taskId);
    }
    await expect.poll(() => httpToolServer.counts.cancelled).toBe(before + 1);
  });
});
