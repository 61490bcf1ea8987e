/** Tests with OpenAI's official client and agents on real sockets. */
import { text as readText } from "node:stream/consumers";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import OpenAI, { APIError } from "openai";
import { once } from "node:events";
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { agent, artifact, data, failed, file, inputRequired, reply, status } from "../adapters/index.ts";
import { connect, type A2AClient } from "../../client/index.ts";
import type { AgentDescription } from "../../engine/index.ts";
import { A2AError, type Message } from "../../protocol/index.ts";
import { apiKeys, bearer, generateApiKey } from "../../server/auth/index.ts";
import { createServer, toNodeListener, type Server, type ServerOptions } from "../../server/index.ts";
import { createOpenAiFacade, type OpenAiFacadeOptions } from "./index.ts";

let receivedMessages: Message[] = [];
let runningTurn: { readonly aborted: Promise<unknown>; goOn(): void } | undefined;

const agentDescription: AgentDescription = { name: "actor", description: "Does what the text says" };

/** An agent that follows the last word of the message. */
const scriptedAgent = agent(
  agentDescription,
  async function* ({ text, message, history, signal }) {
    receivedMessages.push(message);
    const word = text.split(/\s/).at(-1);
    const isFirst = history.length === 1;
    if (word === "reply") yield reply("a plain answer");
    else if (word === "ask" && isFirst) yield* ["Well. ", inputRequired("Which city?")];
    else if (word === "fail") yield failed("The oven is cold.");
    else if (word === "throw") throw new Error("secret");
    else if (word === "data") yield artifact({ id: "d" }, data({ a: [1] }));
    else if (word === "files") {
      yield artifact({ id: "a" }, { text: "Here:" });
      yield artifact(
        { id: "b" },
        file(new URL("https://example.com/a.png"), { filename: "a", mediaType: "image/png" }),
      );
      yield artifact({ id: "c" }, file(new Uint8Array([1]), { filename: "report.pdf" }));
    } else if (word === "wait") {
      const goOn = Promise.withResolvers<void>();
      runningTurn = { aborted: once(signal, "abort"), goOn: goOn.resolve };
      yield "begun";
      await Promise.race([goOn.promise, runningTurn.aborted]);
      signal.throwIfAborted();
      yield " and done";
    } else {
      yield status("Thinking …");
      for (const piece of ["You ", "said ", word ?? "nothing"]) yield piece;
    }
  },
  { respondsWith: "either" },
);

beforeEach(() => {
  receivedMessages = [];
  runningTurn = undefined;
});

interface TestServer {
  readonly url: string;
  readonly server: Server;
  readonly client: OpenAI;
}

async function startServer(options: ServerOptions = {}, apiKey = "none"): Promise<TestServer> {
  const server = createServer(
    { actor: scriptedAgent },
    { store: "memory", mountedHandlers: [createOpenAiFacade()], ...options },
  );
  onTestFinished(() => server.close({ graceMs: 50 }));
  const { url } = await server.listen();
  return { url, server, client: createOpenAiClient(url, apiKey) };
}

const createOpenAiClient = (url: string, apiKey = "none"): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });

type ChatMessages = OpenAI.Chat.ChatCompletionMessageParam[];
const createUserMessage = (content: string): ChatMessages[number] => ({ role: "user", content });
const createAssistantMessage = (content: string | null | undefined): ChatMessages[number] => ({
  role: "assistant",
  content: content ?? "",
});

/** The fields in the façade's responses that OpenAI's responses do not contain. */
function getMetadata(completion: unknown): Record<string, string> {
  return (completion as { metadata: Record<string, string> }).metadata;
}

const createCompletion = (
  client: OpenAI,
  messages: ChatMessages,
  extra: object = {},
): Promise<OpenAI.Chat.ChatCompletion> =>
  client.chat.completions.create({ model: "actor", messages, ...extra, stream: false });

const getAnswerText = ({ choices }: OpenAI.Chat.ChatCompletion): string => choices[0]?.message.content ?? "";

async function catchApiError(asked: PromiseLike<unknown>): Promise<APIError> {
  const error: unknown = await asked.then(
    () => new Error("It was not refused."),
    (error: unknown) => error,
  );
  if (error instanceof APIError) return error;
  throw error;
}

