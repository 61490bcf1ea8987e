import type { Mismatch } from "./assertions.ts";
import type { Binding, JsonMap } from "./corpus.ts";
import type { Scope } from "./expressions.ts";
import { fetchAgentCard, getCardUrl } from "./http-transport.ts";
import {
  createRequestHeaders,
  StreamedError,
  type CallOptions,
  type Reply,
  type Transport,
} from "./transport.ts";
import type { WebhookReceiver } from "./webhook-receiver.ts";
import { OPERATIONS, type ObservedError } from "./wire-tables.ts";

/** Time limit in milliseconds for a request, and for a stream without `timeout_ms`. */
const TIME_LIMIT_MS = 30_000;

/** The server under test on one binding, and what the runner offers. */
export interface TestContext {
  readonly binding: Binding;
  readonly specVersion: string;
  /** Base URL of the server, below which the agent card is. */
  readonly baseUrl: string;
  /** The agent card. Without a card, the address of the binding and the capabilities are unknown. */
  readonly card: JsonMap | undefined;
  readonly transport: Transport | undefined;
  /** Token for all abstract operations. Raw steps carry only their own headers. */
  readonly token: string | undefined;
  /** Behaviors that the server declares (ACTS §11). `undefined`: the server has no behaviors for tests. */
  readonly behaviors: ReadonlySet<string> | "all" | undefined;
  readonly webhooks: WebhookReceiver | undefined;
  readonly variables: JsonMap;
}

/** The state of one test. */
export interface TestRun {
  readonly context: TestContext;
  readonly scope: Scope;
  /** Address at the webhook receiver that only this test uses. */
  readonly webhookUrl: string | undefined;
  /** The requests of the test with their replies, as text. */
  readonly exchanges: string[];
  /** Whether the server refused a request because the run has no credentials. Such a test proves nothing. */
  isDenied?: boolean;
}

export class TestFailure extends Error {
  override readonly name = "TestFailure";
}

/** Ends a test with the outcome `not verified`. */
export class NotVerified extends Error {
  override readonly name = "NotVerified";
}

/** Ends a test with the outcome `failed`. */
export function fail(message: string): never {
  throw new TestFailure(message);
}

/** Fails the test with the first mismatch. */
export function raise(mismatches: readonly Mismatch[]): void {
  const [first] = mismatches;
  if (!first) return;
  const more = mismatches.length > 1 ? ` (and ${mismatches.length - 1} more)` : "";
  fail(`${first.path === "" ? "The value" : first.path} ${first.message}${more}.`);
}

export function formatError({ error_type: type, message }: ObservedError): string {
  return `${type}: ${String(message)}`;
}

export interface OperationCallOptions extends Pick<CallOptions, "onChunk"> {
  readonly timeoutMs?: number | undefined;
  /** Token instead of the token of the context. `null` sends no token. */
  readonly token?: string | null;
}

/** Calls an abstract operation with the headers that ACTS §12.4 requires. */
export async function callOperation(
  run: TestRun,
  operation: string,
  params: JsonMap,
  { timeoutMs, token = run.context.token, onChunk }: OperationCallOptions = {},
): Promise<Reply> {
  const { specVersion, baseUrl, transport } = run.context;
  const headers = createRequestHeaders(specVersion, token);
  const signal = createTimeLimit(timeoutMs);
  if (operation === "get_agent_card")
    return await recordExchange(
      run,
      `GET ${getCardUrl(baseUrl)}`,
      withTimeLimit(signal, fetchAgentCard(baseUrl, { headers, signal })),
    );
  if (!transport) throw new NotVerified("The agent card has no interface for the binding.");
  const request = addMessageId(params);
  return await recordExchange(
    run,
    `${OPERATIONS[operation]?.rpc ?? operation} ${shorten(JSON.stringify(request))}`,
    withTimeLimit(signal, transport.call(operation, request, { headers, signal, onChunk })),
  );
}

/** Adds a request and its reply to the exchanges of the test. Headers are left out, because they have credentials. */
export async function recordExchange(run: TestRun, request: string, pending: Promise<Reply>): Promise<Reply> {
  const record = (reply: string): void => void run.exchanges.push(`${request} → ${reply}`);
  try {
    const reply = await pending;
    if ((reply.status === 401 || reply.status === 403) && run.context.token === undefined)
      run.isDenied = true;
    const { status, error, body, events } = reply;
    const type = reply.headers["content-type"];
    const media = type === undefined ? "" : ` ${type}`;
    if (error) record(`${status}${media} ${shorten(JSON.stringify(error))}`);
    else record(`${status}${media} ${events ? "(a stream)" : shorten(JSON.stringify(body) ?? "(no body)")}`);
    return reply;
  } catch (failure) {
    record(failure instanceof Error ? failure.message : String(failure));
    throw failure;
  }
}

function shorten(text: string): string {
  return text.length > 600 ? `${text.slice(0, 600).toWellFormed()}…` : text;
}

export function createTimeLimit(timeoutMs: number = TIME_LIMIT_MS): AbortSignal {
  return AbortSignal.timeout(timeoutMs);
}

export async function withTimeLimit<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (signal.aborted) fail("The server did not respond before the time limit.");
    throw error;
  }
}

/** Every message needs an id (ACTS §12.4). */
function addMessageId(params: JsonMap): JsonMap {
  const { message } = params as { message?: JsonMap };
  if (!message || message["messageId"] !== undefined) return params;
  return { ...params, message: { messageId: crypto.randomUUID(), ...message } };
}

/** Collects the events of a stream. A stream that breaks or stays open has a problem. */
export async function collectEvents(
  reply: Reply,
  maximum: number = Number.POSITIVE_INFINITY,
  onEvent: () => void = () => {},
): Promise<{ events: readonly unknown[]; problem?: string }> {
  const events: unknown[] = [];
  try {
    for await (const event of reply.events ?? []) {
      events.push(event);
      onEvent();
      if (events.length >= maximum) break;
    }
    return { events };
  } catch (error) {
    const text =
      error instanceof StreamedError ? error.message : `the stream broke or did not end: ${String(error)}`;
    return { events, problem: `After ${events.length} events, ${text}` };
  }
}
