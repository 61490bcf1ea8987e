import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { isLongRun } from "../../../test/support/count-runs.ts";
import {
  type TestMcpHostElicitationResponder,
  type TestMcpHost,
  connectTestMcpHost2025,
  connectTestMcpHost2026,
  type TestMcpHostProgressNotification,
  type TestMcpServerUrlOrCliArguments,
} from "./mcp-hosts.fixture.ts";
import { createMcpServer, type McpServer, type McpServerOptions } from "./index.ts";
import { type ScriptedAgentServer, serveScriptedAgent } from "./scripted-agent.fixture.ts";

type ConnectedHost = { readonly host: TestMcpHost; readonly close: () => Promise<void> };

/** Creates tools for the agent at `url` and connects a host to them. */
type HostConnector = (
  url: string,
  options?: McpServerOptions,
  respond?: TestMcpHostElicitationResponder,
) => Promise<ConnectedHost>;

const createHttpConnector =
  (
    connect: (
      location: TestMcpServerUrlOrCliArguments,
      respond?: TestMcpHostElicitationResponder,
    ) => Promise<TestMcpHost>,
  ): HostConnector =>
  async (url, options, respond) => {
    const server: McpServer = await createMcpServer({ parrot: url }, options);
    const host = await connect(await server.listen(), respond);
    return {
      host,
      close: async () => {
        await host.close();
        await server.close();
      },
    };
  };

const createStdioConnector =
  (
    connect: (
      location: TestMcpServerUrlOrCliArguments,
      respond?: TestMcpHostElicitationResponder,
    ) => Promise<TestMcpHost>,
  ): HostConnector =>
  async (url, options = {}, respond) => {
    const flags = [
      ...(options.askUser ? ["--ask-user"] : []),
      ...(options.waitMs === undefined ? [] : ["--wait", `${options.waitMs}ms`]),
    ];
    const host = await connect({ args: [url, ...flags] }, respond);
    return { host, close: () => host.close() };
  };

const openHost = async (open: HostConnector, ...args: Parameters<HostConnector>): Promise<TestMcpHost> => {
  const { host, close } = await open(...args);
  onTestFinished(close);
  return host;
};

