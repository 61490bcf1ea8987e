import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { A2ACardProtocol } from "../../index.ts";
import { describeModelFailure, type ModelReply, type ModelRequest, type RoleModel } from "../role-model.ts";
import {
  type FakeModelResponse,
  type FakeModelServer,
  startFakeModelServer,
} from "./fake-model-server.fixture.ts";
import { createOpenAiCompatibleModel, createRequestLimit } from "./index.ts";

function createRequest(more: Partial<ModelRequest> = {}): ModelRequest {
  const task = A2ACardProtocol.createTaskCard({ from: "planner", to: "solver", task: "9 * 2" });
  return {
    role: "solver",
    input: { kind: "solve", task },
    messages: [
      { role: "system", text: "Calculate." },
      { role: "user", text: "9 * 2" },
    ],
    signal: new AbortController().signal,
    ...more,
  };
}

async function startModel(
  ...responses: FakeModelResponse[]
): Promise<{ server: FakeModelServer; complete: (more?: Partial<ModelRequest>) => Promise<ModelReply> }> {
  const server = await startFakeModelServer(() => responses.shift() ?? { text: "18" });
  const model = createOpenAiCompatibleModel({ baseUrl: `${server.baseUrl}/`, model: "m", apiKey: "k" });
  return { server, complete: (more) => model.complete(createRequest(more)) };
}

describe("a model on an OpenAI-compatible server", () => {
  it("sends the prompt with its settings, and returns the text with the tokens", async () => {
    const { server, complete } = await startModel();
    const schema = { type: "object" };
    expect(await complete({ schema, maxTokens: 9, temperature: 0, seed: 3 })).toEqual({
      text: "18",
      finish: "stop",
      model: "fake-2026",
      usage: { input_tokens: 10, output_tokens: 5, source: "reported" },
    });
    expect(server.requests[0]).toMatchObject({
      authorization: "Bearer k",
      body: {
        model: "m",
        messages: [
          { role: "system", content: "Calculate." },
          { role: "user", content: "9 * 2" },
        ],
        max_tokens: 9,
        temperature: 0,
        seed: 3,
        response_format: { type: "json_schema", json_schema: { schema } },
      },
    });
  });

  it.each([
    [{ refusal: "I will not." }, { text: "", finish: "filter" }],
    [
      { text: "1", finish: "length" },
      { text: "1", finish: "length" },
    ],
    [{ finish: "content_filter" }, { text: "", finish: "filter" }],
  ])("returns %j as the reply that it is", async (response, expected) => {
    const { complete } = await startModel(response);
    expect(await complete()).toMatchObject(expected);
  });

  it("reports no usage if the server reports none", async () => {
    const { complete } = await startModel({ text: "18", usage: "none" });
    expect(await complete()).not.toHaveProperty("usage");
  });

  it("fails with the status, the message, and the requested delay", async () => {
    const { complete, server } = await startModel({
      status: 429,
      error: "slow down",
      headers: { "retry-after": "7" },
    });
    await expect(complete()).rejects.toMatchObject({
      message: `${server.baseUrl}/chat/completions answered 429: slow down`,
      httpStatus: 429,
      retryAfterMs: 7_000,
    });
  });

  it("omits the schema after the server has rejected it", async () => {
    const { complete, server } = await startModel({ status: 400, error: "response_format is not supported" });
    const schema = { type: "object" };
    await expect(complete({ schema })).rejects.toMatchObject({ isRetryable: true, retryAfterMs: 0 });
    expect((await complete({ schema })).text).toBe("18");
    expect(server.requests[1]?.body).not.toHaveProperty("response_format");
  });

  it("fails with the cause of a broken connection, which the role repeats", async () => {
    const failing = (): Promise<Response> =>
      Promise.reject(new TypeError("fetch failed", { cause: new Error("read ECONNRESET") }));
    const model = createOpenAiCompatibleModel({ baseUrl: "http://m.example/v1", model: "m", fetch: failing });
    const failure = describeModelFailure(
      await model.complete(createRequest()).catch((error: unknown) => error),
    );
    expect(failure).toMatchObject({ httpStatus: undefined, isRetryable: true });
    expect(failure.message).toBe("http://m.example/v1/chat/completions did not answer: read ECONNRESET");
  });

  it("fails with the text of a response in another format", async () => {
    const fetch = (): Promise<Response> =>
      Promise.resolve(new Response("no model", { status: 503, statusText: "Busy" }));
    const model = createOpenAiCompatibleModel({ baseUrl: "http://m.example/v1", model: "m", fetch });
    await expect(model.complete(createRequest())).rejects.toThrow(
      "http://m.example/v1/chat/completions answered 503: Busy: no model",
    );
  });

  it("requires an HTTP URL", () => {
    expect(() => createOpenAiCompatibleModel({ baseUrl: "localhost:8000", model: "m" })).toThrow(
      'The base URL "localhost:8000" is not an HTTP URL.',
    );
  });
});

describe("a request limit", () => {
  it("is never exceeded, serves every request in order, and forgets aborted requests", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.constantFrom("succeeds", "fails", "is aborted"), { maxLength: 12 }),
        fc.scheduler(),
        async (limit, fates, scheduler) => {
          let inFlight = 0;
          let most = 0;
          const started: number[] = [];
          const inner: RoleModel = {
            id: "m",
            evidenceKind: "simulated",
            async complete({ seed = 0 }) {
              started.push(seed);
              most = Math.max(most, (inFlight += 1));
              await scheduler.schedule(Promise.resolve());
              inFlight -= 1;
              if (fates[seed] === "fails") throw new Error("no");
              return { text: "", finish: "stop" };
            },
          };
          const limited = createRequestLimit({ concurrency: limit }).wrap(inner);
          const calls = fates.map((fate, seed) => {
            const abort = new AbortController();
            const call = limited.complete(createRequest({ seed, signal: abort.signal }));
            if (fate === "is aborted") abort.abort();
            return call;
          });
          const settled = Promise.allSettled(calls);
          await scheduler.waitFor(settled);
          expect(most).toBeLessThanOrEqual(limit);
          expect(started).toEqual(started.toSorted((a, b) => a - b));
          const answered = fates.flatMap((fate, seed) => (fate === "is aborted" ? [] : [seed]));
          expect(started).toEqual(expect.arrayContaining(answered));
          // All slots are free again.
          const last = limited.complete(createRequest({ seed: -1 }));
          await scheduler.waitFor(last);
        },
      ),
    );
  });
});
