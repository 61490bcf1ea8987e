import { setTimeout } from "node:timers/promises";
import { type JsonObject, parseModelRetryDelay, stripTrailingCharacters } from "../../../protocol/index.ts";
import { parseSse } from "../../../wire/index.ts";

/** An OpenAI-compatible endpoint and its retry limits. */
interface CompletionEndpoint {
  /** The base URL of the API without `/chat/completions`, for example `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Maximum number of retries after a network error or a response with status 408, 429, or 5xx. */
  readonly maxRetries: number;
  /**
   * Maximum delay in milliseconds before a retry. If the endpoint requests a longer delay with `Retry-After`,
   * the request is not retried.
   */
  readonly maxRetryDelayMs: number;
}

/**
 * Yields the chunks of a completion as the endpoint sends them. If the endpoint does not support streaming,
 * the complete response is the only chunk. If a request receives no response, the request is retried. Once
 * the response has started, the request is not retried, because a retry would repeat text.
 */
export async function* streamCompletion(
  endpoint: CompletionEndpoint,
  body: JsonObject,
  signal: AbortSignal,
): AsyncGenerator<unknown, void, undefined> {
  const response = await postWithRetries(endpoint, body, signal);
  const type = response.headers.get("content-type") ?? "";
  if (!response.body || type.includes("application/json")) {
    yield await response.json();
    return;
  }
  let isComplete = false;
  for await (const { data } of parseSse(response.body)) {
    if (data === "[DONE]") {
      isComplete = true;
      break;
    }
    const chunk = parseChunkJson(data, endpoint);
    // Some endpoints end the stream without `[DONE]`.
    isComplete ||= hasFinishReason(chunk);
    yield chunk;
  }
  if (!isComplete)
    throw new Error(
      `${buildCompletionsUrl(endpoint)} ended its stream before the answer was complete. Try again.`,
    );
}

async function postWithRetries(
  endpoint: CompletionEndpoint,
  body: JsonObject,
  signal: AbortSignal,
): Promise<Response> {
  const { fetch: fetchFunction = fetch, apiKey, headers, maxRetries, maxRetryDelayMs } = endpoint;
  const url = buildCompletionsUrl(endpoint);
  const request = {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream, application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      ...headers,
    },
    body: JSON.stringify(body),
    signal,
    // On a redirect, `fetch` would send the conversation and all headers except the bearer token to another
    // host.
    redirect: "manual" as const,
  };
  for (let attempt = 0; ; attempt++) {
    let failure: Error;
    let delayMs: number | undefined;
    try {
      const response = await fetchFunction(url, request);
      if (response.ok) return response;
      failure = await toResponseError(response, url);
      if (!isRetryableStatus(response.status)) throw failure;
      delayMs = parseModelRetryDelay((name) => response.headers.get(name), Date.now());
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      // `fetch` throws a `TypeError` if the endpoint does not respond.
      failure = new Error(`${url} cannot be reached. Check that it is running and that baseUrl is correct.`, {
        cause: error,
      });
    }
    delayMs ??= Math.min(500 * 2 ** attempt, maxRetryDelayMs);
    if (attempt >= maxRetries || delayMs > maxRetryDelayMs) throw failure;
    await setTimeout(delayMs, undefined, { signal });
  }
}

function buildCompletionsUrl({ baseUrl }: CompletionEndpoint): string {
  return `${stripTrailingCharacters(baseUrl, "/")}/chat/completions`;
}

function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

const STATUS_HINTS: Readonly<Record<number, string>> = {
  400: "the model may not support a field of the request; check `extraBody`",
  401: "check apiKey",
  403: "apiKey is not authorized for this model",
  404: "check baseUrl (most end in /v1) and model",
  429: "too many requests, or no credit left",
};

async function toResponseError(response: Response, url: string): Promise<Error> {
  const responseText = (await response.text().catch(() => "")).slice(0, 1_000);
  const location = response.headers.get("location");
  const hint =
    location === null
      ? (STATUS_HINTS[response.status] ?? "try again later")
      : `it redirects to ${location}; change baseUrl if that address is correct`;
  return new Error(`${url} answered ${response.status}: ${hint}. Response: ${responseText}`);
}

function parseChunkJson(data: string, endpoint: CompletionEndpoint): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new Error(`${buildCompletionsUrl(endpoint)} sent invalid JSON: ${data.slice(0, 200)}`, {
      cause,
    });
  }
}

function hasFinishReason(chunk: unknown): boolean {
  const { choices } = (chunk ?? {}) as { choices?: readonly { finish_reason?: unknown }[] };
  return Array.isArray(choices) && choices.some((choice) => Boolean(choice?.finish_reason));
}
