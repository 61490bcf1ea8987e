import { readAllPaths, readPath } from "../acts/expressions.ts";
import { getCardUrl, sendHttp } from "../acts/http-transport.ts";
import { checkShape } from "../acts/shapes.ts";
import { fail, NotVerified, raise } from "../acts/test-run.ts";
import { defineRules, type Rule } from "./rule.ts";

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Also checks a card that clients cannot read, or that is no JSON. */
export const CARD_SHAPE_RULES: readonly Rule[] = defineRules({
  async "ANY-CARD-SHAPE"({ call, card, cardProblem }) {
    if (cardProblem !== undefined) {
      await call("get_agent_card", {});
      fail(cardProblem);
    }
    raise(checkShape("AgentCard", card));
  },
});

/** Rules of the agent card, which are checked once for each version. */
export const CARD_RULES: readonly Rule[] = [
  ...CARD_SHAPE_RULES,
  ...defineRules({
    async "ANY-CARD-MEDIA"({ call }) {
      const { headers } = await call("get_agent_card", {});
      const type = headers["content-type"] ?? "(none)";
      if (!/^application\/(json|a2a\+json)\b/.test(type)) fail(`The card has the content type ${type}.`);
    },
    async "ANY-CARD-CONDITIONAL"({ call, run }) {
      const { headers } = await call("get_agent_card", {});
      const { etag } = headers;
      if (etag === undefined) throw new NotVerified("The card has no ETag.");
      const { status } = await sendHttp({
        method: "GET",
        url: getCardUrl(run.context.baseUrl),
        // Without the last member, `fetch` sends `no-cache`, which asks the server for the complete card.
        headers: {
          "if-none-match": etag,
          "A2A-Version": run.context.specVersion,
          "cache-control": "max-age=0",
        },
        signal: AbortSignal.timeout(10_000),
      });
      if (status !== 304) fail(`The conditional request returned ${status}.`);
    },
    "ANY-CARD-URLS"({ card }) {
      for (const { url, protocolBinding } of readAllPaths(card, "supportedInterfaces[*]") as {
        url?: unknown;
        protocolBinding?: unknown;
      }[]) {
        const isGrpc = protocolBinding === "GRPC";
        if (!isText(url) || (!isGrpc && !/^https?:\/\//.test(url)))
          fail(`The URL ${JSON.stringify(url)} of ${String(protocolBinding)} is not absolute.`);
        if (/^(\w+:\/\/)?(0\.0\.0\.0|\[::\])/.test(url)) fail(`${url} is the address of no machine.`);
      }
    },
    "ANY-CARD-BINDINGS"({ card }) {
      for (const name of readAllPaths(card, "supportedInterfaces[*].protocolBinding")) {
        const plain = String(name)
          .toUpperCase()
          .replaceAll(/[^A-Z]/g, "");
        const core = { JSONRPC: "JSONRPC", HTTPJSON: "HTTP+JSON", REST: "HTTP+JSON", GRPC: "GRPC" }[plain];
        if (core !== undefined && core !== name) fail(`The binding ${String(name)} is named ${core}.`);
      }
    },
    "ANY-CARD-VERSIONS"({ card }) {
      const wrong = readAllPaths(card, "supportedInterfaces[*].protocolVersion").find(
        (version) => !/^\d+\.\d+$/.test(String(version)),
      );
      if (wrong !== undefined) fail(`An interface has the protocol version ${JSON.stringify(wrong)}.`);
    },
    "ANY-CARD-SECURITY"({ card }) {
      const declared = Object.keys(card["securitySchemes"] ?? {});
      const required = [
        ...readAllPaths(card, "securityRequirements[*].schemes"),
        ...readAllPaths(card, "skills[*].securityRequirements[*].schemes"),
      ].flatMap((schemes) => Object.keys(schemes as object));
      const missing = required.find((name) => !declared.includes(name));
      if (missing !== undefined)
        fail(`The card requires the scheme ${missing}, and declares no such scheme.`);
    },
    "ANY-CARD-SKILLS"({ card }) {
      const ids = readAllPaths(card, "skills[*].id");
      const repeated = ids.find((id, at) => ids.indexOf(id) !== at);
      if (repeated !== undefined) fail(`Two skills have the id ${JSON.stringify(repeated)}.`);
    },
    "ANY-CARD-SIGNATURE"({ card }) {
      const headers = readAllPaths(card, "signatures[*].protected");
      if (headers.length === 0) throw new NotVerified("The card has no signature.");
      for (const header of headers) {
        let decoded: unknown;
        try {
          decoded = JSON.parse(Buffer.from(String(header), "base64url").toString());
        } catch {
          fail("The protected header of a signature is not JSON in base64url.");
        }
        for (const name of ["alg", "kid"])
          if (!isText(readPath(decoded, name))) fail(`The protected header of a signature has no ${name}.`);
      }
    },
  }),
];
