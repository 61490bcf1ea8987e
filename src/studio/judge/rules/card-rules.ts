import { readAllPaths, readPath } from "../acts/expressions.ts";
import { sendHttp } from "../acts/http-transport.ts";
import { checkShape } from "../acts/shapes.ts";
import { fail, NotVerified, raise } from "../acts/test-run.ts";
import { CARD_PATH } from "../acts/wire-tables.ts";
import type { Rule } from "./rule.ts";

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Also checks a card that clients cannot read, or that is no JSON. */
export const CARD_SHAPE_RULE: Rule = {
  id: "ANY-CARD-SHAPE",
  level: "must",
  name: "The agent card has all required members, with their types",
  section: "4.4.1",
  hint: "Compare the card with the AgentCard message of A2A 1.0; `colloquy card validate` lists every mistake.",
  async check({ call, card, cardProblem }) {
    if (cardProblem !== undefined) {
      await call("get_agent_card", {});
      fail(cardProblem);
    }
    raise(checkShape("AgentCard", card));
  },
};

/** Rules of the agent card, which are checked once for each version. */
export const CARD_RULES: readonly Rule[] = [
  CARD_SHAPE_RULE,
  {
    id: "ANY-CARD-MEDIA",
    level: "should",
    name: "The agent card has a JSON media type",
    section: "8.2",
    hint: "Serve the card with Content-Type: application/json.",
    async check({ call }) {
      const { headers } = await call("get_agent_card", {});
      const type = headers["content-type"] ?? "(none)";
      if (!/^application\/(json|a2a\+json)\b/.test(type)) fail(`The card has the content type ${type}.`);
    },
  },
  {
    id: "ANY-CARD-CONDITIONAL",
    level: "should",
    name: "A conditional request for the unchanged card returns 304",
    section: "8.6.1",
    hint: "Compare If-None-Match with the ETag of the card.",
    async check({ call, run }) {
      const { headers } = await call("get_agent_card", {});
      const { etag } = headers;
      if (etag === undefined) throw new NotVerified("The card has no ETag.");
      const { status } = await sendHttp({
        method: "GET",
        url: `${run.context.baseUrl}${CARD_PATH}`,
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
  },
  {
    id: "ANY-CARD-URLS",
    level: "must",
    name: "Each interface has an absolute URL that other machines can use",
    section: "4.4.6",
    hint: "Set the public URL of the server, so that the card has no relative URL and no 0.0.0.0.",
    check({ card }) {
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
  },
  {
    id: "ANY-CARD-BINDINGS",
    level: "must",
    name: "The core bindings have the names JSONRPC, HTTP+JSON, and GRPC",
    section: "5.8",
    hint: "Spell protocolBinding exactly as A2A 1.0 does.",
    check({ card }) {
      for (const name of readAllPaths(card, "supportedInterfaces[*].protocolBinding")) {
        const plain = String(name)
          .toUpperCase()
          .replaceAll(/[^A-Z]/g, "");
        const core = { JSONRPC: "JSONRPC", HTTPJSON: "HTTP+JSON", REST: "HTTP+JSON", GRPC: "GRPC" }[plain];
        if (core !== undefined && core !== name) fail(`The binding ${String(name)} is named ${core}.`);
      }
    },
  },
  {
    id: "ANY-CARD-VERSIONS",
    level: "should",
    name: "The protocol version of each interface has the form Major.Minor",
    section: "3.6",
    hint: "Write 1.0 instead of 1.0.0 or v1.",
    check({ card }) {
      const wrong = readAllPaths(card, "supportedInterfaces[*].protocolVersion").find(
        (version) => !/^\d+\.\d+$/.test(String(version)),
      );
      if (wrong !== undefined) fail(`An interface has the protocol version ${JSON.stringify(wrong)}.`);
    },
  },
  {
    id: "ANY-CARD-SECURITY",
    level: "must",
    name: "Each required security scheme is declared in securitySchemes",
    section: "4.5",
    hint: "Add the scheme to securitySchemes, or correct its name in securityRequirements.",
    check({ card }) {
      const declared = Object.keys(card["securitySchemes"] ?? {});
      const required = [
        ...readAllPaths(card, "securityRequirements[*].schemes"),
        ...readAllPaths(card, "skills[*].securityRequirements[*].schemes"),
      ].flatMap((schemes) => Object.keys(schemes as object));
      const missing = required.find((name) => !declared.includes(name));
      if (missing !== undefined)
        fail(`The card requires the scheme ${missing}, and declares no such scheme.`);
    },
  },
  {
    id: "ANY-CARD-SKILLS",
    level: "must",
    name: "The ids of skills are unique",
    section: "4.4.5",
    hint: "Rename one of the skills.",
    check({ card }) {
      const ids = readAllPaths(card, "skills[*].id");
      const repeated = ids.find((id, at) => ids.indexOf(id) !== at);
      if (repeated !== undefined) fail(`Two skills have the id ${JSON.stringify(repeated)}.`);
    },
  },
  {
    id: "ANY-CARD-SIGNATURE",
    level: "must",
    name: "Each signature has a protected header with alg and kid",
    section: "8.4.2",
    hint: "Sign the card with `colloquy card sign`, or add alg and kid to the protected header.",
    check({ card }) {
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
  },
];
