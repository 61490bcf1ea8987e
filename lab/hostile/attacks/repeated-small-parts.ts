import { connect, readText } from "../../../src/client/index.ts";
import { type ClientAttack, defineClientAttack } from "../attack.ts";
import { describeOutcome, startHostileHttpServer } from "../hostile-http-server.ts";

const parts = Array.from({ length: 100_000 }, () => ({ data: 1 }));
const artifactUpdate = { taskId: "t", contextId: "c", artifact: { artifactId: "a", parts } };
const status = { state: "TASK_STATE_COMPLETED" };

export const attack: ClientAttack = defineClientAttack({
  title: "a stream repeats an artifact of 100,000 small parts",
  startHostileServer: () =>
    startHostileHttpServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const result of [
        { artifactUpdate },
        { artifactUpdate },
        { statusUpdate: { taskId: "t", contextId: "c", status } },
      ])
        response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n\n`);
      response.end();
    }),
  // The decoding of 100,000 parts takes longer than the usual bar.
  bars: { stallMs: 1_500 },
  async runVictim(url) {
    const remote = await connect(url, { reconnect: { maxRetries: 0 } });
    const readAnswer = async (): Promise<void> => {
      for await (const _ of readText(remote.stream("hi")));
    };
    const outcome = await describeOutcome(readAnswer(), 10_000);
    return { problems: outcome === "no error" ? [] : [`the stream ended with: ${outcome}`] };
  },
});
