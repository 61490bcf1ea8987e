import { collect, connect } from "../../../src/client/index.ts";
import { type ClientAttack, defineClientAttack } from "../attack.ts";
import { describeOutcome, startHostileHttpServer, writeEndlessly } from "../hostile-http-server.ts";

const ids = { taskId: "t", contextId: "c" };
const artifactUpdate = {
  ...ids,
  artifact: { artifactId: "a", parts: [{ text: "x".repeat(60_000) }] },
  append: true,
};

export const attack: ClientAttack = defineClientAttack({
  title: "a stream appends to its answer, and never ends",
  startHostileServer: () =>
    startHostileHttpServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      writeEndlessly(
        response,
        `data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result: { artifactUpdate } })}\n\n`,
      );
    }),
  async runVictim(url) {
    const remote = await connect(url, { maxTaskBytes: 10_000_000, reconnect: { maxRetries: 0 } });
    const outcome = await describeOutcome(collect(remote.stream("hi")), 8_000);
    return { problems: outcome.includes("Raise maxTaskBytes") ? [] : [`collect ended with: ${outcome}`] };
  },
});
