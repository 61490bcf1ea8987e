import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { PushOptions } from "../../src/server/index.ts";
import type { AttackTarget } from "./attack.ts";
import { createSendMessageBody, getAgentPath, sendAttackRequest } from "./attack-requests.ts";

/** Time in milliseconds after which a notification of the victim counts as delayed, and the measurement ends. */
const MAX_DELIVERY_MS = 2000;

/** Suffix of host names that are never resolved. */
const HANGING_SUFFIX = ".hangs.test";

/**
 * Push options of an attacked server. Names below `hangs.test` are never resolved, and all other names lead to this
 * machine.
 */
export const ATTACKED_PUSH_OPTIONS: PushOptions = {
  allowPrivate: true,
  resolve: (hostname) =>
    hostname.endsWith(HANGING_SUFFIX) ? new Promise(() => {}) : Promise.resolve(["127.0.0.1"]),
};

/** A receiver of notifications in the process of the attacker. */
export interface AttackedReceiver {
  readonly port: number;
  /** Monotonic times of the received notifications in milliseconds, by host name and path. */
  readonly receivedAt: Map<string, number[]>;
  /** Returns the monotonic times of the notifications to a host, in order. */
  listReceivedTimes(hostname: string): number[];
}

/** Starts a receiver that answers each notification, unless its host name begins with "silent". */
export async function startAttackedReceiver(): Promise<AttackedReceiver> {
  const receivedAt = new Map<string, number[]>();
  const http = createServer((incoming, outgoing) => {
    const hostname = (incoming.headers.host ?? "").replace(/:\d+$/, "");
    const name = hostname + (incoming.url ?? "");
    receivedAt.set(name, [...(receivedAt.get(name) ?? []), performance.now()]);
    incoming.resume();
    if (!hostname.startsWith("silent")) outgoing.end();
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  const listReceivedTimes = (hostname: string): number[] =>
    [...receivedAt]
      .flatMap(([name, times]) => (name.startsWith(`${hostname}/`) ? times : []))
      .toSorted((a, b) => a - b);
  return { port, receivedAt, listReceivedTimes };
}

/** Calls a JSON-RPC method, and returns the HTTP status and the result. */
export async function callAttackedMethod(
  target: AttackTarget,
  authorization: string,
  agentId: string,
  body: Readonly<Record<string, unknown>>,
): Promise<{ readonly status: number; readonly taskId: string }> {
  const path = getAgentPath(target, agentId);
  const response = await sendAttackRequest(target, { path, authorization, body });
  const json = JSON.parse(response.body) as { result?: { task?: { id?: string } } };
  return { status: response.status, taskId: json.result?.task?.id ?? "" };
}

/** Sends a message of the victim with a webhook at a new host name, and returns the delay of the first notification. */
async function measureVictimDelivery(
  target: AttackTarget,
  receiver: AttackedReceiver,
  name: string,
): Promise<number> {
  const url = `http://${name}.test:${receiver.port}/`;
  const configuration = { taskPushNotificationConfig: { url } };
  await callAttackedMethod(
    target,
    target.credentials.victim,
    "echo",
    createSendMessageBody("hi", {}, configuration),
  );
  const sentAt = performance.now();
  while (!receiver.receivedAt.has(`${name}.test/`) && !target.signal.aborted) {
    if (performance.now() - sentAt > MAX_DELIVERY_MS) return MAX_DELIVERY_MS;
    await setTimeout(2);
  }
  return Math.max(0, (receiver.receivedAt.get(`${name}.test/`)?.[0] ?? Infinity) - sentAt);
}

/** Returns the longest delay of several deliveries of the victim, in milliseconds. */
export async function measureVictimDeliveries(
  target: AttackTarget,
  receiver: AttackedReceiver,
  name: string,
): Promise<number> {
  let longestMs = 0;
  for (let at = 0; at < 10 && longestMs < MAX_DELIVERY_MS; at++)
    longestMs = Math.max(longestMs, await measureVictimDelivery(target, receiver, `${name}-${at}`));
  return longestMs;
}

/** Compares the delays of the victim's deliveries during an attack and alone. */
export function listDeliveryProblems(aloneMs: number, attackedMs: number): string[] {
  return attackedMs <= aloneMs + 100
    ? []
    : [
        `a notification of another caller took ${Math.round(attackedMs)} ms, and ${Math.round(aloneMs)} ms alone`,
      ];
}

/**
 * Calls `send` for each number below `count`, in groups of ten, with pauses between the groups. A burst of requests would
 * cost the server its time whatever the requests contain.
 */
export async function sendInGroups(count: number, send: (at: number) => Promise<unknown>): Promise<void> {
  const sent: Promise<unknown>[] = [];
  for (let from = 0; from < count; from += 10) {
    for (let at = from; at < Math.min(count, from + 10); at++) sent.push(send(at));
    await setTimeout(50);
  }
  await Promise.all(sent);
}