describe("the official OpenAI client", () => {
  it("lists agents as models", async () => {
    const { client } = await startServer();
    const models = await client.models.list();
    expect(models.data.map(({ id }) => id)).toEqual(["actor"]);
    expect(await client.models.retrieve("actor")).toMatchObject({ id: "actor", object: "model" });
    expect(await catchApiError(client.models.retrieve("unknown"))).toMatchObject({
      status: 404,
      code: "not_found",
    });
  });

  it("receives an answer", async () => {
    const { client } = await startServer();
    const completion = await createCompletion(client, [createUserMessage("hello")]);
    expect(completion).toMatchObject({
      object: "chat.completion",
      model: "actor",
      choices: [
        { index: 0, message: { role: "assistant", content: "You said hello" }, finish_reason: "stop" },
      ],
    });
    expect(getMetadata(completion)).toMatchObject({ task_state: "TASK_STATE_COMPLETED" });
    expect(completion.usage).toBeUndefined();
  });

  it("receives a streamed answer", async () => {
    const { client } = await startServer();
    const stream = await client.chat.completions.create({
      model: "actor",
      messages: [createUserMessage("wait")],
      stream: true,
      stream_options: { include_usage: true },
    });
    const output: string[] = [];
    const chunks: OpenAI.Chat.ChatCompletionChunk[] = [];
    for await (const chunk of stream) {
      chunks.push(chunk);
      const { content } = chunk.choices[0]?.delta ?? {};
      if (!content) continue;
      output.push(content);
      // The agent continues only after this chunk was read.
      runningTurn?.goOn();
    }
    expect(output).toEqual(["begun", " and done"]);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 0 } });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  it("receives [DONE] at the end of a stream, and usage only on request", async () => {
    const { url } = await startServer();
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "actor", messages: [createUserMessage("hello")], stream: true }),
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const text = await response.text();
    expect(text).toMatch(/\n\ndata: \[DONE\]\n\n$/);
    expect(text).not.toContain("usage");
  });

  it("receives the message of an agent that answers without a task", async () => {
    const { client } = await startServer();
    expect(getAnswerText(await createCompletion(client, [createUserMessage("reply")]))).toBe(
      "a plain answer",
    );
  });

  it("receives data as JSON, and files by name and URL", async () => {
    const { client } = await startServer();
    expect(getAnswerText(await createCompletion(client, [createUserMessage("data")]))).toContain(
      '"a": [\n    1\n  ]',
    );
    expect(getAnswerText(await createCompletion(client, [createUserMessage("files")]))).toBe(
      "Here:\n\n\n![a](<https://example.com/a.png>)\n\n\n\n[report.pdf]\n",
    );
  });

  it("sends images, audio, and files", async () => {
    const { client } = await startServer();
    const png = "data:image/png;base64,iVBORw0KGgo=";
    await createCompletion(client, [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: png } },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
          { type: "file", file: { file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" } },
          { type: "text", text: "look" },
        ],
      },
    ]);
    expect(receivedMessages[0]?.parts).toEqual([
      { raw: "iVBORw0KGgo=", mediaType: "image/png" },
      { url: "https://example.com/a.png" },
      { raw: "AAAA", mediaType: "audio/mpeg" },
      { raw: "AAAA", mediaType: "application/pdf", filename: "a.pdf" },
      { text: "look" },
    ]);
  });
});

it("the AI SDK receives an answer and a stream", async () => {
  const { url } = await startServer();
  const model = createOpenAICompatible({ name: "agents", baseURL: `${url}/v1` })("actor");
  expect((await generateText({ model, prompt: "hello" })).text).toBe("You said hello");
  const pieces: string[] = [];
  for await (const piece of streamText({ model, prompt: "hello" }).textStream) pieces.push(piece);
  expect(pieces.join("")).toBe("You said hello");
});

