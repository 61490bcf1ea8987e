import { appliesTo, type ActsTest, type Binding, type Corpus, type JsonMap } from "./corpus.ts";
import { readAllPaths, readPath } from "./expressions.ts";
import { createGrpcTransport } from "./grpc-transport.ts";
import { createJsonRpcTransport, createRestTransport, fetchAgentCard } from "./http-transport.ts";
import { runTest, type TestResult } from "./run-test.ts";
import type { TestContext } from "./test-run.ts";
import type { Transport } from "./transport.ts";
import type { WebhookReceiver } from "./webhook-receiver.ts";

export const BINDINGS: readonly Binding[] = ["jsonrpc", "rest", "grpc"];

/** Values of the variables that the official suites leave to the runner. The tokens are those of a2a-itk. */
const RUNNER_VARIABLES: JsonMap = {
  insufficientAuthToken: "itk-insufficient-token",
  otherUserTaskId: "00000000-0000-0000-0000-0000000000ff",
};
export const VALID_TOKEN = "itk-valid-token";

/** A running server, and what the runner knows about it. */
export interface ServerUnderTest {
  readonly baseUrl: string;
  readonly token: string | undefined;
  readonly behaviors: TestContext["behaviors"];
  readonly webhooks: WebhookReceiver | undefined;
}

/** Runs the tests of a corpus that are graded on a binding. Several tests run at the same time. */
export async function runSuite(
  { specVersion }: Pick<Corpus, "specVersion">,
  tests: readonly ActsTest[],
  binding: Binding,
  server: ServerUnderTest,
  concurrency: number = 8,
): Promise<TestResult[]> {
  const options = { headers: { "A2A-Version": specVersion }, signal: AbortSignal.timeout(30_000) };
  const cardReply = await fetchAgentCard(server.baseUrl, options).catch(() => undefined);
  const card = cardReply && !cardReply.error ? (cardReply.body as JsonMap) : undefined;
  const url = card && findInterfaceUrl(card, binding);
  const applicable = tests.filter((test) => appliesTo(test, binding));
  if (card && url === undefined) {
    const reason = "The agent card has no interface for the binding.";
    return applicable.map((test) => ({ test, durationMs: 0, outcome: "not verified", reason }));
  }
  const transport = url === undefined ? undefined : createTransport(binding, url);
  const context: TestContext = {
    ...server,
    binding,
    specVersion,
    card,
    transport,
    variables: RUNNER_VARIABLES,
  };
  try {
    return await mapConcurrently(applicable, concurrency, (test) => runTest(test, context));
  } finally {
    transport?.close();
  }
}

/** Returns the URL of a binding in the card. An interface of A2A 1.0 takes precedence. */
function findInterfaceUrl(card: JsonMap, binding: Binding): string | undefined {
  const name = { jsonrpc: "JSONRPC", rest: "HTTP+JSON", grpc: "GRPC" }[binding];
  const candidates = readAllPaths(card, "supportedInterfaces[*]").filter(
    (candidate) => readPath(candidate, "protocolBinding") === name,
  );
  const chosen =
    candidates.find((candidate) => readPath(candidate, "protocolVersion") === "1.0") ?? candidates[0];
  const url = readPath(chosen, "url");
  return typeof url === "string" && url !== "" ? url : undefined;
}

function createTransport(binding: Binding, url: string): Transport {
  return { jsonrpc: createJsonRpcTransport, rest: createRestTransport, grpc: createGrpcTransport }[binding](
    url,
  );
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
