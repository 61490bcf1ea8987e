import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { BaseLlm, type BaseLlmConnection, type LlmRequest, type LlmResponse } from "@google/adk";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import { createPlanner, type RoleModel } from "../../../cards/roles/index.ts";
import { parseAction } from "../../../cards/roles/index.ts";
import { runRoleInFakeTaskContext } from "../../../cards/roles/fake-task-context.fixture.ts";
import { AiSdkLlm, createModel, toRoleModel, type RoleModelRequest, ScriptedLlm } from "./index.ts";

type GenerateResult = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

const usage: GenerateResult["usage"] = {
  inputTokens: { total: 7, noCache: 5, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 9, text: 6, reasoning: 3 },
};

const createGenerateResult = (
  text: string,
  unified: GenerateResult["finishReason"]["unified"] = "stop",
): GenerateResult => ({
  content: [
    { type: "reasoning", text: "Hm." },
    { type: "text", text },
  ],
  finishReason: { unified, raw: unified },
  usage,
  warnings: [],
  response: { modelId: "m-2026-11" },
});

const createMockModel = (...results: GenerateResult[]): MockLanguageModelV4 => {
  let call = 0;
  return new MockLanguageModelV4({
    modelId: "m",
    doGenerate: () =>
      Promise.resolve(results[Math.min(call++, results.length - 1)] ?? createGenerateResult("")),
  });
};

const createRequest = (more: Partial<RoleModelRequest> = {}): RoleModelRequest => ({
  messages: [
    { role: "system", text: "Be brief." },
    { role: "user", text: "1 + 1?" },
    { role: "assistant", text: "two" },
    { role: "user", text: "As a number." },
  ],
  signal: new AbortController().signal,
  ...more,
});

/** Returns fixed responses and records its requests. */
class FixedLlm extends BaseLlm {
  readonly requests: LlmRequest[] = [];
  readonly responses: readonly LlmResponse[];

  constructor(...responses: LlmResponse[]) {
    super({ model: "gemini-x" });
    this.responses = responses;
  }

  // oxlint-disable-next-line require-await
  override async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    this.requests.push(request);
    yield* this.responses;
  }

  override connect(): Promise<BaseLlmConnection> {
    throw new Error("no");
  }
}

describe("an ADK model for roles", () => {
  it("has the type of a role model", () => {
    expectTypeOf(toRoleModel).returns.toExtend<RoleModel>();
    expect(toRoleModel(createModel("scripted:echo"), { evidenceKind: "simulated" })).toMatchObject({
      id: "scripted:echo",
      evidenceKind: "simulated",
    });
    expect(toRoleModel(createModel("ollama:qwen3"))).toMatchObject({
      id: "ollama:qwen3",
      evidenceKind: "live-model",
    });
    expect(toRoleModel(createModel("ollama:qwen3"), { id: "q" }).id).toBe("q");
  });

  it("receives instructions, history, schema, and settings", async () => {
    const llm = new FixedLlm({ content: { role: "model", parts: [{ text: "2" }] } });
    const schema = { type: "object", properties: { n: { type: ["number", "null"] } } };
    const reply = await toRoleModel(llm).complete(
      createRequest({ schema, maxTokens: 9, temperature: 0.5, seed: 3 }),
    );
    expect(reply).toEqual({ text: "2", finish: "stop" });
    expect(llm.requests[0]).toMatchObject({
      contents: [
        { role: "user", parts: [{ text: "1 + 1?" }] },
        { role: "model", parts: [{ text: "two" }] },
        { role: "user", parts: [{ text: "As a number." }] },
      ],
      config: {
        systemInstruction: "Be brief.",
        responseMimeType: "application/json",
        responseJsonSchema: schema,
        maxOutputTokens: 9,
        temperature: 0.5,
        seed: 3,
        httpOptions: { retryOptions: { attempts: 1 } },
      },
    });
  });

  it("counts thoughts as output, as Google reports them", async () => {
    const llm = new FixedLlm({
      content: { role: "model", parts: [{ text: "Hm.", thought: true }, { text: "2" }] },
      finishReason: "STOP" as never,
      modelVersion: "gemini-x-001",
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 4,
        thoughtsTokenCount: 6,
        cachedContentTokenCount: 8,
        totalTokenCount: 20,
      },
    });
    expect(await toRoleModel(llm).complete(createRequest())).toEqual({
      text: "2",
      finish: "stop",
      model: "gemini-x-001",
      usage: {
        input_tokens: 10,
        output_tokens: 10,
        cached_input_tokens: 8,
        reasoning_output_tokens: 6,
        source: "reported",
      },
    });
  });

  it.each([
    [
      { promptTokenCount: 1, candidatesTokenCount: 2 },
      { input_tokens: 1, output_tokens: 2, source: "reported" },
    ],
    [{ promptTokenCount: 1 }, undefined],
    [{ totalTokenCount: 3 }, undefined],
    [{}, undefined],
  ])("of %j contains only reported values", async (usageMetadata, expected) => {
    const llm = new FixedLlm({ content: { role: "model", parts: [{ text: "2" }] }, usageMetadata });
    expect((await toRoleModel(llm).complete(createRequest())).usage).toEqual(expected);
  });

  it.each([
    ["MAX_TOKENS", "length"],
    ["SAFETY", "filter"],
    ["RECITATION", "filter"],
  ])("without text for %s has an empty answer with its usage", async (reason, finish) => {
    const llm = new FixedLlm({
      errorCode: reason,
      finishReason: reason as never,
      usageMetadata: { promptTokenCount: 1, totalTokenCount: 5 },
    });
    expect(await toRoleModel(llm).complete(createRequest())).toMatchObject({
      text: "",
      finish,
      usage: { output_tokens: 4 },
    });
  });

  it("fails with the error of the provider", async () => {
    const llm = new ScriptedLlm([{ error: "no such model" }]);
    await expect(toRoleModel(llm).complete(createRequest())).rejects.toThrow("no such model");
    await expect(toRoleModel(new FixedLlm({ errorCode: "X" })).complete(createRequest())).rejects.toThrow(
      "The model failed with the error code X.",
    );
    await expect(toRoleModel(new FixedLlm()).complete(createRequest())).rejects.toThrow(
      "gemini-x returned no answer",
    );
  });

  it("works as a planner with a scripted ADK model", async () => {
    const llm = new ScriptedLlm([
      '{"action":"call_solver","subtask":"1 + 1"}',
      '{"action":"final_answer","answer":"2"}',
    ]);
    const { reply } = await runRoleInFakeTaskContext(createPlanner(), {
      task: "1 + 1?",
      model: toRoleModel(llm, { evidenceKind: "simulated" }),
      delegates: { solver: () => ({ result: "2", status: "success" }) },
    });
    expect(reply).toMatchObject({ content: "2" });
  });
});