describe("a conversation", () => {
  it("continues in its context, and the agent receives only new messages", async () => {
    const { client } = await startServer();
    const first = await createCompletion(client, [createUserMessage("one")]);
    const messages = [
      createUserMessage("one"),
      createAssistantMessage(getAnswerText(first)),
      createUserMessage("two"),
    ];
    const second = await createCompletion(client, messages);
    const third = await createCompletion(client, [
      ...messages,
      createAssistantMessage(getAnswerText(second)),
      createUserMessage("three"),
    ]);
    expect(new Set([first, second, third].map((one) => getMetadata(one)["context_id"])).size).toBe(1);
    expect(receivedMessages.map(({ parts }) => parts)).toEqual([
      [{ text: "one" }],
      [{ text: "two" }],
      [{ text: "three" }],
    ]);
  });

  it("continues after a streamed answer", async () => {
    const { client } = await startServer();
    const stream = client.chat.completions.stream({ model: "actor", messages: [createUserMessage("one")] });
    const first = await stream.finalContent();
    await createCompletion(client, [
      createUserMessage("one"),
      createAssistantMessage(first),
      createUserMessage("two"),
    ]);
    expect(receivedMessages[1]?.contextId).toBe(receivedMessages[0]?.contextId);
  });

  it("answers a question within its task", async () => {
    const { client } = await startServer();
    const asked = await createCompletion(client, [createUserMessage("ask")]);
    expect(getAnswerText(asked)).toBe("Well. \n\nWhich city?");
    expect(getMetadata(asked)["task_state"]).toBe("TASK_STATE_INPUT_REQUIRED");
    const done = await createCompletion(client, [
      createUserMessage("ask"),
      createAssistantMessage(getAnswerText(asked)),
      createUserMessage("Seoul"),
    ]);
    expect(getAnswerText(done)).toBe("You said Seoul");
    expect(getMetadata(done)).toEqual({ ...getMetadata(asked), task_state: "TASK_STATE_COMPLETED" });
  });

  it("continues in the context that the client selects by metadata", async () => {
    const { client } = await startServer();
    const asked = await createCompletion(client, [createUserMessage("ask")], {
      metadata: { context_id: "mine", colour: "red" },
    });
    const { task_id, context_id } = getMetadata(asked);
    expect(context_id).toBe("mine");
    const done = await createCompletion(client, [createUserMessage("Paris")], {
      metadata: { task_id: task_id ?? "" },
    });
    expect(getMetadata(done)).toMatchObject({ task_id, context_id: "mine" });
  });

  it("that the agent does not know is sent as a transcript in a new context", async () => {
    const { client } = await startServer();
    await createCompletion(client, [
      { role: "system", content: "Be brief." },
      createUserMessage("one"),
      createAssistantMessage("Something else."),
      createUserMessage("two"),
    ]);
    expect(receivedMessages[0]?.parts).toEqual([
      {
        text: "Earlier messages:\n\n[system]\nBe brief.\n\n[user]\none\n\n[assistant]\nSomething else.\n\n[user]\n",
      },
      { text: "two" },
    ]);
  });

  it("that is continued twice from one point becomes two conversations", async () => {
    const { client } = await startServer();
    const first = getAnswerText(await createCompletion(client, [createUserMessage("one")]));
    await createCompletion(client, [
      createUserMessage("one"),
      createAssistantMessage(first),
      createUserMessage("two"),
    ]);
    await createCompletion(client, [
      createUserMessage("one"),
      createAssistantMessage(first),
      createUserMessage("other"),
    ]);
    expect(receivedMessages[1]?.contextId).toBe(receivedMessages[0]?.contextId);
    expect(receivedMessages[2]?.contextId).not.toBe(receivedMessages[0]?.contextId);
    expect(receivedMessages[2]?.parts[0]).toMatchObject({
      text: expect.stringContaining("[user]\none") as string,
    });
  });

  it("is not confused with another one of equal text", async () => {
    const { client } = await startServer();
    const output = getAnswerText(await createCompletion(client, [createUserMessage("hi")]));
    await createCompletion(client, [createUserMessage("hi")]);
    await createCompletion(client, [
      createUserMessage("hi"),
      createAssistantMessage(output),
      createUserMessage("secret"),
    ]);
    expect(new Set(receivedMessages.map(({ contextId }) => contextId)).size).toBe(3);
    // The client can select the context explicitly.
    await createCompletion(client, [createUserMessage("hi")], { user: "ada" });
    await createCompletion(client, [createUserMessage("hi")], { user: "bob" });
    await createCompletion(
      client,
      [createUserMessage("hi"), createAssistantMessage(output), createUserMessage("secret")],
      { user: "ada" },
    );
    expect(receivedMessages[5]?.contextId).toBe(receivedMessages[3]?.contextId);
  });
});

