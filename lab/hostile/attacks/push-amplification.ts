import { setTimeout } from "node:timers/promises";
import { agent, chunk, inputRequired } from "../../../src/agents/adapters/index.ts";
import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { createSendMessageBody } from "../attack-requests.ts";
import {
  ATTACKED_PUSH_OPTIONS,
  callAttackedMethod,
  listDeliveryProblems,
  measureVictimDeliveries,
  sendInGroups,
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
        if (text === "start") {
          yield inputRequired("How many?");
          return;
        }
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
      let accepted = 0;
      await sendInGroups(100, async (at) => {
        if ((await create(at)).status === 200) accepted++;
      });
      mostAccepted = Math.max(mostAccepted, accepted);
      const message = createSendMessageBody("go", { taskId }, { returnImmediately: true });
      await callAttackedMethod(target, stranger, "burst", message);
    }
    const attackedMs = await measureVictimDeliveries(target, receiver, "attacked");
    await setTimeout(2000, undefined, { signal: target.signal });
    const times = receiver.listReceivedTimes("target.test");
    const [firstAt = 0] = times;
    const excess = times.map((time, at) => at + 1 - countAllowedNotifications((time - firstAt) / 1000));
    const notifications = times.length;
    const seconds = ((times.at(-1) ?? 0) - firstAt) / 1000;
    const problems = listDeliveryProblems(aloneMs, attackedMs);
    if (excess.some((count) => count > 0))
      problems.push(`one host received ${Math.ceil(Math.max(...excess))} notifications more than allowed`);
    if (mostAccepted > MAX_CONFIGS_PER_TASK) problems.push(`a task has ${mostAccepted} webhooks`);
    if (notifications < 200)
      problems.push(`the attack had no effect: only ${notifications} notifications arrived`);
    return { figures: { notifications, seconds, mostAccepted, aloneMs, attackedMs }, problems };
  },
});
