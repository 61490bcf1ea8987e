import { createConsole } from "../../../src/studio/console/index.ts";
import { postToConsole } from "../attack-console.ts";
import { defineServerAttack, type ServerAttack } from "../attack.ts";

export const attack: ServerAttack = defineServerAttack({
  title: "a caller of a console sends messages with 13 MB of keys",
  setUpServer: () => ({ options: { mountedHandlers: [createConsole()] } }),
  run: async (target) => {
    const keys = Array.from({ length: 1_000_000 }, (_, at) => `"k${at}":1`).join();
    const body = `{"message":{"parts":[{"text":"hi"}]},"metadata":{${keys}}}`;
    const problems: string[] = [];
    for (let round = 0; round < 5; round++) {
      const { status } = await postToConsole(target, "agents/echo/messages", body);
      if (status !== 413) problems.push(`the console replied with ${status}`);
    }
    return { figures: { bodyBytes: body.length }, problems };
  },
});
