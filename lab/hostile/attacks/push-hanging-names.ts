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
  title: "300 webhooks have host names that are never resolved",
  setUpServer: () => ({ options: { push: ATTACKED_PUSH_OPTIONS } }),
  run: async (target) => {
    const receiver = await startAttackedReceiver();
    const aloneMs = await measureVictimDeliveries(target, receiver, "alone");
    const register = async (at: number): Promise<void> => {
      const taskPushNotificationConfig = { url: `http://n${at}.hangs.test/` };
      const body = createSendMessageBody("hi", {}, { taskPushNotificationConfig });
      await callAttackedMethod(target, target.credentials.stranger, "echo", body);
    };
    await sendInGroups(300, register);
    const attackedMs = await measureVictimDeliveries(target, receiver, "attacked");
    return { figures: { aloneMs, attackedMs }, problems: listDeliveryProblems(aloneMs, attackedMs) };
  },
});
