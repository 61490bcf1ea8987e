import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { FunctionTool, LlmAgent, type LlmRequest, type LlmResponse } from "@google/adk";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { A2AError, getText } from "../../../protocol/index.ts";
import { adkAgent } from "../adk-agent.ts";
import { TaskHarness } from "../task-harness.fixture.ts";
import { AiSdkLlm } from "./ai-sdk-llm.ts";

type StreamPart =
  Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer Part>
    ? Part
    : never;
type GenerateResult = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

const usage: GenerateResult["usage"] = {
  inputTokens: { total: 7, noCache: 5, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 9, text: 6, reasoning: 3 },
};

function createStreamingModel(...turns: StreamPart[][]): MockLanguageModelV4 {
  let turn = 0;
  return new MockLanguageModelV4({
    doStream: async () => {
      const parts = turns[Math.min(turn++, turns.length - 1)] ?? [];
      return { stream: ReadableStream.from<StreamPart>(parts) };
    },
  });
}

const createFinishPart = (unified: "stop" | "tool-calls" | "length" | "content-filter"): StreamPart => ({
  type: "finish",
  finishReason: { unified, raw: unified },
  usage,
});

function buildLlmRequest(text: string, config: LlmRequest["config"] = {}): LlmRequest {
  return { contents: [{ role: "user", parts: [{ text }] }], config, liveConnectConfig: {}, toolsDict: {} };
}

async function collectResponses(responses: AsyncGenerator<LlmResponse, void>): Promise<LlmResponse[]> {
  const list: LlmResponse[] = [];
  for await (const response of responses) list.push(response);
  return list;
}