describe("a client that disconnects", () => {
  it("leaves its task running", async () => {
    const { client, url } = await startServer();
    const stream = await client.chat.completions.create({
      model: "actor",
      messages: [createUserMessage("wait")],
      stream: true,
    });
    let taskId = "";
    for await (const chunk of stream) {
      taskId = getMetadata(chunk)["task_id"] ?? "";
      break;
    }
    runningTurn?.goOn();
    const remote = await connect(url);
    for await (const _ of remote.tasks.subscribe(taskId, { after: 0 })) void _;
    expect((await remote.tasks.get(taskId)).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it.each([true, false])("cancels its task if requested; stream: %s", async (stream) => {
    const { client } = await startServer();
    const leave = new AbortController();
    const metadata = { cancel_on_disconnect: "true" };
    const asked = { model: "actor", messages: [createUserMessage("wait")], metadata, stream };
    const answer = client.chat.completions.create(asked, { signal: leave.signal });
    if (stream) await answer;
    else answer.catch(() => {});
    await expect.poll(() => runningTurn, { interval: 1 }).toBeDefined();
    leave.abort();
    expect(await runningTurn?.aborted).toBeDefined();
  });
});

describe("a request that a client repeats with the same Idempotency-Key", () => {
  /** Sends a request, disconnects after the first text of the answer, and lets the agent finish. */
  const sendAndDisconnect = async (
    client: OpenAI,
    messages: ChatMessages,
    idempotencyKey: string,
  ): Promise<void> => {
    const stream = await client.chat.completions.create(
      { model: "actor", messages, stream: true },
      { headers: { "Idempotency-Key": idempotencyKey } },
    );
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    runningTurn?.goOn();
  };
  const repeat = (
    client: OpenAI,
    messages: ChatMessages,
    idempotencyKey: string,
  ): Promise<OpenAI.Chat.ChatCompletion> =>
    client.chat.completions.create(
      { model: "actor", messages },
      { headers: { "Idempotency-Key": idempotencyKey } },
    );

  it("receives the answer of the same task in a later turn", async () => {
    const { client } = await startServer();
    const first = await createCompletion(client, [createUserMessage("one")]);
    const messages = [
      createUserMessage("one"),
      createAssistantMessage(getAnswerText(first)),
      createUserMessage("wait"),
    ];
    await sendAndDisconnect(client, messages, "k");
    const second = await repeat(client, messages, "k");
    expect(getAnswerText(second)).toBe("begun and done");
    expect(getMetadata(await repeat(client, messages, "k"))).toEqual(getMetadata(second));
    expect(receivedMessages).toHaveLength(2);
    const answered = [...messages, createAssistantMessage("begun and done")];
    const third = await createCompletion(client, [...answered, createUserMessage("three")]);
    expect(getMetadata(third)["context_id"]).toBe(getMetadata(first)["context_id"]);
  });

  it("receives the whole answer after the answer to a question", async () => {
    const { client } = await startServer();
    const asked = await createCompletion(client, [createUserMessage("ask")]);
    const messages = [
      createUserMessage("ask"),
      createAssistantMessage(getAnswerText(asked)),
      createUserMessage("wait"),
    ];
    await sendAndDisconnect(client, messages, "k");
    await repeat(client, messages, "k");
    expect(getAnswerText(await repeat(client, messages, "k"))).toMatch(/begun and done$/);
    expect(receivedMessages).toHaveLength(2);
  });
});

describe("a stream", () => {
  const begin = (client: OpenAI): Promise<AsyncIterable<OpenAI.Chat.ChatCompletionChunk>> =>
    client.chat.completions.create({ model: "actor", messages: [createUserMessage("wait")], stream: true });

  it("without output sends heartbeats", async () => {
    const { url } = await startServer({ mountedHandlers: [createOpenAiFacade({ heartbeatMs: 5 })] });
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "actor", messages: [createUserMessage("wait")], stream: true }),
    });
    let text = "";
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (text.includes(": keep-alive\n\n")) runningTurn?.goOn();
    }
    expect(text).toMatch(/begun[^]*keep-alive[^]*and done[^]*\[DONE\]/);
  });

  it("reports that the server is closing", async () => {
    const { client, server } = await startServer();
    const stream = await begin(client);
    const read = async (): Promise<void> => {
      for await (const { choices } of stream)
        if (choices[0]?.delta.content === "begun") void server.close({ graceMs: 50 });
    };
    await expect(read()).rejects.toThrow(/server/);
  });
});