describe.each<[string, HostConnector]>([
  ["a host of 2026 over HTTP", createHttpConnector(connectTestMcpHost2026)],
  ["a host of 2025 over HTTP", createHttpConnector(connectTestMcpHost2025)],
  ["a host of 2026 and the command line over stdio", createStdioConnector(connectTestMcpHost2026)],
  // Each host over stdio starts processes. The protocol version does not depend on the transport.
  ...(isLongRun
    ? [
        [
          "a host of 2025 and the command line over stdio",
          createStdioConnector(connectTestMcpHost2025),
        ] satisfies [string, HostConnector],
      ]
    : []),
])("%s", (name, open) => {
  let parrot: ScriptedAgentServer;
  let shared: ConnectedHost;
  let host: TestMcpHost;

  beforeAll(async () => {
    parrot = await serveScriptedAgent();
    shared = await open(parrot.url);
    host = shared.host;
  });
  afterAll(async () => {
    await shared.close();
    await parrot.close();
  });

  it("negotiates its protocol version", () => {
    expect(host.version).toBe(name.includes("2026") ? "2026-07-28" : "2025");
  });

  it("lists each skill as a tool with its description and arguments", async () => {
    const [say, count, ...others] = await host.listTools();
    expect(others).toEqual([]);
    expect(say).toMatchObject({ name: "parrot_say", title: "Say it" });
    expect(say?.description).toBe(
      'Says what it hears.\n\nFor example:\n- hello\n- ask\n\nAnswered by the agent "Parrot": Does what it is told',
    );
    const members = [say, count].map((tool) => {
      const { properties = {} }: { properties?: object } = tool?.inputSchema ?? {};
      return Object.keys(properties);
    });
    expect(members).toEqual([
      ["message", "data", "files", "taskId", "contextId"],
      ["message", "taskId", "contextId"],
    ]);
  });

  it("returns text for models and the complete response for programs", async () => {
    const { content, structuredContent, isError } = await host.callTool("parrot_say", { message: "hello" });
    expect(isError ?? false).toBe(false);
    expect(content).toEqual([{ type: "text", text: "You said: hello" }]);
    expect(structuredContent).toEqual({
      state: "TASK_STATE_COMPLETED",
      taskId: expect.any(String) as string,
      contextId: expect.any(String) as string,
      text: "You said: hello",
      artifacts: [{ artifactId: "answer", parts: [{ text: "You said: hello" }] }],
    });
  });

  it("passes on data and files in both directions, and the skill id", async () => {
    const sent = await host.callTool("parrot_say", {
      message: "parts",
      data: { a: 1 },
      files: [{ base64: "AQI=", mediaType: "image/png", name: "x.png" }],
    });
    expect(JSON.parse(sent.structuredContent?.text ?? "")).toEqual([
      [{ text: "parts" }, { data: { a: 1 } }, { raw: "AQI=", mediaType: "image/png", filename: "x.png" }],
      { skillId: "say" },
    ]);
    const { content, structuredContent } = await host.callTool("parrot_say", { message: "show" });
    expect(content).toEqual([
      { type: "text", text: "Here you are." },
      { type: "text", text: '{"answer":42}' },
      { type: "image", data: "AQID", mimeType: "image/png" },
      {
        type: "resource",
        resource: { uri: "a2a:file/3/a%20b.pdf", mimeType: "application/pdf", blob: "BAU=" },
      },
      {
        type: "resource_link",
        uri: "https://example.com/big.zip",
        name: "https://example.com/big.zip",
        mimeType: "application/zip",
      },
    ]);
    expect(
      structuredContent?.artifacts.slice(1).map(({ name: called, parts }) => [called, ...parts]),
    ).toEqual([
      ["facts", { data: { answer: 42 } }],
      ["picture", { file: { mediaType: "image/png", bytes: 3 } }],
      [
        "report",
        { file: { name: "a b.pdf", mediaType: "application/pdf", bytes: 2 } },
        { file: { mediaType: "application/zip", url: "https://example.com/big.zip" } },
      ],
    ]);
  });

  it("reports progress in order while the agent works", async () => {
    const notifications: TestMcpHostProgressNotification[] = [];
    // A client may receive the result before the progress that arrived just before it.
    const { structuredContent } = await host.callTool(
      "parrot_say",
      { message: "work" },
      {
        onprogress: (progress) => {
          notifications.push(progress);
          if (progress.message?.endsWith("three")) parrot.finishWork();
        },
      },
    );
    expect(structuredContent?.text).toBe("one two three");
    const messages = notifications.map(({ message }) => message);
    expect(messages.slice(0, 3)).toEqual(["Step: search", "Step: analyze", "Step: generate"]);
    // Chunks that arrive while a notification is being sent are merged.
    expect(messages.slice(3).join("")).toBe("one two three");
    expect(notifications.map(({ progress }) => progress)).toEqual(notifications.map((_, at) => at + 1));
  });

  it("cancels the task when the host cancels the call", async () => {
    const agentServer = await serveScriptedAgent();
    onTestFinished(() => agentServer.close());
    const asking = await openHost(open, agentServer.url);
    const stop = new AbortController();
    const call = asking.callTool(
      "parrot_say",
      { message: "wait" },
      { signal: stop.signal, onprogress: () => stop.abort(new Error("enough")) },
    );
    await expect(call).rejects.toThrow();
    await agentServer.stateRecorder.waitForState("TASK_STATE_CANCELED");
  });

  it("cancels the task when the host disconnects", async () => {
    const agentServer = await serveScriptedAgent();
    onTestFinished(() => agentServer.close());
    const { host: leaving, close } = await open(agentServer.url);
    const call = leaving.callTool("parrot_say", { message: "wait" }, { onprogress: () => void close() });
    await expect(call).rejects.toThrow();
    await agentServer.stateRecorder.waitForState("TASK_STATE_CANCELED");
  });

  it("lets the model answer the agent's question with the same tool", async () => {
    const question = await host.callTool("parrot_say", { message: "ask" });
    expect(question.isError ?? false).toBe(false);
    expect(question.structuredContent).toMatchObject({
      state: "TASK_STATE_INPUT_REQUIRED",
      text: "Which city?",
    });
    const taskId = question.structuredContent?.taskId as string;
    expect(question.content.map(({ text }) => text)).toEqual([
      "Which city?",
      `(The agent is waiting for an answer. To answer, call this tool again with taskId "${taskId}" and the answer as the message.)`,
    ]);
    const done = await host.callTool("parrot_say", { message: "Seoul", taskId });
    expect(done.structuredContent).toMatchObject({
      state: "TASK_STATE_COMPLETED",
      taskId,
      text: "You live in Seoul.",
    });
  });

  it("asks the host's user instead, if askUser is set and the host supports it", async () => {
    const questions: string[] = [];
    const asking = await openHost(open, parrot.url, { askUser: true }, (question) => {
      questions.push(question);
      return { action: "accept", content: { answer: "Busan" } };
    });
    const done = await asking.callTool("parrot_say", { message: "ask" });
    expect(questions).toEqual(['The agent "parrot" asks: Which city?']);
    expect(done.structuredContent).toMatchObject({
      state: "TASK_STATE_COMPLETED",
      text: "You live in Busan.",
    });
  });

  it("returns the question to the model if the user declines or cannot be asked", async () => {
    const declining = await openHost(open, parrot.url, { askUser: true }, () => ({ action: "decline" }));
    const mute = await openHost(open, parrot.url, { askUser: true });
    for (const one of [declining, mute]) {
      const { structuredContent } = await one.callTool("parrot_say", { message: "ask" });
      expect(structuredContent).toMatchObject({ state: "TASK_STATE_INPUT_REQUIRED", text: "Which city?" });
    }
  });

  it("returns an unfinished task after waitMs, and waits for it in the next call", async () => {
    const agentServer = await serveScriptedAgent();
    onTestFinished(() => agentServer.close());
    const hasty = await openHost(open, agentServer.url, { waitMs: 50 });
    const first = await hasty.callTool("parrot_say", { message: "wait" });
    expect(first.structuredContent).toMatchObject({ state: "TASK_STATE_WORKING", text: "Waiting…" });
    expect(first.content.at(-1)?.text).toContain("still working");
    const taskId = first.structuredContent?.taskId as string;
    const again = await hasty.callTool("parrot_say", { taskId });
    expect(again.structuredContent).toMatchObject({ state: "TASK_STATE_WORKING", taskId });
  });

  it.each([
    ["fail", "No luck."],
    ["reject", "(The task ended as rejected; the agent gave no reason.)"],
  ])("reports a task that ended with %s as an error with its reason", async (message, text) => {
    const { content, isError } = await host.callTool("parrot_say", { message });
    expect({ content, isError }).toEqual({ content: [{ type: "text", text }], isError: true });
  });

  it("hides internal errors of an agent", async () => {
    const result = await host.callTool("parrot_say", { message: "throw" });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result)).not.toContain("secret");
  });

  it("accepts a response without a task, and one without text", async () => {
    const reply = await host.callTool("parrot_say", { message: "reply" });
    expect(reply.content).toEqual([{ type: "text", text: "Just a message." }]);
    expect(reply.structuredContent).toMatchObject({ text: "Just a message.", artifacts: [] });
    const nothing = await host.callTool("parrot_say", { message: "nothing" });
    expect(nothing.content).toEqual([{ type: "text", text: "(The agent has finished without output.)" }]);
  });

  it("passes on that the user must sign in", async () => {
    const { content, structuredContent } = await host.callTool("parrot_say", { message: "authenticate" });
    expect(structuredContent?.state).toBe("TASK_STATE_AUTH_REQUIRED");
    expect(content[0]?.text).toBe("Sign in at https://example.com/in");
    expect(content[1]?.text).toContain("call this tool again with taskId");
  });

  it("reports all violations of a model's arguments at once", async () => {
    const { content, isError } = await host.callTool("parrot_say", { message: 1, files: [{}], city: "x" });
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain("city: is unknown; use message");
    expect(content[0]?.text).toContain("message: must be a string");
    expect(content[0]?.text).toContain("files[0]: must have either url or base64");
    const empty = await host.callTool("parrot_say", {});
    expect(empty.content[0]?.text).toContain("send a message, or the taskId");
    const unknown = await host.callTool("parrot_say", { taskId: "unknown-task" });
    expect(unknown.content[0]?.text).toContain("was not found");
  });

  it("rejects an unknown tool", async () => {
    await expect(host.callTool("nonsense", { message: "x" })).rejects.toThrow(
      'The tool "nonsense" does not exist',
    );
  });

  it("handles many concurrent calls", async () => {
    const texts = Array.from({ length: 100 }, (_, at) => `call ${at}`);
    const results = await Promise.all(texts.map((message) => host.callTool("parrot_say", { message })));
    expect(results.map(({ structuredContent }) => structuredContent?.text)).toEqual(
      texts.map((text) => `You said: ${text}`),
    );
  });
});