describe("an AI SDK model in ADK", () => {
  it("streams thoughts and text in chunks, then the complete response with usage", async () => {
    const llm = new AiSdkLlm(
      createStreamingModel([
        { type: "response-metadata", modelId: "large-2" },
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "Hm" },
        { type: "reasoning-end", id: "r", providerMetadata: { anthropic: { signature: "s1" } } },
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "Hel" },
        { type: "text-delta", id: "t", delta: "lo" },
        { type: "text-end", id: "t" },
        createFinishPart("stop"),
      ]),
    );
    const responses = await collectResponses(llm.generateContentAsync(buildLlmRequest("hi"), true));
    expect(responses.map(({ partial, content }) => [partial, content?.parts])).toEqual([
      [true, [{ text: "Hm", thought: true }]],
      [true, [{ text: "Hel" }]],
      [true, [{ text: "lo" }]],
      [undefined, [{ text: "Hm", thought: true, thoughtSignature: expect.any(String) }, { text: "Hello" }]],
    ]);
    expect(responses.at(-1)).toMatchObject({
      finishReason: "STOP",
      modelVersion: "large-2",
      usageMetadata: {
        promptTokenCount: 7,
        cachedContentTokenCount: 2,
        // The AI SDK includes the reasoning in the output tokens, and Google counts it separately.
        candidatesTokenCount: 6,
        thoughtsTokenCount: 3,
        totalTokenCount: 16,
      },
    });
  });

  it("returns the provider metadata of a thought to the provider", async () => {
    const mock = createStreamingModel([
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "Hm" },
      { type: "reasoning-end", id: "r", providerMetadata: { anthropic: { signature: "s1" } } },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "Hello" },
      { type: "text-end", id: "t" },
      createFinishPart("stop"),
    ]);
    const llm = new AiSdkLlm(mock);
    const [response] = (await collectResponses(llm.generateContentAsync(buildLlmRequest("hi"), true))).slice(
      -1,
    );
    const next = buildLlmRequest("and?");
    if (response?.content) next.contents.unshift({ role: "user", parts: [{ text: "hi" }] }, response.content);
    await collectResponses(llm.generateContentAsync(next, true));
    expect(mock.doStreamCalls[1]?.prompt[1]).toMatchObject({
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm", providerOptions: { anthropic: { signature: "s1" } } },
        { type: "text", text: "Hello" },
      ],
    });
  });

  it("passes on the instruction, settings, tools, files, and history", async () => {
    const mock = new MockLanguageModelV4({
      doGenerate: async () => ({
        content: [{ type: "text", text: "ok" }],
        finishReason: { unified: "stop", raw: "stop" },
        usage,
        warnings: [],
      }),
    });
    const request = buildLlmRequest("q1", {
      systemInstruction: "Be kind.",
      temperature: 0.5,
      maxOutputTokens: 99,
      stopSequences: ["END"],
      tools: [
        {
          functionDeclarations: [
            {
              name: "add",
              description: "Adds",
              parameters: {
                type: "OBJECT",
                properties: { a: { type: "NUMBER" }, unit: { type: "STRING", nullable: true, enum: ["m"] } },
                required: ["a"],
              } as never,
            },
          ],
        },
      ],
    });
    request.contents.push(
      { role: "model", parts: [{ text: "let me" }, { functionCall: { name: "add", args: { a: 1 } } }] },
      { role: "user", parts: [{ functionResponse: { name: "add", response: { sum: 1 } } }] },
      { role: "user", parts: [{ inlineData: { data: "/w==", mimeType: "image/png" } }, { text: "see" }] },
    );
    const responses = await collectResponses(new AiSdkLlm(mock).generateContentAsync(request));
    expect(responses).toHaveLength(1);
    expect(responses[0]?.content).toEqual({ role: "model", parts: [{ text: "ok" }] });
    const call = mock.doGenerateCalls[0];
    expect(call).toMatchObject({ temperature: 0.5, maxOutputTokens: 99, stopSequences: ["END"] });
    expect(call?.tools).toEqual([
      expect.objectContaining({
        name: "add",
        description: "Adds",
        inputSchema: expect.objectContaining({
          type: "object",
          properties: { a: { type: "number" }, unit: { type: ["string", "null"], enum: ["m", null] } },
          required: ["a"],
        }),
      }),
    ]);
    const id = "call_0";
    expect(call?.prompt).toMatchObject([
      { role: "system", content: "Be kind." },
      { role: "user", content: [{ type: "text", text: "q1" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "let me" },
          { type: "tool-call", toolCallId: id, toolName: "add", input: { a: 1 } },
        ],
      },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: id, output: { type: "json", value: { sum: 1 } } }],
      },
      {
        role: "user",
        content: [
          { type: "file", mediaType: "image/png" },
          { type: "text", text: "see" },
        ],
      },
    ]);
  });

  it("adds an error result to an interrupted call", async () => {
    const mock = createStreamingModel([createFinishPart("stop")]);
    const request = buildLlmRequest("q1");
    request.contents.push(
      { role: "model", parts: [{ functionCall: { id: "c1", name: "add", args: {} } }] },
      { role: "user", parts: [{ text: "still there?" }] },
    );
    await collectResponses(new AiSdkLlm(mock).generateContentAsync(request, true));
    expect(mock.doStreamCalls[0]?.prompt.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "user",
    ]);
    expect(mock.doStreamCalls[0]?.prompt[2]?.content).toMatchObject([
      { toolCallId: "c1", output: { value: "The call was interrupted and has no result." } },
    ]);
  });

  it("requests JSON if the agent has an output schema", async () => {
    const mock = createStreamingModel([createFinishPart("stop")]);
    const schema = { type: "object", properties: { n: { type: "number" } } };
    await collectResponses(
      new AiSdkLlm(mock).generateContentAsync(buildLlmRequest("q", { responseJsonSchema: schema }), true),
    );
    expect(mock.doStreamCalls[0]?.responseFormat).toMatchObject({ type: "json", schema });
  });

  it("reports why the answer is empty", async () => {
    const llm = new AiSdkLlm(createStreamingModel([createFinishPart("content-filter")]));
    const [response] = await collectResponses(llm.generateContentAsync(buildLlmRequest("q"), true));
    expect(response).toMatchObject({ errorCode: "SAFETY", finishReason: "SAFETY" });
    expect(response?.content).toBeUndefined();
  });

  it("rejects with an error of its loader as it is, and hides a thrown value that is not an error", async () => {
    const request = async (thrown: unknown): Promise<LlmResponse[]> => {
      const load = async (): Promise<never> => {
        throw thrown;
      };
      return await collectResponses(new AiSdkLlm(load).generateContentAsync(buildLlmRequest("q")));
    };
    const loaderError = new A2AError("RESOURCE_EXHAUSTED", "Load the model later");
    await expect(request(loaderError)).rejects.toBe(loaderError);
    await expect(request("key sk-1 is wrong")).rejects.toMatchObject({
      reason: "INTERNAL",
      message: expect.not.stringContaining("sk-1") as unknown,
      cause: "key sk-1 is wrong",
    });
  });

  it("stops without an error when it is aborted", async () => {
    const abort = new AbortController();
    const mock = new MockLanguageModelV4({
      doStream: async ({ abortSignal }) => ({
        stream: new ReadableStream<StreamPart>({
          start(controller) {
            abortSignal?.addEventListener("abort", () => controller.error(abortSignal.reason));
            controller.enqueue({ type: "text-start", id: "t" });
            controller.enqueue({ type: "text-delta", id: "t", delta: "Hel" });
          },
        }),
      }),
    });
    const responses: LlmResponse[] = [];
    for await (const response of new AiSdkLlm(mock).generateContentAsync(
      buildLlmRequest("q"),
      true,
      abort.signal,
    )) {
      responses.push(response);
      abort.abort();
    }
    expect(responses).toHaveLength(1);
  });
});

