import { setTimeout } from "node:timers/promises";
import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { createSendMessageBody } from "../attack-requests.ts";
import { callAttackedMethod, startAttackedReceiver } from "../attack-webhooks.ts";

/** Host names and notations that lead to this machine. */
const PRIVATE_HOSTS = [
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f.1",
  "0.0.0.0",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "localhost",
];

export const attack: ServerAttack = defineServerAttack({
  title: "webhooks lead to this machine, by notation, by name, and by a name that changes its address",
  setUpServer: () => {
    let lookupCount = 0;
    const resolve = async (hostname: string): Promise<string[]> =>
      hostname === "rebinding.test" && lookupCount++ === 0 ? ["192.88.98.1"] : ["127.0.0.1"];
    return { options: { push: { resolve, retry: { initialDelayMs: 50 } } } };
  },
  run: async (target) => {
    const receiver = await startAttackedReceiver();
    const problems: string[] = [];
    for (const host of [...PRIVATE_HOSTS, "private.test", "rebinding.test"]) {
      const taskPushNotificationConfig = { url: `http://${host}:${receiver.port}/` };
      const body = createSendMessageBody("hi", {}, { taskPushNotificationConfig });
      const { status, taskId } = await callAttackedMethod(target, target.credentials.stranger, "echo", body);
      if (taskId !== "" && host !== "rebinding.test")
        problems.push(`${host} was accepted with status ${status}`);
    }
    await setTimeout(500);
    if (receiver.receivedAt.size > 0)
      problems.push(`the server sent ${[...receiver.receivedAt.keys()].join(", ")}`);
    return { problems };
  },
});
