import { isTerminalState, viewEvent } from "./assertions.ts";
import type { JsonMap } from "./corpus.ts";
import { MISSING, readAllPaths, readPath } from "./expressions.ts";
import {
  callOperation,
  collectEvents,
  fail,
  formatError,
  NotVerified,
  raise,
  type TestRun,
} from "./test-run.ts";
import { checkShape } from "./shapes.ts";
import type { Reply } from "./transport.ts";
import type { Delivery } from "./webhook-receiver.ts";

/** Time limit in milliseconds for the push notifications of a task that takes about two seconds. */
const DELIVERY_LIMIT_MS = 15_000;
/** A second user of the agent under test. Other servers do not know the token. */
const OTHER_TOKEN = "itk-other-token";
const MISSING_TASK = "00000000-0000-0000-0000-000000000000";

/**
 * The demands that a test has on the runner in its description, beyond its steps: a function that checks the demand, `steps` if
 * the steps are enough, or the reason why the demand cannot be checked. The steps alone prove nothing about such a
 * demand. A test without an entry whose description demands something of the runner is not verified.
 */
export const SUPPLEMENTS: Readonly<Record<string, ((run: TestRun) => Promise<void> | void) | string>> = {
  "CARD-SCHEMA-001": ({ scope }) => raise(checkShape("AgentCard", getResponse(scope, "step-1"))),
  "DM-SERIAL-002": ({ scope }) => raise(checkShape("SendMessageResponse", getResponse(scope, "send"))),
  "CORE-LIST-003": checkPages,
  "CORE-ERR-009": (run) => checkForeignTask(run, null),
  "SEC-AUTH-003": (run) => checkForeignTask(run, OTHER_TOKEN),
  "STREAM-MULTI-001": checkTwoStreams,
  "STREAM-MULTI-002": checkClosedStream,
  "STREAM-RESUB-001": checkResubscription,
  "SEC-PUSH-001": checkDeliveryCredentials,
  "PUSH-DELIV-001": checkDeliveryCredentials,
  "PUSH-DELIV-002": checkFinalDelivery,
  "PUSH-DELIV-003": checkDeliveryFormat,
  "SEC-AUTH-001": "steps",
  "SEC-AUTH-002": "steps",
  "SEC-AUTH-004": "steps",
  "SEC-AUTH-006": "steps",
  "SEC-EXTCARD-002": "steps",
  "SEC-EXTCARD-004": "steps",
  "SEC-PUSH-002":
    "The steps only register a webhook. How the client of the server checks received notifications cannot be observed.",
  "CLIENT-AUTH-001":
    "The steps only parse two cards. Which card the client uses for later calls cannot be observed.",
  "CLIENT-CAP-001":
    "The steps only parse a card. Whether the client checks the card before a call cannot be observed.",
};

function getResponse({ captures }: TestRun["scope"], step: string): unknown {
  return captures.get(step)?.get("response");
}

/** Walks through the pages of the context with two tasks. Each page has one task, and the last page has no token. */
async function checkPages(run: TestRun): Promise<void> {
  const contextId = run.scope.captures.get("send")?.get("contextId");
  await sendText(run, "tck-complete-task second task of the context", { contextId });
  const ids: unknown[] = [];
  let pageToken: unknown = "";
  for (let page = 1; page === 1 || pageToken !== ""; page++) {
    if (page > 5) fail(`The pages of two tasks do not end: the tasks are ${ids.join(", ")}.`);
    const token = pageToken === "" ? {} : { pageToken };
    const reply = await expectSuccess(callOperation(run, "list_tasks", { contextId, pageSize: 1, ...token }));
    ids.push(...readAllPaths(reply.body, "tasks[*].id"));
    pageToken = readPath(reply.body, "nextPageToken");
    if (typeof pageToken !== "string") fail(`Page ${page} has no nextPageToken.`);
  }
  if (ids.length !== 2 || ids[0] === ids[1])
    fail(`The pages of two tasks contain the tasks ${ids.join(", ")}.`);
}

/** Compares the errors for the task of another user and for a task that does not exist. */
async function checkForeignTask(run: TestRun, token: string | null): Promise<void> {
  const created = await callOperation(run, "send_message", createMessage("tck-complete-task of one user"));
  const id = readPath(created.body, "task.id");
  if (created.error || id === MISSING)
    throw new NotVerified("The server created no task for the first user.");
  const own = await callOperation(run, "get_task", { id });
  const foreign = await callOperation(run, "get_task", { id }, { token });
  const missing = await callOperation(run, "get_task", { id: MISSING_TASK }, { token });
  if (own.error) fail(`The owner of the task received ${formatError(own.error)}`);
  const who = token === null ? "without credentials" : "with another user's credentials";
  if (missing.status === 401 || missing.status === 403)
    throw new NotVerified(`The server accepts no request ${who}, so no task belongs to another user.`);
  if (!foreign.error) {
    if (token !== null) fail("The server returned the task of another user.");
    throw new NotVerified(
      "Without credentials, the server returned the task, so no task belongs to another user.",
    );
  }
  const [one, other] = [foreign, missing].map(({ status, error }) =>
    JSON.stringify([status, error?.error_type, error?.message, error?.details])
      .replaceAll(String(id), "ID")
      .replaceAll(MISSING_TASK, "ID"),
  );
  if (one !== other) fail(`A task of another user causes ${one}, and a missing task causes ${other}.`);
}