describe("an unsuccessful request", () => {
  it("a task that fails returns an error that is not retried", async () => {
    const { url } = await startServer();
    const retrying = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 2 });
    expect(await catchApiError(createCompletion(retrying, [createUserMessage("fail")]))).toMatchObject({
      status: 422,
      code: "task_failed",
      type: "server_error",
      error: { message: "The oven is cold." },
    });
    expect(receivedMessages).toHaveLength(1);
    const error = await catchApiError(createCompletion(retrying, [createUserMessage("throw")]));
    expect(error.message).not.toContain("secret");
    expect(receivedMessages).toHaveLength(2);
  });

  it("a task that fails during a stream ends it with an error", async () => {
    const { client } = await startServer();
    const stream = await client.chat.completions.create({
      model: "actor",
      messages: [createUserMessage("fail")],
      stream: true,
    });
    const read = async (): Promise<void> => {
      for await (const _ of stream) void _;
    };
    expect(await catchApiError(read())).toMatchObject({ code: "task_failed" });
  });

  it.each([
    ["rejects an unknown agent", { model: "unknown" }, 404, "model"],
    ["rejects an empty list of messages", { messages: [] }, 400, "messages"],
    [
      "rejects a final assistant message",
      { messages: [createUserMessage("a"), createAssistantMessage("b")] },
      400,
      "messages",
    ],
    ["rejects an unknown role", { messages: [{ role: "pope", content: "a" }] }, 400, "messages[0].role"],
    [
      "rejects an uploaded file",
      { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] },
      400,
      "messages[0].content[0]",
    ],
    ["rejects a request for three answers", { n: 3 }, 400, "n"],
    ["rejects a JSON response format", { response_format: { type: "json_object" } }, 400, "response_format"],
    ["rejects a required tool call", { tool_choice: "required" }, 400, "tool_choice"],
    ["rejects metadata that are not strings", { metadata: { a: 1 } }, 400, "metadata"],
    ["rejects an unknown task", { metadata: { task_id: "none" } }, 404, null],
  ])("%s", async (_what, extra, status, param) => {
    const { client } = await startServer();
    const error = await catchApiError(createCompletion(client, [createUserMessage("hello")], extra));
    expect(error.status).toBe(status);
    expect(error.param).toBe(status === 404 ? null : param);
    expect(receivedMessages).toEqual([]);
  });

  it("a body that is too large or is not JSON is rejected", async () => {
    const { url } = await startServer({
      mountedHandlers: [createOpenAiFacade({ maxBodyBytes: 1_000, maxJsonValues: 100 })],
    });
    const send = async (body: string, type = "application/json"): Promise<number> => {
      const init = { method: "POST", headers: { "content-type": type }, body };
      return (await fetch(`${url}/v1/chat/completions`, init)).status;
    };
    expect(await send("x".repeat(2_000))).toBe(413);
    expect(await send(`[${"0,".repeat(100)}0]`)).toBe(413);
    expect(await send("{")).toBe(400);
    expect(await send("[]")).toBe(400);
    expect(await send("{}", "text/plain")).toBe(400);
    expect((await fetch(`${url}/v1/chat/completions`)).status).toBe(405);
  });
});

it("a body that is too large according to Content-Length receives 413 before the client has sent it", async () => {
  const { url } = await startServer({ mountedHandlers: [createOpenAiFacade()] });
  const headers = { "content-type": "application/json", "content-length": 2 ** 40 };
  const sent = httpRequest(`${url}/v1/chat/completions`, { method: "POST", headers });
  sent.on("error", () => {});
  sent.flushHeaders();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(413);
  expect(await readText(response)).toContain("10,485,760 bytes");
});

