import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { connect, type A2AClient } from "../../../client/index.ts";
import type { Agent } from "../../../engine/index.ts";
import { data } from "../../../protocol/index.ts";
import { createServer, type Server } from "../../../server/index.ts";
import { getArtifactTextWithoutReasoning, defineAdapterContract, requireTask } from "../adapter.contract.ts";
import { type ScriptedEndpointExchange, startScriptedEndpoint } from "./scripted-endpoint.fixture.ts";
import { fromOpenAi, type OpenAiOptions } from "./index.ts";

const openEndpoints: { close: () => void }[] = [];
afterEach(() => {
  for (const { close } of openEndpoints.splice(0)) close();
});

/** An agent with a scripted endpoint, which starts on first use. */
function createScriptedAgent(
  play: (asked: ScriptedEndpointExchange) => void | Promise<void>,
  options: Partial<OpenAiOptions> = {},
): Agent {
  const opening = startScriptedEndpoint(play);
  void opening.then((opened) => openEndpoints.push(opened));
  const through: typeof fetch = async (_, init) => fetch(`${(await opening).baseUrl}/chat/completions`, init);
  return fromOpenAi({
    baseUrl: "http://model.example/v1",
    model: "m",
    fetch: through,
    maxRetries: 0,
    defaultInputModes: ["*/*"],
    ...options,
  });
}

const listUserTexts = ({ request }: ScriptedEndpointExchange): string[] =>
  request.messages.flatMap(({ role, content }) => (role === "user" ? [String(content)] : []));

defineAdapterContract("an OpenAI-compatible endpoint", {
  createAnsweringAgent: (chunks) =>
    createScriptedAgent(({ sendDelta, finish }) => {
      for (const content of chunks) sendDelta({ content });
      finish();
    }),
  createAnsweringAgentWithPieces: (chunks) =>
    createScriptedAgent(
      ({ sendDelta, finish }) => {
        for (const content of chunks) sendDelta({ content });
        finish();
      },
      { artifacts: "pieces" },
    ),
  createGateWaitingAgent: (gate) =>
    createScriptedAgent(async ({ sendDelta, finish }) => {
      sendDelta({ content: "first " });
      await gate;
      sendDelta({ content: "second" });
      finish();
    }),
  createFailingAgent: (error) =>
    createScriptedAgent(({ response }) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: error.message } }));
    }),
  createEndlessAgent: (stopped) =>
    createScriptedAgent(async ({ sendDelta, response }) => {
      sendDelta({ content: "working" });
      await once(response, "close");
      stopped();
    }),
  createRememberingAgent: () =>
    createScriptedAgent((asked) => {
      asked.sendDelta({ content: listUserTexts(asked).join(" | ") });
      asked.finish();
    }),
  createEchoAgent: () =>
    createScriptedAgent(({ request, sendDelta, finish }) => {
      const content = request.messages.at(-1)?.content as {
        type: string;
        text: string;
        image_url: { url: string };
      }[];
      const seen = content.map(({ type, text, image_url }) => {
        if (type === "image_url")
          return `file:${image_url.url.replace("data:", "").replace(";base64,", ":")}`;
        return text.startsWith("{") ? `data:${text}` : `text:${text}`;
      });
      sendDelta({ content: seen.join(" ") });
      finish();
    }),
});

