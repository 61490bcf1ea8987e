import { setTimeout } from "node:timers/promises";
import { check, checkHeaders, checkNamed, checkStream, describe } from "./assertions.ts";
import type { ActsTest, JsonMap, NamedAssertion, Preconditions, Step } from "./corpus.ts";
import {
  evaluateCondition,
  ExpressionError,
  MISSING,
  readAllPaths,
  readPath,
  storeCapture,
  substitute,
  type Scope,
} from "./expressions.ts";
import { SUPPLEMENTS } from "./supplements.ts";
import {
  callOperation,
  collectEvents,
  createTimeLimit,
  fail,
  formatError,
  NotVerified,
  raise,
  recordExchange,
  TestFailure,
  withTimeLimit,
  type TestContext,
  type TestRun,
} from "./test-run.ts";
import { ResponseError, type Reply } from "./transport.ts";
import { BINDING_NAMES, resolveErrorAlias } from "./wire-tables.ts";

export interface Outcome {
  readonly outcome: "passed" | "failed" | "not verified";
  /** What does not hold, or why the test proves nothing. */
  readonly reason?: string;
  /** Step that failed. */
  readonly step?: string;
  /** The last requests of a test that did not pass, each with its reply. */
  readonly exchanges?: readonly string[];
}

/** What a report has of a test: an ACTS test, or a rule of `rules/`. */
export type TestInfo = Pick<
  ActsTest,
  "id" | "name" | "level" | "suite" | "transport" | "description" | "spec_ref"
> & {
  /** The usual cause of a failure, or the change that corrects it. */
  readonly hint?: string;
};

export interface TestResult extends Outcome {
  readonly test: TestInfo;
  readonly durationMs: number;
}

/** Runs one test. Tests share nothing but the server, so they may run at the same time. */
export async function runTest(test: ActsTest, context: TestContext): Promise<TestResult> {
  const start = performance.now();
  const outcome = await determineOutcome(test, context);
  return { test, durationMs: Math.round(performance.now() - start), ...outcome };
}

async function determineOutcome(test: ActsTest, context: TestContext): Promise<Outcome> {
  const obstacle = findObstacle(test, context);
  if (obstacle) return obstacle;
  const webhookUrl = context.webhooks?.createUrl();
  const variables = { ...test.variables, ...context.variables, ...(webhookUrl ? { webhookUrl } : {}) };
  const scope: Scope = {
    captures: new Map(),
    variables,
    environment: process.env,
    createUuid: () => crypto.randomUUID(),
  };
  const run: TestRun = { context, scope, webhookUrl, exchanges: [] };
  let current: string | undefined;
  const outcome = await toOutcome(run, async () => {
    for (const step of test.steps) {
      current = step.id;
      await runStep(step, run);
    }
    current = undefined;
    checkAll(test.assertions, scope);
    await supplement(test, run);
  });
  return current === undefined || outcome.outcome === "passed" ? outcome : { ...outcome, step: current };
}

/** Number of exchanges in the result of a test that did not pass. */
const REPORTED_EXCHANGES = 3;

/** Runs the checks of a test, and converts what they throw to an outcome. */
export async function toOutcome(
  run: Pick<TestRun, "exchanges" | "isDenied">,
  work: () => Promise<void>,
): Promise<Outcome> {
  try {
    await work();
    return { outcome: "passed" };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const exchanges = run.exchanges.slice(-REPORTED_EXCHANGES);
    // An ExpressionError: the test refers to an undefined variable, and the server is not at fault.
    if (error instanceof NotVerified || error instanceof ExpressionError)
      return { outcome: "not verified", reason };
    if (run.isDenied)
      return { outcome: "not verified", reason: "The agent requires credentials: pass --bearer.", exchanges };
    if (error instanceof TestFailure || error instanceof ResponseError)
      return { outcome: "failed", reason, exchanges };
    if (isBrokenExchange(error))
      return {
        outcome: "failed",
        reason: `The response ended early, or took too long: ${reason}`,
        exchanges,
      };
    // An error of the runner says nothing about the server, and must not hide the other results.
    return { outcome: "not verified", reason: `The runner failed: ${reason}`, exchanges };
  }
}

/** Returns true for an error of `fetch` after the start of a response, and for the end of a time limit. */
function isBrokenExchange(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isOfFetch = error instanceof TypeError && /^(?:terminated|fetch failed)$/.test(error.message);
  return isOfFetch || error.name === "TimeoutError" || error.name === "AbortError";
}

