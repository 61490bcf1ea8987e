import { createSendMessageBody, sendAttackRequest } from "../attack-requests.ts";
import { defineServerAttack, type ServerAttack } from "../attack.ts";

const MAX_BYTES = 10_000_000;

/** JSON texts of up to 10 MB that cost more than their size. `$` is the place of the text in a message. */
const EXPENSIVE_TEXTS: Readonly<Record<string, string>> = {
  "400,000 parts": Array.from({ length: 400_000 }, () => `{"text":"x"}`).join(),
  "a list of 5 million numbers": `{"data":[${"0,".repeat(MAX_BYTES / 2 - 100)}0]}`,
  "objects in objects, 1 million deep": `{"data":${`{"a":`.repeat(1_000_000)}1${"}".repeat(1_000_000)}}`,
  "lists in lists, 4 million deep": `{"data":${"[".repeat(4_000_000)}${"]".repeat(4_000_000)}}`,
  "empty objects": `{"data":[${"{},".repeat(3_000_000)}{}]}`,
  "1 million invalid parts": "{},".repeat(1_000_000) + "{}",
};

export const attack: ServerAttack = defineServerAttack({
  title: "messages of up to 10 MB with millions of parts, values, and levels",
  run: async (target) => {
    const problems: string[] = [];
    const figures: Record<string, number> = {};
    for (const [name, text] of Object.entries(EXPENSIVE_TEXTS)) {
      const message = JSON.stringify(createSendMessageBody("PARTS"));
      const body = message.replace(`{"text":"PARTS"}`, text);
      const {
        status,
        body: reply,
        durationMs,
      } = await sendAttackRequest(target, {
        body,
        authorization: target.credentials.stranger,
      });
      figures[`${name.replaceAll(" ", "-")}Ms`] = durationMs;
      if (status >= 500) problems.push(`the server replied to ${name} with ${status}`);
      if (reply.length > 100_000) problems.push(`the reply to ${name} has ${reply.length} characters`);
      if (status === 200 && reply.includes(`"result"`)) problems.push(`the server accepted ${name}`);
    }
    return { figures, problems };
  },
});
