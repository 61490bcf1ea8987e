import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A chat request that the fake model server received. */
export interface FakeModelRequest {
  /** Text of all messages. */
  readonly prompt: string;
  /** Number of the request with this prompt, starting at 1. */
  readonly attempt: number;
  /** Whether the request is from a planner that can only delegate, or that can answer. */
  readonly action: "call_solver" | "final_answer" | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  readonly authorization: string | undefined;
}

/** Response of the fake model server: a completion, or an error if `status` is set. */
export interface FakeModelResponse {
  readonly text?: string;
  readonly refusal?: string;
  readonly finish?: string;
  /** Reported tokens, or `none` to omit `usage`. Default: 10 prompt tokens and 5 completion tokens. */
  readonly usage?: "none";
  readonly status?: number;
  readonly error?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FakeModelServer {
  readonly baseUrl: string;
  readonly requests: readonly FakeModelRequest[];
  /** Largest number of requests that were open at the same time. */
  readonly maxRequestsInFlight: number;
}

/**
 * Starts a model server on a real socket that speaks OpenAI's chat completions API. The server stops when the
 * test ends.
 */
export async function startFakeModelServer(
  respond: (request: FakeModelRequest) => FakeModelResponse | Promise<FakeModelResponse>,
): Promise<FakeModelServer> {
  const requests: FakeModelRequest[] = [];
  let inFlight = 0;
  let maxRequestsInFlight = 0;
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      inFlight += 1;
      maxRequestsInFlight = Math.max(maxRequestsInFlight, inFlight);
      let text = "";
      for await (const piece of incoming.setEncoding("utf8")) text += String(piece);
      const body = JSON.parse(text) as { messages: { content: string }[]; response_format?: object };
      const prompt = body.messages.map(({ content }) => content).join("\n");
      const schema = JSON.stringify(body.response_format ?? {});
      const request: FakeModelRequest = {
        prompt,
        attempt: requests.filter((other) => other.prompt === prompt).length + 1,
        action: schema.includes("final_answer")
          ? "final_answer"
          : schema.includes("call_solver")
            ? "call_solver"
            : undefined,
        body: { ...body },
        authorization: incoming.headers.authorization,
      };
      requests.push(request);
      const reply = await respond(request);
      inFlight -= 1;
      const { status = 200, headers } = reply;
      outgoing.writeHead(status, { "content-type": "application/json", ...headers });
      outgoing.end(JSON.stringify(status === 200 ? renderCompletion(reply) : renderError(reply)));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get maxRequestsInFlight() {
      return maxRequestsInFlight;
    },
  };
}

/** Answers as a planner that delegates once, and as a solver and an answerer that say `18`. */
export function answerLikeAnyRole({ action }: FakeModelRequest): FakeModelResponse {
  if (action === "call_solver")
    return { text: '{"action":"call_solver","subtask":"Calculate 9 * 2","documents":null}' };
  if (action === "final_answer")
    return { text: '{"action":"final_answer","answer":"18","subtask":null,"documents":null}' };
  return { text: "Answer: 18" };
}

function renderCompletion({ text, refusal, finish = "stop", usage }: FakeModelResponse): object {
  return {
    id: "completion",
    model: "fake-2026",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: text ?? null, ...(refusal !== undefined && { refusal }) },
        finish_reason: finish,
      },
    ],
    ...(usage !== "none" && { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
  };
}

function renderError({ status = 500, error = `error ${status}` }: FakeModelResponse): object {
  return { error: { message: error, type: "fake", code: null } };
}