describe("authentication of the façade", () => {
  const { key, storedKey } = generateApiKey("ada");
  const authenticate = [
    bearer({ tokens: { "the-token-of-bob": "bob" } }),
    apiKeys({ in: "header", name: "X-API-Key", keys: [storedKey] }),
  ];

  const adaAt = (url: string): OpenAI =>
    new OpenAI({
      baseURL: `${url}/v1`,
      apiKey: "none",
      maxRetries: 0,
      defaultHeaders: { Authorization: null, "X-API-Key": key },
    });

  it("uses the server's credentials", async () => {
    const { url } = await startServer({ authenticate });
    expect(
      getAnswerText(
        await createCompletion(createOpenAiClient(url, "the-token-of-bob"), [createUserMessage("hello")]),
      ),
    ).toBe("You said hello");
    const ada = adaAt(url);
    expect(getAnswerText(await createCompletion(ada, [createUserMessage("hello")]))).toBe("You said hello");
    for (const asked of [
      createCompletion(createOpenAiClient(url, "wrong"), [createUserMessage("hello")]),
      createOpenAiClient(url, "wrong").models.list(),
    ])
      expect(await catchApiError(asked)).toMatchObject({ status: 401, code: "invalid_api_key" });
    expect(receivedMessages).toHaveLength(2);
  });

  it("separates the conversations of different callers", async () => {
    const { url } = await startServer({ authenticate });
    const asked = await createCompletion(createOpenAiClient(url, "the-token-of-bob"), [
      createUserMessage("ask"),
    ]);
    const { task_id = "" } = getMetadata(asked);
    const bob = await connect(url, { auth: { bearer: "the-token-of-bob" } });
    expect((await bob.tasks.list()).tasks.map(({ id }) => id)).toEqual([task_id]);
    const ada = adaAt(url);
    const stolen = createCompletion(ada, [createUserMessage("Seoul")], { metadata: { task_id } });
    expect(await catchApiError(stolen)).toMatchObject({ status: 404, code: "task_not_found" });
    // Equal messages of another caller are a different conversation.
    await createCompletion(ada, [
      createUserMessage("ask"),
      createAssistantMessage(getAnswerText(asked)),
      createUserMessage("Seoul"),
    ]);
    expect(receivedMessages[1]?.contextId).not.toBe(receivedMessages[0]?.contextId);
  });

  it("rejects a foreign host name on loopback", async () => {
    const { url } = await startServer();
    const status = await new Promise((resolve, reject) => {
      const { port } = new URL(url);
      const headers = { host: "evil.example.com" };
      import("node:http")
        .then(({ get }) =>
          get({ port, host: "127.0.0.1", path: "/v1/models", headers }, (response) => {
            response.resume();
            resolve(response.statusCode);
          }).on("error", reject),
        )
        .catch(reject);
    });
    expect(status).toBe(403);
  });

  it("returns 404 without a façade", async () => {
    const { client } = await startServer({ mountedHandlers: [] });
    expect(await catchApiError(client.models.list())).toMatchObject({ status: 404 });
  });
});

describe("mounted on a server", () => {
  it.each([
    ["below a base path", { basePath: "/agents" }],
    ["behind a proxy", { publicUrl: "https://example.com/agents" }],
    ["with A2A 1.0 only", { versions: ["1.0"] }],
    ["with A2A 0.3 only", { versions: ["0.3"] }],
    ["with tenants", { tenants: [""] }],
  ] as [string, ServerOptions][])("answers %s", async (_name, options) => {
    const server = createServer(
      { actor: scriptedAgent },
      { store: "memory", mountedHandlers: [createOpenAiFacade()], ...options },
    );
    onTestFinished(() => server.close({ graceMs: 50 }));
    const { port } = await server.listen();
    const client = createOpenAiClient(`http://127.0.0.1:${port}${options.basePath ?? ""}`);
    expect(getAnswerText(await createCompletion(client, [createUserMessage("hello")]))).toBe(
      "You said hello",
    );
  });

  it("answers in a server that is a function", async () => {
    const server = createServer(
      { actor: scriptedAgent },
      { store: "memory", mountedHandlers: [createOpenAiFacade()] },
    );
    onTestFinished(() => server.close());
    const client = new OpenAI({
      baseURL: "http://agents.test/v1",
      apiKey: "none",
      fetch: (input, init) => server.fetch(new Request(input, init)),
    });
    expect(getAnswerText(await createCompletion(client, [createUserMessage("hello")]))).toBe(
      "You said hello",
    );
  });

  it("leaves all other paths to the agents", async () => {
    const { url } = await startServer();
    const remote = await connect(url, { version: "0.3", binding: "HTTP+JSON", allowOlderVersion: true });
    expect(await remote.send("hello")).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
  });
});