describe("an AI SDK model for roles", () => {
  it("returns its usage and the name of its model", async () => {
    const llm = new AiSdkLlm(createMockModel(createGenerateResult("2")), "openai:m");
    expect(await toRoleModel(llm).complete(createRequest())).toEqual({
      text: "2",
      finish: "stop",
      model: "m-2026-11",
      usage: {
        input_tokens: 7,
        output_tokens: 9,
        cached_input_tokens: 2,
        reasoning_output_tokens: 3,
        source: "reported",
      },
    });
  });

  it("is asked for JSON by schema, and may return other text", async () => {
    const mock = createMockModel(
      createGenerateResult("I will not."),
      createGenerateResult('{"action":"final_answer","answer":"2"}'),
    );
    const json = toRoleModel(new AiSdkLlm(mock));
    const schema = { type: "object", properties: { action: { type: "string" } }, required: ["action"] };
    expect(await json.complete(createRequest({ schema, seed: 5 }))).toMatchObject({
      text: "I will not.",
      usage: { output_tokens: 9 },
    });
    expect(parseAction((await json.complete(createRequest({ schema }))).text)).toMatchObject({
      action: { answer: "2" },
    });
    expect(mock.doGenerateCalls[0]).toMatchObject({ responseFormat: { type: "json", schema }, seed: 5 });
  });

  it("reports a truncated answer", async () => {
    expect(
      await toRoleModel(new AiSdkLlm(createMockModel(createGenerateResult("So", "length")))).complete(
        createRequest(),
      ),
    ).toMatchObject({
      text: "So",
      finish: "length",
    });
  });

  it("ends with the signal's reason when it is aborted", async () => {
    const abort = new AbortController();
    const reason = new Error("stop");
    const mock = new MockLanguageModelV4({
      doGenerate: ({ abortSignal }) =>
        new Promise((_, reject) => {
          abortSignal?.addEventListener("abort", () => reject(abortSignal.reason as Error));
          abort.abort(reason);
        }),
    });
    await expect(
      toRoleModel(new AiSdkLlm(mock)).complete(createRequest({ signal: abort.signal })),
    ).rejects.toBe(reason);
    await expect(
      toRoleModel(new AiSdkLlm(mock)).complete(createRequest({ signal: abort.signal })),
    ).rejects.toBe(reason);
    expect(mock.doGenerateCalls).toHaveLength(1);
  });
});

describe("a provider", () => {
  const answers: { status: number; retryAfter?: string }[] = [];
  let requests = 0;
  const bodies: string[] = [];
  let server: Server;
  let baseURL: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => bodies.push(body));
      requests += 1;
      const { status, retryAfter } = answers.shift() ?? { status: 200 };
      response.writeHead(status, {
        "content-type": "application/json",
        ...(retryAfter !== undefined && { "retry-after-ms": retryAfter }),
      });
      const choices = [{ index: 0, message: { role: "assistant", content: "2" }, finish_reason: "stop" }];
      response.end(
        JSON.stringify(
          status === 200
            ? { id: "c", created: 1, model: "m", choices }
            : { error: { message: "busy", type: "x" } },
        ),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  afterAll(() => server.close());

  const busy = (): Promise<{ text: string }> =>
    toRoleModel(new AiSdkLlm(createOpenAICompatible({ name: "local", baseURL })("m"))).complete(
      createRequest(),
    );

  it("receives the schema of the answer for Ollama models too", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    await toRoleModel(createModel("ollama:qwen3", { baseURL })).complete(createRequest({ schema }));
    expect(JSON.parse(bodies.at(-1) ?? "")).toMatchObject({
      model: "qwen3",
      response_format: { type: "json_schema", json_schema: { schema } },
    });
  });

  it("that is busy fails after one request, with its status and the requested delay", async () => {
    requests = 0;
    answers.push({ status: 429, retryAfter: "1" });
    await expect(busy()).rejects.toMatchObject({
      message: "m answered 429: busy",
      httpStatus: 429,
      retryAfterMs: 1,
    });
    expect(requests).toBe(1);
  });

  it("that does not answer is a failure that can be repeated", async () => {
    const gone = createOpenAICompatible({ name: "local", baseURL: "http://127.0.0.1:1/v1" })("m");
    await expect(toRoleModel(new AiSdkLlm(gone)).complete(createRequest())).rejects.toMatchObject({
      message: expect.stringContaining("m did not answer: ") as string,
      isRetryable: true,
    });
  });
});