/** Checks what the description of a test demands of the runner, beyond the steps. */
async function supplement(test: ActsTest, run: TestRun): Promise<void> {
  const check = SUPPLEMENTS[test.id];
  if (check === "steps") return;
  if (typeof check === "function") return await check(run);
  const demand = test.description?.split(".").find((sentence) => /Runner (?:MUST|SHOULD) /.test(sentence));
  if (check !== undefined) throw new NotVerified(check);
  if (demand !== undefined) throw new NotVerified(`The steps do not check this demand: ${demand.trim()}.`);
}

function findObstacle(test: ActsTest, context: TestContext): Outcome | undefined {
  const { card, behaviors } = context;
  if (!card && !test.steps.every(({ operation }) => operation === "get_agent_card"))
    return {
      outcome: "not verified",
      reason: "The agent card is not available, so the binding has no address.",
    };
  const unmet = card && findUnmetPrecondition(test.preconditions ?? {}, card);
  if (unmet !== undefined) return { outcome: "not verified", reason: unmet };
  const needsWebhook = test.runner_requirements?.includes("webhook_endpoint") && !context.webhooks;
  if (needsWebhook) return { outcome: "not verified", reason: "The runner has no webhook receiver." };
  const required = test.steps.some((step) => step.client_response)
    ? [...(test.requires_behaviors ?? []), "tck-client-parse"]
    : (test.requires_behaviors ?? []);
  const missing = required.filter((prefix) => behaviors !== "all" && !behaviors?.has(prefix));
  if (missing.length === 0) return undefined;
  const reason = `The server does not declare the behavior ${missing.join(", ")}.`;
  // A declared contract without the behavior is a gap of the server. A server without a contract is just unknown.
  return { outcome: behaviors ? "failed" : "not verified", reason };
}

/** Returns why a test does not apply to a server with this card (ACTS §12.5). */
export function findUnmetPrecondition(preconditions: Preconditions, card: JsonMap): string | undefined {
  for (const [name, wanted] of Object.entries(preconditions.capabilities ?? {})) {
    const value = readPath(card, `capabilities.${name}`);
    const actual = value === MISSING ? false : value;
    if (actual !== wanted)
      return `The card declares ${name} as ${describe(actual)}, and the test requires ${describe(wanted)}.`;
  }
  const requiresAuthentication = readAllPaths(card, "securityRequirements[*]").length > 0;
  if (preconditions.authentication === true && !requiresAuthentication)
    return "The card declares no required authentication.";
  const skills = readAllPaths(card, "skills[*].id");
  const missingSkill = preconditions.skills?.find(({ id }) => !skills.includes(id));
  if (missingSkill) return `The card lacks the skill ${missingSkill.id}.`;
  const uris = readAllPaths(card, "capabilities.extensions[*].uri");
  const missingUri = preconditions.extensions?.find((uri) => !uris.includes(uri));
  if (missingUri !== undefined) return `The card lacks the extension ${missingUri}.`;
  const bindings = readAllPaths(card, "supportedInterfaces[*].protocolBinding").map(String);
  if (
    preconditions.transport &&
    !preconditions.transport.some((name) => bindings.includes(BINDING_NAMES[name]))
  )
    return `The card lacks the binding ${preconditions.transport.join(" or ")}.`;
  return undefined;
}

async function runStep(step: Step, run: TestRun): Promise<void> {
  if (step.delay_ms !== undefined) await setTimeout(step.delay_ms);
  if (step.client_response) return await runClientStep(step, run);
  const reply = await requestUntil(step, run);
  if (step.expect_error) return checkError(step, reply, run);
  checkReply(step, reply, run);
  const result = reply.events ? await readStream(step, reply, run) : reply.body;
  recordResult(step, result, run.scope);
}

/** Sends the request of a step, and repeats the request while the condition of `repeat` is not fulfilled. */
async function requestUntil(step: Step, run: TestRun): Promise<Reply> {
  const { repeat } = step;
  if (!repeat) return await sendRequest(step, run);
  const { max_attempts: maximum = 10, delay_ms: delay = 1_000, backoff = "none" } = repeat;
  const until = String(substitute(repeat.until, run.scope));
  for (let attempt = 1; attempt <= maximum; attempt++) {
    const reply = await sendRequest(step, run);
    if (!reply.error && evaluateCondition(until, reply.body)) return reply;
    const factor = { none: 1, linear: attempt, exponential: 2 ** (attempt - 1) }[backoff];
    if (attempt < maximum) await setTimeout(delay * factor);
  }
  return fail(`"${until}" is still not fulfilled after ${maximum} requests.`);
}