describe("in front of remote agents", () => {
  async function facade(options: OpenAiFacadeOptions): Promise<string> {
    const http = createHttpServer(toNodeListener(createOpenAiFacade(options).fetch)).listen(0, "127.0.0.1");
    onTestFinished(() => void http.close());
    onTestFinished(() => http.closeAllConnections());
    await once(http, "listening");
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  }

  it("accepts authenticated callers with their agents", async () => {
    const { url } = await startServer({ authenticate: bearer({ tokens: { "a-token-that-is-ours": "us" } }) });
    const remoteServer: A2AClient = await connect(url, { auth: { bearer: "a-token-that-is-ours" } });
    const keys = new Map([["Bearer adas-key", "ada"]]);
    const at = await facade({
      agents: (request) => {
        const caller = keys.get(request.headers.get("authorization") ?? "");
        return caller === undefined ? undefined : { caller, agents: { far: remoteServer } };
      },
    });
    const ada = createOpenAiClient(at, "adas-key");
    expect((await ada.models.list()).data.map(({ id }) => id)).toEqual(["far"]);
    const completion = await ada.chat.completions.create({
      model: "far",
      messages: [createUserMessage("hello")],
    });
    expect(getAnswerText(completion)).toBe("You said hello");
    expect(
      await catchApiError(createCompletion(createOpenAiClient(at, "wrong"), [createUserMessage("hello")])),
    ).toMatchObject({ status: 401 });
    expect(receivedMessages).toHaveLength(1);
  });

  it("continues a conversation after an agent was temporarily busy", async () => {
    const localServer: A2AClient = await connect((await startServer()).url);
    let isBusy = false;
    const remoteServer: A2AClient = {
      ...localServer,
      card: localServer.card,
      stream: (...output) => {
        if (isBusy) throw new A2AError("RESOURCE_EXHAUSTED", "Too much.", { retryAfter: 3 });
        return localServer.stream(...output);
      },
    };
    const client = createOpenAiClient(
      await facade({ agents: () => ({ caller: "", agents: { actor: remoteServer } }) }),
    );
    const messages = [
      createUserMessage("one"),
      createAssistantMessage(getAnswerText(await createCompletion(client, [createUserMessage("one")]))),
      createUserMessage("two"),
    ];
    isBusy = true;
    const error = await catchApiError(createCompletion(client, messages));
    expect(error).toMatchObject({ status: 429, type: "rate_limit_error" });
    expect(error.headers?.get("retry-after")).toBe("3");
    expect(error.headers?.get("x-should-retry")).toBe("true");
    isBusy = false;
    await createCompletion(client, messages);
    expect(receivedMessages.map(({ contextId }) => contextId)).toEqual([
      receivedMessages[0]?.contextId,
      receivedMessages[0]?.contextId,
    ]);
  });

  it("reports unreachable agents, and hides internal errors from the client", async () => {
    const errors: unknown[] = [];
    const observer = { onError: ({ error }: { error: unknown }) => void errors.push(error) };
    const gone: A2AClient = await connect((await startServer()).url);
    const remoteServer = {
      ...gone,
      card: gone.card,
      stream: () => {
        throw new A2AError("UNAVAILABLE", "No answer.");
      },
    };
    const at = await facade({ observer, agents: () => ({ caller: "", agents: { actor: remoteServer } }) });
    expect(
      await catchApiError(createCompletion(createOpenAiClient(at), [createUserMessage("hello")])),
    ).toMatchObject({
      status: 503,
      code: "unavailable",
    });
    const broken = await facade({
      observer,
      agents: () => {
        throw new Error("secret");
      },
    });
    const error = await catchApiError(
      createCompletion(createOpenAiClient(broken), [createUserMessage("hello")]),
    );
    expect(error.status).toBe(500);
    expect(error.message).not.toContain("secret");
    const alone = await facade({ observer });
    expect(
      (await catchApiError(createCompletion(createOpenAiClient(alone), [createUserMessage("hello")]))).status,
    ).toBe(500);
    expect(errors).toMatchObject([
      { message: "secret" },
      { message: expect.stringContaining("has no agents") as string },
    ]);
  });
});
