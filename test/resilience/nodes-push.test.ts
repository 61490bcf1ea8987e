import { afterAll, describe, expect, it } from "vitest";
import { TestWebhookReceiver } from "../../src/server/push/test-webhook-receiver.fixture.ts";
import { findTestDatabase } from "../support/find-test-postgres.ts";
import { createUserMessage } from "../support/http-bindings.ts";
import { killChild, startChild } from "./child-process.ts";

const { url: database, reason } = await findTestDatabase();
const CHILD_SCRIPT = "push-child.ts";
const TASKS = 10;
/** Number of events of a task that yields ten words and ends. */
const EVENTS_PER_TASK = 13;
/** Time in which another node takes over the webhooks of a killed node, with a lease of three seconds. */
const TAKEOVER_MS = 20_000;

const receiver = await new TestWebhookReceiver().listen();
const { requests } = receiver;
afterAll(() => receiver.close());

async function post(url: string, body: object): Promise<Record<string, unknown>> {
  const headers = { "a2a-version": "1.0", "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as Record<string, unknown>;
}

async function startTask(
  url: string,
  agent: string,
  number: number,
  webhookUrl = receiver.url(),
): Promise<string> {
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: webhookUrl } };
  const message = createUserMessage(`${agent}-${number}-${url}`, "go");
  const { task } = await post(`${url}/a2a/${agent}/message:send`, { message, configuration });
  return (task as { id: string }).id;
}

/** Returns the sequence numbers of the received notifications of a task. */
function findReceivedSeqs(taskId: string): number[] {
  return requests
    .map(({ headers }) => String(headers["x-a2a-notification-id"]).split(":"))
    .flatMap((parts) => (parts.includes(taskId) ? [Number(parts.at(-1))] : []));
}

const countUp = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

/** Returns true if the receiver has the last event of the task. */
const hasEnded = (taskId: string): boolean =>
  requests.some(({ body }) => body.includes(taskId) && /TASK_STATE_(COMPLETED|FAILED)/.test(body));

describe.skipIf(reason)("two servers on one PostgreSQL database", () => {
  it("deliver each event to each webhook once and in order, whichever server has the turn [E12, E21]", async () => {
    const nodes = [await startChild(CHILD_SCRIPT, database), await startChild(CHILD_SCRIPT, database)];
    const ids = await Promise.all(
      Array.from({ length: TASKS }, (_, at) => startTask(nodes[at % 2]?.url ?? "", "brief", at)),
    );
    await expect
      .poll(() => ids.map((id) => findReceivedSeqs(id).length), { timeout: TAKEOVER_MS })
      .toEqual(ids.map(() => EVENTS_PER_TASK));
    for (const id of ids) expect(findReceivedSeqs(id)).toEqual(countUp(EVENTS_PER_TASK));
    for (const node of nodes) await killChild(node);
  });

  it("deliver the events of a running turn to a webhook that the other server has registered [E12, E21]", async () => {
    const [owner, other] = [
      await startChild(CHILD_SCRIPT, database),
      await startChild(CHILD_SCRIPT, database),
    ];
    // The first webhook of the task always fails, so that its delivery does not end.
    const taskId = await startTask(owner.url, "endless", 0, "http://127.0.0.1:9/hook");
    const config = { id: "late", taskId, url: receiver.url() };
    await post(`${other.url}/a2a/endless/tasks/${taskId}/pushNotificationConfigs`, config);
    await post(`${owner.url}/a2a/endless/tasks/${taskId}:cancel`, {});
    await expect.poll(() => findReceivedSeqs(taskId).length, { timeout: TAKEOVER_MS }).toBeGreaterThan(0);
    for (const node of [owner, other]) await killChild(node);
  });

  it("deliver the remaining events of a killed server at least once and in order [E12, E21]", async () => {
    const killed = await startChild(CHILD_SCRIPT, database);
    const survivor = await startChild(CHILD_SCRIPT, database);
    receiver.defaultResponse = 503;
    const ids = await Promise.all(
      Array.from({ length: TASKS }, (_, at) => startTask(killed.url, at % 2 ? "brief" : "endless", at)),
    );
    await receiver.waitForRequests(requests.length + 3 * TASKS);
    receiver.defaultResponse = 200;
    await killChild(killed);
    await expect.poll(() => ids.filter((id) => !hasEnded(id)), { timeout: TAKEOVER_MS }).toEqual([]);
    for (const id of ids) {
      const firsts = [...new Set(findReceivedSeqs(id))];
      expect(firsts).toEqual(countUp(firsts.length));
    }
    await killChild(survivor);
  });
});
