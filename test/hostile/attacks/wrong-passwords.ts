import { readFile } from "node:fs/promises";
import { agent } from "../../../src/adapters/index.ts";
import { basic, hashPassword } from "../../../src/server/auth/index.ts";
import { createSendMessageBody, sendAttackRequest } from "../attack-requests.ts";
import { defineServerAttack, type ServerAttack } from "../attack.ts";

const GUESSES = 1000;

/** Reads a file before it replies, because password hashes and file reads share the threads of libuv. */
const reader = agent({ name: "reader", description: "Reads a file" }, async function* () {
  yield (await readFile(import.meta.filename, "utf8")).slice(0, 10);
});

export const attack: ServerAttack = defineServerAttack({
  title: "1,000 wrong passwords of 250 addresses at once, for known and unknown users",
  setUpServer: async () => ({
    agents: { reader },
    options: {
      authenticate: basic({
        users: {
          victim: { hash: await hashPassword("correct horse battery staple") },
        },
      }),
    },
  }),
  probe: {
    method: "POST",
    path: "/a2a/reader",
    headers: {
      "content-type": "application/json",
      "a2a-version": "1.0",
      authorization: `Basic ${btoa("victim:correct horse battery staple")}`,
    },
    body: JSON.stringify(createSendMessageBody("read")).replace(
      /"messageId":"[^"]*"/,
      `"messageId":"MESSAGE-ID"`,
    ),
  },
  run: async (target) => {
    const counts: Record<string, number> = {};
    const problems: string[] = [];
    const guess = async (index: number): Promise<void> => {
      const user = index % 2 === 0 ? "victim" : `user${index}`;
      const { status } = await sendAttackRequest(target, {
        authorization: `Basic ${btoa(`${user}:guess${index}`)}`,
        localAddress: `127.0.1.${1 + (index % 250)}`,
        body: createSendMessageBody("hello"),
      }).catch(() => ({ status: 0 }));
      counts[`replies${status}`] = (counts[`replies${status}`] ?? 0) + 1;
      if (status === 200 || status >= 500) problems.push(`a wrong password was answered with ${status}`);
    };
    await Promise.all(Array.from({ length: GUESSES }, (_, index) => guess(index)));
    return { figures: counts, problems };
  },
});
