import { setTimeout } from "node:timers/promises";
import { agent, chunk, inputRequired } from "../../../src/adapters/index.ts";
import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { createSendMessageBody } from "../attack-requests.ts";
import {
  ATTACKED_PUSH_OPTIONS,
  callAttackedMethod,
  listDeliveryProblems,
  measureVictimDeliveries,
  startAttackedReceiver,
} from "../attack-webhooks.ts";

/** Documented maximum of notifications to one host: a burst of one second, a rate, and deliveries that run together. */
const countAllowedNotifications = (seconds: number): number => 200 + 200 * seconds + 16;
const MAX_CONFIGS_PER_TASK = 20;

export const attack: ServerAttack = defineServerAttack({
  title: "100 webhooks of a task and 200 events multiply each other at one host",
  setUpServer: () => ({
    agents: {
      burst: agent({ name: "burst", description: "Writes 200 chunks" }, async function* ({ text }) {
        if (text === "start") return yield inputRequired("How many?");
        for (let at = 0; at < 200; at++) {
          yield chunk("chunks", `${at} `);
          await setTimeout(1);
        }
      }),
    },
    options: { push: ATTACKED_PUSH_OPTIONS, mergeChunks: false },
  }),
  run: async (target) => {
    const { stranger } = target.credentials;
    const receiver = await startAttackedReceiver();
    const aloneMs = await measureVictimDeliveries(target, receiver, "alone");
    const startedAt = performance.now();
    let mostAccepted = 0;
    for (let count = 0; count < 2; count++) {
      const { taskId } = await callAttackedMethod(target, stranger, "burst", createSendMessageBody("start"));
      const url = `http://target.test:${receiver.port}/`;
      const create = (at: number): Promise<{ status: number }> =>
        callAttackedMethod(target, stranger, "burst", {
          jsonrpc: "2.0",
          id: 1,
          method: "CreateTaskPushNotificationConfig",
          params: { taskId, id: `config-${at}`, url: `${url}?${at}` },
        });
      const replies: { status: number }[] = [];
      for (let from = 0; from < 100; from += 25)
        replies.push(...(await Promise.all(Array.from({ length: 25 }, (_, at) => create(from + at)))));
      const accepted = replies.filter(({ status }) => status === 200).length;
      mostAccepted = Math.max(mostAccepted, accepted);
      const message = createSendMessageBody("go", { taskId }, { returnImmediately: true });
      await callAttackedMethod(target, stranger, "burst", message);
    }
    const attackedMs = await measureVictimDeliveries(target, receiver, "attacked");
    await setTimeout(2000, undefined, { signal: target.signal });
    const seconds = (performance.now() - startedAt) / 1000;
    const notifications = receiver.countReceived("target.test");
    const problems = listDeliveryProblems(aloneMs, attackedMs);
    if (notifications > countAllowedNotifications(seconds))
      problems.push(`one host received ${notifications} notifications in ${seconds.toFixed(1)} s`);
    if (mostAccepted > MAX_CONFIGS_PER_TASK) problems.push(`a task has ${mostAccepted} webhooks`);
    if (notifications < 200)
      problems.push(`the attack had no effect: only ${notifications} notifications arrived`);
    return { figures: { notifications, seconds, mostAccepted, aloneMs, attackedMs }, problems };
  },
});
