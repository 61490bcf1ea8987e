import { findUntrustedOriginError, getInterfaceOrigin, type TrustedOrigins } from "../../../client/index.ts";
import { appliesTo, type ActsTest, type Binding, type JsonMap } from "./corpus.ts";
import { readAllPaths, readPath } from "./expressions.ts";
import { createJsonRpcTransport, createRestTransport, fetchAgentCard } from "./http-transport.ts";
import { runTest, type TestResult } from "./run-test.ts";
import type { TestContext } from "./test-run.ts";
import { createRequestHeaders, type Transport } from "./transport.ts";
import { BINDING_NAMES } from "./wire-tables.ts";
import type { WebhookReceiver } from "./webhook-receiver.ts";

export const BINDINGS: readonly Binding[] = ["jsonrpc", "rest", "grpc"];

/** Values of the variables that the official suites leave to the runner. The tokens are those of a2a-itk. */
const RUNNER_VARIABLES: JsonMap = {
  insufficientAuthToken: "itk-insufficient-token",
  otherUserTaskId: "00000000-0000-0000-0000-0000000000ff",
};

/** A running server, and what the runner knows about it. */
export interface ServerUnderTest {
  readonly baseUrl: string;
  /** Version of A2A that requests have. Default: 1.0. */
  readonly specVersion?: string;
  readonly token: string | undefined;
  /** Origins that may receive the token besides the host and port of the card. Default: none. */
  readonly trustedOrigins?: TrustedOrigins | undefined;
  readonly behaviors: TestContext["behaviors"];
  readonly webhooks: WebhookReceiver | undefined;
  /** Called after each test. */
  readonly onResult?: ((result: TestResult) => void) | undefined;
}

/** Runs the tests of a corpus that are graded on a binding. Several tests run at the same time. */
export async function runSuite(
  tests: readonly ActsTest[],
  context: TestContext,
  onResult?: ServerUnderTest["onResult"],
  concurrency: number = 8,
): Promise<TestResult[]> {
  const applicable = tests.filter((test) => appliesTo(test, context.binding));
  if (context.card && !context.transport) {
    const reason = "The agent card has no interface for the binding.";
    return applicable.map((test) => ({ test, durationMs: 0, outcome: "not verified", reason }));
  }
  return await mapConcurrently(applicable, concurrency, async (test) => {
    const result = await runTest(test, context);
    onResult?.(result);
    return result;
  });
}

/**
 * Reads the agent card, and opens the interface of a binding. Without a card, or if the card has no such interface, the
 * context has no transport.
 */
export async function createTestContext(binding: Binding, server: ServerUnderTest): Promise<TestContext> {
  const { baseUrl, token, specVersion = "1.0" } = server;
  const options = {
    headers: createRequestHeaders(specVersion, token),
    signal: AbortSignal.timeout(30_000),
  };
  const cardReply = await fetchAgentCard(baseUrl, options).catch(() => undefined);
  const card = cardReply && !cardReply.error ? (cardReply.body as JsonMap) : undefined;
  const url = card && findInterfaceUrl(card, binding, specVersion);
  const transport = url === undefined ? undefined : await createTransport(binding, url);
  // The card may name any server, and only the server of the card may receive the token.
  const isTrusted = url === undefined || isTrustedInterface(url, binding, server);
  return {
    ...server,
    token: isTrusted ? token : undefined,
    binding,
    specVersion,
    card,
    transport,
    variables: RUNNER_VARIABLES,
  };
}

/** Returns true if an interface may receive the token. A change from HTTPS to HTTP makes it untrusted. */
function isTrustedInterface(
  url: string,
  binding: Binding,
  { baseUrl: cardUrl, trustedOrigins = [] }: ServerUnderTest,
): boolean {
  try {
    const agentInterface = { url, protocolBinding: BINDING_NAMES[binding], protocolVersion: "1.0" };
    if (findUntrustedOriginError(agentInterface, cardUrl, trustedOrigins)) return false;
    return !cardUrl.startsWith("https:") || getInterfaceOrigin(agentInterface).startsWith("https:");
  } catch {
    return false;
  }
}

/** Returns the URL of a binding in the card. An interface of the version takes precedence. */
function findInterfaceUrl(card: JsonMap, binding: Binding, version: string): string | undefined {
  const candidates = readAllPaths(card, "supportedInterfaces[*]").filter(
    (candidate) => readPath(candidate, "protocolBinding") === BINDING_NAMES[binding],
  );
  const chosen =
    candidates.find((candidate) => readPath(candidate, "protocolVersion") === version) ?? candidates[0];
  const url = readPath(chosen, "url");
  return typeof url === "string" && url !== "" ? url : undefined;
}

/** Loads gRPC only if a test needs it, because its packages are optional. */
export async function createTransport(binding: Binding, url: string): Promise<Transport> {
  if (binding === "grpc") return (await import("./grpc-transport.ts")).createGrpcTransport(url);
  return binding === "rest" ? createRestTransport(url) : createJsonRpcTransport(url);
}

/** Calls `work` with each item, for a limited number of items at the same time. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items.entries()];
  const takeItems = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: limit }, takeItems));
  return results;
}
