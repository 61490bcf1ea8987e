import { connect } from "../../../src/client/index.ts";
import { type ClientAttack, defineClientAttack } from "../attack.ts";
import { describeOutcome, startHostileHttpServer } from "../hostile-http-server.ts";

export const attack: ClientAttack = defineClientAttack({
  title: "the metadata of an authorization server names an issuer with 900,000 slashes",
  startHostileServer: () =>
    startHostileHttpServer(
      (response, _request, url) =>
        response.end(JSON.stringify({ issuer: `${"/".repeat(900_000)}x`, token_endpoint: `${url}/token` })),
      (url) => ({
        securitySchemes: { login: { openIdConnectSecurityScheme: { openIdConnectUrl: `${url}/login` } } },
      }),
    ),
  async runVictim(url) {
    const remote = await connect(url, { auth: { oauthClient: { id: "i", secret: "s" } } });
    const outcome = await describeOutcome(remote.tasks.get("t"), 10_000);
    return { problems: outcome.includes("different issuer") ? [] : [`the client ended with: ${outcome}`] };
  },
});
