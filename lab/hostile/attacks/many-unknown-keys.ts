import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { createSendMessageBody, sendAttackRequest } from "../attack-requests.ts";

export const attack: ServerAttack = defineServerAttack({
  title: "messages with 10 MB of unknown keys",
  run: async (target) => {
    const keys = Array.from({ length: 500_000 }, (_, at) => `"k${at}":1`).join();
    const body = JSON.stringify(createSendMessageBody("hello")).replace(`"messageId"`, `${keys},"messageId"`);
    const authorization = target.credentials.stranger;
    const problems: string[] = [];
    for (let round = 0; round < 5; round++) {
      const { status } = await sendAttackRequest(target, { body, authorization });
      if (status >= 500) problems.push(`the server replied with ${status}`);
    }
    return { figures: { bodyBytes: body.length }, problems };
  },
});
