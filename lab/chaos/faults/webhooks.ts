import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { StreamResponse, Task } from "../../../src/protocol/index.ts";
import { createUserMessage } from "../../../test/support/http-bindings.ts";
import { callAgent, isFinalState, readEventChunks, readEventState } from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";

const LEASE_MS = 1500;
const TASKS = 6;
const CHUNKS = 60;
const REFUSALS_PER_WEBHOOK = 6;
const WAIT_MS = 40_000;

/** What the receiver of the webhook of one task has accepted. */
interface ReceivedWebhook {
  refused: number;
  readonly numbers: number[];
  hasEnded: boolean;
}

export const fault: ChaosFault = {
  title: "webhooks refuse their first 6 requests with 503; then `kill -9` of the node that runs the tasks",
  promise: "Each chunk and the end arrive at least once, and their first deliveries are in order.",
  maxSeconds: 90,
  bars: { notEnded: 0, missing: 0, outOfOrder: 0 },
  async inject({ startNode, addFigure, onEnd }) {
    const webhooks = Array.from({ length: TASKS }, (): ReceivedWebhook => ({
      refused: 0,
      numbers: [],
      hasEnded: false,
    }));
    const receiver = createServer((request, response) => {
      const webhook = webhooks[Number(request.url?.slice(1))];
      void json(request).then((body) => {
        const isRefused = webhook !== undefined && webhook.refused < REFUSALS_PER_WEBHOOK;
        if (webhook && isRefused) webhook.refused++;
        else if (webhook) recordDelivery(webhook, body as StreamResponse);
        return response.writeHead(isRefused ? 503 : 204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    onEnd(() => {
      receiver.close();
      receiver.closeAllConnections();
    });
    const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const [owner] = [await startNode({ leaseMs: LEASE_MS }), await startNode({ leaseMs: LEASE_MS })];
    const script = JSON.stringify({ chunks: CHUNKS, intervalMs: 100 });
    for (let number = 0; number < TASKS; number++)
      await callAgent<{ task: Task }>(owner.getAgentUrl("resume"), "SendMessage", {
        message: createUserMessage(`webhook-${number}`, script),
        configuration: {
          returnImmediately: true,
          taskPushNotificationConfig: { url: `${origin}/${number}` },
        },
      });
    const deadline = performance.now() + WAIT_MS;
    while (!webhooks.every(({ numbers }) => numbers.length > 5) && performance.now() < deadline)
      await pause(20);
    await owner.kill();
    while (!webhooks.every(({ hasEnded }) => hasEnded) && performance.now() < deadline) await pause(50);
    const firsts = webhooks.map(({ numbers }) => [...new Set(numbers)]);
    addFigure("webhooks", TASKS);
    addFigure("notEnded", webhooks.filter(({ hasEnded }) => !hasEnded).length);
    addFigure("missing", TASKS * CHUNKS - firsts.flat().length);
    addFigure("outOfOrder", firsts.filter((numbers) => numbers.some((number, at) => number !== at)).length);
    addFigure("repeated", webhooks.flatMap(({ numbers }) => numbers).length - firsts.flat().length);
  },
};

function recordDelivery(webhook: ReceivedWebhook, event: StreamResponse): void {
  webhook.numbers.push(...readEventChunks(event).map(({ number }) => number));
  if (isFinalState(readEventState(event))) webhook.hasEnded = true;
}
