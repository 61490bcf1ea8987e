import { connect } from "../../../src/client/index.ts";
import { type ClientAttack, defineClientAttack } from "../attack.ts";
import { describeOutcome, startHostileHttpServer } from "../hostile-http-server.ts";

export const attack: ClientAttack = defineClientAttack({
  title: "a card of 200 KB consists of one URL with slashes",
  startHostileServer: () =>
    startHostileHttpServer(
      (response) => response.writeHead(404).end(),
      (url) => ({
        supportedInterfaces: [
          { url: `${url}${"/".repeat(200_000)}x`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
        ],
      }),
    ),
  async runVictim(url) {
    const outcome = await describeOutcome(connect(`${url}/.well-known/agent-card.json`), 10_000);
    return { problems: outcome.includes("the maximum is 2048") ? [] : [`connect ended with: ${outcome}`] };
  },
});