describe("an OpenAI-compatible endpoint", () => {
  let server: Server | undefined;
  let seen: string[] = [];
  afterEach(() => server?.close({ graceMs: 0 }));
  async function connectToAgent(agent: Agent): Promise<A2AClient> {
    seen = [];
    const onError = ({ error }: { error: unknown }): void => void seen.push((error as Error).message);
    server = createServer(agent, { store: "memory", observer: { onError } });
    return connect((await server.listen()).url);
  }

  it("receives requests as configured, and reports token usage in the metadata", async () => {
    const asked: unknown[] = [];
    const served = createScriptedAgent(
      ({ request, incoming, sendDelta, finish }) => {
        asked.push(request, incoming.headers.authorization, incoming.headers["x-team"]);
        sendDelta({ content: "Hello." });
        finish();
      },
      {
        apiKey: "secret",
        instructions: "Be kind.",
        headers: { "x-team": "blue" },
        extraBody: { temperature: 0 },
      },
    );
    const task = await requireTask((await connectToAgent(served)).send("hi"));
    expect(asked).toEqual([
      {
        model: "m",
        messages: [
          { role: "system", content: "Be kind." },
          { role: "user", content: "hi" },
        ],
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0,
      },
      "Bearer secret",
      "blue",
    ]);
    expect(task.metadata).toEqual({
      finishReason: "stop",
      usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8, cachedInputTokens: 2 },
    });
  });

  it("separates reasoning, and returns tool calls to the caller", async () => {
    const served = createScriptedAgent(({ sendDelta, finish }) => {
      sendDelta({ reasoning_content: "Hm, " });
      sendDelta({ reasoning_content: "weather." });
      sendDelta({ content: "Let me look." });
      sendDelta({ tool_calls: [{ index: 0, id: "c1", function: { name: "weather", arguments: '{"ci' } }] });
      sendDelta({ tool_calls: [{ index: 0, function: { arguments: 'ty":"Seoul"}' } }] });
      sendDelta({ tool_calls: [{ index: 1, id: "c2", function: { name: "time", arguments: "{not json" } }] });
      finish("tool_calls");
    });
    const task = await requireTask((await connectToAgent(served)).send("weather?"));
    expect(task.artifacts).toMatchObject([
      { artifactId: "reasoning", metadata: { thought: true }, parts: [{ text: "Hm, weather." }] },
      {
        artifactId: "answer",
        parts: [
          { text: "Let me look." },
          { data: { type: "tool-call", toolCallId: "c1", toolName: "weather", input: { city: "Seoul" } } },
          { data: { type: "tool-call", toolCallId: "c2", toolName: "time", input: "{not json" } },
        ],
      },
    ]);
    expect(task.metadata).toMatchObject({ finishReason: "tool_calls" });
  });

  it("may answer without streaming", async () => {
    const served = createScriptedAgent(({ response }) => {
      response.writeHead(200, { "content-type": "application/json" });
      const message = { role: "assistant", content: "All at once." };
      response.end(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }));
    });
    expect(
      getArtifactTextWithoutReasoning(await requireTask((await connectToAgent(served)).send("hi"))),
    ).toBe("All at once.");
  });

  it.each([
    [429, { "retry-after": "0" }],
    [503, { "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }],
  ])("is retried after %d if the response allows it", async (status, headers) => {
    let asked = 0;
    const served = createScriptedAgent(
      ({ response, sendDelta, finish }) => {
        if (++asked < 3) {
          response.writeHead(status, headers).end();
          return;
        }
        sendDelta({ content: "At last." });
        finish();
      },
      { maxRetries: 2 },
    );
    expect(
      getArtifactTextWithoutReasoning(await requireTask((await connectToAgent(served)).send("hi"))),
    ).toBe("At last.");
    expect(asked).toBe(3);
  });

  it("is not retried early, nor after its answer has started", async () => {
    let asked = 0;
    const patient = createScriptedAgent(
      ({ response }) => {
        asked++;
        response.writeHead(429, { "retry-after": "3600" }).end("Come back later.");
      },
      { maxRetries: 5 },
    );
    const task = await requireTask((await connectToAgent(patient)).send("hi"));
    expect([task.status.state, asked]).toEqual(["TASK_STATE_FAILED", 1]);
    expect(seen).toEqual([expect.stringMatching(/answered 429: too many requests.*Come back later\./)]);
    await server?.close({ graceMs: 0 });

    const cut = createScriptedAgent(
      ({ sendDelta, response }) => {
        asked++;
        sendDelta({ content: "So f" });
        response.end();
      },
      { maxRetries: 5 },
    );
    const half = await requireTask((await connectToAgent(cut)).send("hi"));
    expect([half.status.state, getArtifactTextWithoutReasoning(half), asked]).toEqual([
      "TASK_STATE_FAILED",
      "So f",
      2,
    ]);
    expect(seen).toEqual([expect.stringContaining("ended its stream before the answer was complete")]);
  });

  it("reports an error during the stream only to the observer", async () => {
    const served = createScriptedAgent(({ sendDelta, response }) => {
      sendDelta({ content: "So far" });
      response.end(`data: ${JSON.stringify({ error: { message: "GPU 3 is on fire" } })}\n\n`);
    });
    const task = await requireTask((await connectToAgent(served)).send("hi"));
    expect(JSON.stringify(task)).not.toContain("GPU");
    expect(seen).toEqual(["The endpoint reported an error during the stream: GPU 3 is on fire"]);
  });

  it.each([
    [401, "check apiKey"],
    [404, "check baseUrl"],
  ])("that answers %d produces a helpful error", async (status, hint) => {
    const served = createScriptedAgent(({ response }) => void response.writeHead(status).end());
    await (await connectToAgent(served)).send("hi");
    expect(seen).toEqual([expect.stringContaining(hint)]);
  });

  it("that redirects receives no further request", async () => {
    const asked: string[] = [];
    const elsewhere = await startScriptedEndpoint(({ incoming, finish }) => {
      asked.push(String(incoming.headers["api-key"]));
      finish();
    });
    const localServer = await startScriptedEndpoint(({ response }) => {
      response.writeHead(307, { location: `${elsewhere.baseUrl}/chat/completions` }).end();
    });
    openEndpoints.push(elsewhere, localServer);
    const headers = { "api-key": "s3cret" };
    await (
      await connectToAgent(fromOpenAi({ baseUrl: localServer.baseUrl, model: "m", headers }))
    ).send("hi");
    expect(asked).toEqual([]);
    expect(seen).toEqual([expect.stringContaining(`${elsewhere.baseUrl}/chat/completions`)]);
  });

  it("that is unreachable produces a helpful error", async () => {
    const gone = await startScriptedEndpoint(() => {});
    gone.close();
    await (await connectToAgent(fromOpenAi({ baseUrl: gone.baseUrl, model: "m", maxRetries: 0 }))).send("hi");
    expect(seen).toEqual([expect.stringContaining("cannot be reached. Check that it is running")]);
    expect(() => fromOpenAi({ baseUrl: "localhost", model: "m" })).toThrow("is not a valid URL");
  });

  it("receives data as JSON text, and images by URL", async () => {
    let content: unknown;
    const served = createScriptedAgent(({ request, sendDelta, finish }) => {
      content = request.messages.at(-1)?.content;
      sendDelta({ content: "Seen." });
      finish();
    });
    const parts = [
      data(null),
      { url: "https://example.com/a.png", mediaType: "image/png" },
      { raw: "AQID", mediaType: "audio/wav" },
      { raw: "AQID", mediaType: "application/pdf", filename: "a.pdf" },
      { url: "https://example.com/a.pdf", mediaType: "application/pdf", filename: "a.pdf" },
    ];
    await (await connectToAgent(served)).send(parts);
    expect(content).toEqual([
      { type: "text", text: "null" },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "input_audio", input_audio: { data: "AQID", format: "wav" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AQID" } },
      { type: "text", text: "a.pdf (application/pdf): https://example.com/a.pdf" },
    ]);
  });
});
