import { connect } from "../../../src/client/index.ts";
import { type ClientAttack, defineClientAttack } from "../attack.ts";
import { describeOutcome, startHostileHttpServer } from "../hostile-http-server.ts";

export const attack: ClientAttack = defineClientAttack({
  title: "a stream opens, and falls silent",
  startHostileServer: () =>
    startHostileHttpServer((response) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n"),
    ),
  async runVictim(url) {
    const remote = await connect(url, { timeouts: { streamIdleMs: 500 }, reconnect: { maxRetries: 1 } });
    const readStream = async (): Promise<void> => {
      for await (const _ of remote.stream("hi"));
    };
    const outcome = await describeOutcome(readStream(), 8_000);
    return { problems: outcome.includes("sent nothing") ? [] : [`the stream ended with: ${outcome}`] };
  },
});