async function sendRequest(step: Step, run: TestRun): Promise<Reply> {
  if (step.raw) {
    const { transport } = run.context;
    if (!transport) throw new Error("A raw step requires the agent card.");
    const signal = createTimeLimit(step.expect_stream?.timeout_ms);
    const request = substitute(step.raw, run.scope) as typeof step.raw;
    const text = `${request.method} ${request.path} ${request.body_raw ?? JSON.stringify(request.body ?? null)}`;
    return await recordExchange(run, text, withTimeLimit(signal, transport.sendRaw(request, signal)));
  }
  const params = substitute(step.params ?? {}, run.scope) as JsonMap;
  return await callOperation(run, step.operation ?? "", params, {
    timeoutMs: step.expect_stream?.timeout_ms,
  });
}

function checkError(step: Step, reply: Reply, { scope }: TestRun): void {
  const expected = substitute(step.expect_error, scope) as Record<string, unknown>;
  if (!reply.error) fail(`The server accepted the request instead of returning ${describe(expected)}.`);
  if ("error_type" in expected) expected["error_type"] = resolveErrorAlias(expected["error_type"]);
  raise(check(expected, reply.error, "error"));
}

function checkReply(step: Step, { status, headers, body, error, events }: Reply, { scope }: TestRun): void {
  const { expect = {} } = step;
  // A raw step sees the whole body, so an expected error is part of `expect.body`.
  if (error && !step.raw) fail(`The server returned ${formatError(error)}`);
  if (expect.status !== undefined) raise(check(substitute(expect.status, scope), status, "status"));
  if (expect.headers !== undefined) raise(checkHeaders(substitute(expect.headers, scope), headers));
  if (expect.body !== undefined) raise(check(substitute(expect.body, scope), body ?? MISSING, "body"));
  if (step.expect_stream && !events)
    fail(`The response is no stream, but has the content type ${headers["content-type"] ?? "(none)"}.`);
}

/** Reads a stream to its end, or until it has more events than allowed. */
async function readStream(step: Step, reply: Reply, run: TestRun): Promise<readonly unknown[]> {
  const expected = step.expect_stream ?? {};
  const { events, problem } = await collectEvents(
    reply,
    (expected.max_count ?? Number.POSITIVE_INFINITY) + 1,
  );
  raise(checkStream(substitute(expected, run.scope) as typeof expected, events));
  if (problem !== undefined) fail(problem);
  return events;
}

function recordResult(step: Step, result: unknown, scope: Scope): void {
  storeCapture(scope, step.id, "response", result);
  for (const [name, path] of Object.entries(step.capture ?? {})) {
    const value = readPath(result, path);
    if (value === MISSING) fail(`The response has no ${path}, which a later step needs.`);
    storeCapture(scope, step.id, name, value);
  }
  checkAll(step.assertions, scope);
}

function checkAll(assertions: readonly NamedAssertion[] = [], scope: Scope): void {
  for (const assertion of assertions) {
    const { source, ...rest } = assertion;
    const rule = { ...(substitute(rest, scope) as typeof rest), source };
    raise(checkNamed(rule, substitute(source, scope)));
  }
}

/** Asks the server to read a payload with its own client, through the behavior `tck-client-parse`. */
async function runClientStep(step: Step, run: TestRun): Promise<void> {
  const parts = [{ text: "tck-client-parse" }, { data: substitute(step.client_response, run.scope) }];
  const reply = await callOperation(run, "send_message", { message: { role: "ROLE_USER", parts } });
  if (reply.error) fail(`The server returned ${formatError(reply.error)}`);
  const [parsed] = readAllPaths(reply.body, "task.artifacts[*].parts[*].data");
  if (parsed === undefined) {
    const reason = "The server returned no parsed payload, so the behavior tck-client-parse is missing.";
    if (run.context.behaviors) fail(reason);
    throw new NotVerified(reason);
  }
  raise(check(substitute(step.expect_parsed, run.scope), parsed, "parsed"));
  recordResult(step, parsed, run.scope);
}
