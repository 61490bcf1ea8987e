import { connect } from "../../../src/client/index.ts";
import { type ClientAttack, defineClientAttack } from "../attack.ts";
import { describeOutcome, startHostileHttpServer } from "../hostile-http-server.ts";

export const attack: ClientAttack = defineClientAttack({
  title: "an agent replies with a task of 60 MB that consists of small parts",
  startHostileServer: () => {
    const parts = Array<string>(5_000_000).fill(`{"text":""}`).join();
    const artifacts = `[{"artifactId":"a","parts":[${parts}]}]`;
    const status = `{"state":"TASK_STATE_COMPLETED"}`;
    const task = `{"id":"t","contextId":"c","status":${status},"artifacts":${artifacts}}`;
    const body = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"task":${task}}}`);
    return startHostileHttpServer((response) =>
      response.setHeader("content-type", "application/json").end(body),
    );
  },
  // The client collects the text of the response, and counts its values.
  bars: { stallMs: 250, rssGrowthMiB: 300 },
  async runVictim(url) {
    const remote = await connect(url, { reconnect: { maxRetries: 0 } });
    const outcome = await describeOutcome(remote.send("hi"), 12_000);
    return { problems: outcome.includes("maxJsonValues") ? [] : [`send ended with: ${outcome}`] };
  },
});