function renderCompletionChunk(choice: object): string {
  return JSON.stringify({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, ...choice }],
  });
}

describe("an ADK agent on an OpenAI-compatible server", () => {
  const requests: { messages: { role: string }[]; tools?: unknown[] }[] = [];
  let status = 200;
  let server: Server;
  let baseURL: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const request = JSON.parse(body) as (typeof requests)[number];
        requests.push(request);
        if (status !== 200) {
          response.writeHead(status, { "content-type": "application/json" });
          response.end(JSON.stringify({ error: { message: "no such key", type: "auth" } }));
          return;
        }
        response.writeHead(200, { "content-type": "text/event-stream" });
        const answered = request.messages.at(-1)?.role === "tool";
        const call = { index: 0, id: "call_9", type: "function", function: { name: "add", arguments: "" } };
        const deltas = answered
          ? [{ role: "assistant", content: "The sum " }, { content: "is 5." }]
          : [
              { role: "assistant", content: "Adding." },
              { tool_calls: [call] },
              { tool_calls: [{ index: 0, function: { arguments: '{"a":2,' } }] },
              { tool_calls: [{ index: 0, function: { arguments: '"b":3}' } }] },
            ];
        for (const delta of deltas)
          response.write(`data: ${renderCompletionChunk({ delta, finish_reason: null })}\n\n`);
        response.write(
          `data: ${renderCompletionChunk({ delta: {}, finish_reason: answered ? "stop" : "tool_calls" })}\n\n`,
        );
        response.end("data: [DONE]\n\n");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });

  afterAll(() => server.close());

  function agent(): LlmAgent {
    const provider = createOpenAICompatible({ name: "local", baseURL });
    const add = new FunctionTool({
      name: "add",
      description: "Adds",
      parameters: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => ({ sum: a + b }),
    });
    return new LlmAgent({
      name: "calc",
      model: new AiSdkLlm(() => Promise.resolve(provider("m"))),
      tools: [add],
    });
  }

  it("streams, calls a tool of the agent, and answers with its result", async () => {
    const task = new TaskHarness(adkAgent(agent()));
    const turn = await task.send("2 + 3?");
    expect(turn.states.at(-1)).toBe("TASK_STATE_COMPLETED");
    expect(getText(turn.chunkParts)).toBe("Adding.The sum is 5.");
    expect(requests.at(-1)?.messages).toMatchObject([
      { role: "system" },
      { role: "user", content: "2 + 3?" },
      {
        role: "assistant",
        tool_calls: [{ id: "call_9", function: { name: "add", arguments: '{"a":2,"b":3}' } }],
      },
      { role: "tool", tool_call_id: "call_9", content: '{"sum":5}' },
    ]);
  });

  it("fails the task with the status code of the server", async () => {
    status = 401;
    const task = new TaskHarness(adkAgent(agent(), { exposeErrors: true }));
    const turn = await task.send("2 + 3?");
    status = 200;
    expect(turn.states.at(-1)).toBe("TASK_STATE_FAILED");
    expect(getText(task.task.status.message?.parts ?? [])).toBe(
      'llm error response (code 401): "no such key"',
    );
    expect(task.task.metadata?.["adk_error_code"]).toBe("401");
  });
});
