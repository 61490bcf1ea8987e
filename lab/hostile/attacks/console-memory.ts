import { createConsole } from "../../../src/studio/console/index.ts";
import { postToConsole } from "../attack-console.ts";
import { defineServerAttack, type ServerAttack } from "../attack.ts";
import { startHostileHttpServer } from "../hostile-http-server.ts";

const MESSAGES = 30;
/** The share of one caller is 25 MiB. */
const MAX_OPEN_STREAMS = 13;
const LONG_URLS = 10;

export const attack: ServerAttack = defineServerAttack({
  title:
    "one caller of a console sends large messages to an agent that never replies, and adds agents with URLs of 15 MB",
  setUpServer: () => ({ options: { mountedHandlers: [createConsole({ allowPrivate: true })] } }),
  // The console copies each message several times while it passes the message on, so that the peak contains garbage.
  bars: { rssGrowthMiB: 500 },
  run: async (target) => {
    const silentAgent = await startHostileHttpServer(
      () => {},
      (url) => ({
        supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      }),
    );
    const added = await postToConsole(target, "agents", JSON.stringify({ url: silentAgent.url }));
    const { id } = (await added.json()) as { id: string };
    const message = JSON.stringify({ message: { parts: [{ text: "x".repeat(2_000_000) }] } });
    let openStreams = 0;
    for (let count = 0; count < MESSAGES; count++) {
      const response = await postToConsole(target, `agents/${id}/messages`, message);
      if (!response.ok) continue;
      openStreams++;
      // An accepted stream stays open until the attacker ends. The server ends the others at once.
      response.text().catch(() => openStreams--);
    }
    const longUrl = JSON.stringify({ url: `https://agent.example/${"x".repeat(15_000_000)}` });
    let acceptedUrls = 0;
    for (let count = 0; count < LONG_URLS; count++)
      if ((await postToConsole(target, "agents", longUrl)).ok) acceptedUrls++;
    const problems: string[] = [];
    if (acceptedUrls > 0) problems.push(`the console added ${acceptedUrls} URLs of 15 MB`);
    if (openStreams > MAX_OPEN_STREAMS)
      problems.push(`the console holds ${openStreams} messages of 2 MB for one caller`);
    return { figures: { openStreams }, problems };
  },
});
