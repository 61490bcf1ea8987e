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

export const attack: ServerAttack = defineServerAttack({
  title: "webhooks at 200 host names accept the connection and never answer",
  setUpServer: () => ({ options: { push: ATTACKED_PUSH_OPTIONS } }),
  run: async (target) => {
    const receiver = await startAttackedReceiver();
    const aloneMs = await measureVictimDeliveries(target, receiver, "alone");
    const register = async (at: number): Promise<void> => {
      const taskPushNotificationConfig = { url: `http://silent-${at}.test:${receiver.port}/` };
      const body = createSendMessageBody("hi", {}, { taskPushNotificationConfig });
      await callAttackedMethod(target, target.credentials.stranger, "echo", body);
    };
    await sendInGroups(200, register);
    const attackedMs = await measureVictimDeliveries(target, receiver, "attacked");
    const silentDeliveries = receiver.receivedAt.size - 20;
    const problems = listDeliveryProblems(aloneMs, attackedMs);
    if (silentDeliveries < 4) problems.push("the attack had no effect: no receiver was silent");
    return { figures: { aloneMs, attackedMs, silentDeliveries }, problems };
  },
});
