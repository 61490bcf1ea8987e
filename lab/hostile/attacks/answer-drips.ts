import { connect } from "../../../src/client/index.ts";
import { type ClientAttack, defineClientAttack } from "../attack.ts";
import { describeOutcome, startHostileHttpServer } from "../hostile-http-server.ts";

export const attack: ClientAttack = defineClientAttack({
  title: "an answer arrives with ten bytes per second, and never ends",
  startHostileServer: () =>
    startHostileHttpServer((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 100);
      response.once("close", () => clearInterval(timer));
    }),
  async runVictim(url) {
    const remote = await connect(url, {
      timeouts: { callMs: 500, sendMs: 500, streamIdleMs: 500 },
      reconnect: { maxRetries: 0 },
    });
    const readStream = async (): Promise<void> => {
      for await (const _ of remote.stream("hi"));
    };
    const calls = [remote.tasks.get("t"), remote.send("hi"), readStream()];
    const outcomes = await Promise.all(calls.map((call) => describeOutcome(call, 5_000)));
    return {
      problems: outcomes.flatMap((outcome) =>
        outcome.includes("within 0.5 s") ? [] : [`a call ended with: ${outcome}`],
      ),
    };
  },
});
