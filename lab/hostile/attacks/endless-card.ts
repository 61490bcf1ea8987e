import { connect } from "../../../src/client/index.ts";
import { type ClientAttack, defineClientAttack } from "../attack.ts";
import { describeOutcome, startHostileHttpServer, writeEndlessly } from "../hostile-http-server.ts";

export const attack: ClientAttack = defineClientAttack({
  title: "an agent card never ends",
  startHostileServer: () =>
    startHostileHttpServer((response) => writeEndlessly(response, " ".repeat(60_000))),
  async runVictim(url) {
    const outcome = await describeOutcome(connect(`${url}/card.json`), 10_000);
    return {
      problems: outcome.includes("larger than 1048576 bytes") ? [] : [`connect ended with: ${outcome}`],
    };
  },
});