async function checkTwoStreams(run: TestRun): Promise<void> {
  const id = await startLongTask(run);
  const streams = await Promise.all([subscribe(run, id), subscribe(run, id)]);
  const [one = [], other = []] = await Promise.all(streams.map(collectCompleteStream));
  assertSameUpdates(one, other);
}

/** Fails unless the updates of two streams of one task are the same. One stream may have started later. */
export function assertSameUpdates(one: readonly unknown[], other: readonly unknown[]): void {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  const [, ...updates] = shorter;
  const common = updates.length === 0 ? [] : longer.slice(-updates.length);
  if (JSON.stringify(updates) !== JSON.stringify(common))
    fail(`The streams differ: ${JSON.stringify(updates)} and ${JSON.stringify(common)}.`);
}

async function checkClosedStream(run: TestRun): Promise<void> {
  const id = await startLongTask(run);
  const [one, other] = await Promise.all([subscribe(run, id), subscribe(run, id)]);
  await collectEvents(one, 1);
  await collectCompleteStream(other);
}

async function checkResubscription(run: TestRun): Promise<void> {
  const id = await startLongTask(run);
  await collectEvents(await subscribe(run, id), 1);
  const events = await collectCompleteStream(await subscribe(run, id));
  if (readPath(events[0], "task.id") !== id)
    fail("The first event after the new subscription is not the task.");
}

async function startLongTask(run: TestRun): Promise<string> {
  const params = { ...createMessage("tck-long-running start"), configuration: { returnImmediately: true } };
  const reply = await expectSuccess(callOperation(run, "send_message", params));
  return String(readPath(reply.body, "task.id"));
}

async function subscribe(run: TestRun, id: string): Promise<Reply> {
  return await expectSuccess(callOperation(run, "subscribe_to_task", { id }));
}

/** Reads a stream, which must end with a finished task. */
async function collectCompleteStream(reply: Reply): Promise<readonly unknown[]> {
  const { events, problem } = await collectEvents(reply);
  if (problem !== undefined) fail(problem);
  const state = readPath(viewEvent(events.at(-1)), "status.state");
  if (!isTerminalState(state)) fail(`The stream ended with ${String(state)} after ${events.length} events.`);
  return events;
}

async function sendText(run: TestRun, text: string, members: JsonMap): Promise<void> {
  await expectSuccess(callOperation(run, "send_message", createMessage(text, members)));
}

function createMessage(text: string, members: JsonMap = {}): JsonMap {
  return { message: { role: "ROLE_USER", parts: [{ text }], ...members } };
}

async function expectSuccess(pending: Promise<Reply>): Promise<Reply> {
  const reply = await pending;
  if (reply.error) fail(`The server returned ${formatError(reply.error)}`);
  return reply;
}

async function checkDeliveryCredentials(run: TestRun): Promise<void> {
  for (const { headers } of await waitForFinalDelivery(run))
    if (headers.authorization !== "Bearer test-token")
      fail(
        `A push notification has the Authorization header ${JSON.stringify(headers.authorization ?? null)}.`,
      );
}

async function checkFinalDelivery(run: TestRun): Promise<void> {
  await waitForFinalDelivery(run);
}

async function checkDeliveryFormat(run: TestRun): Promise<void> {
  for (const { headers, body } of await waitForFinalDelivery(run)) {
    raise(checkShape("StreamResponse", body));
    const contentType = headers["content-type"] ?? "(none)";
    if (!/^application\/(a2a\+)?json\b/.test(contentType))
      fail(`A push notification has the content type ${contentType}.`);
  }
}

function isFinal({ body }: Delivery): boolean {
  return isTerminalState(readPath(viewEvent(body), "status.state"));
}

/** Waits until the receiver has the end of the task. */
async function waitForFinalDelivery({ context, webhookUrl }: TestRun): Promise<readonly Delivery[]> {
  if (!context.webhooks || webhookUrl === undefined)
    throw new NotVerified("The runner has no webhook receiver.");
  const deliveries = await context.webhooks.waitFor(webhookUrl, isFinal, DELIVERY_LIMIT_MS);
  if (!deliveries.some(isFinal))
    fail(`The end of the task was not delivered; ${deliveries.length} other push notifications arrived.`);
  return deliveries;
}
