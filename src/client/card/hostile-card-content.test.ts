import { describe, expect, it } from "vitest";
import { generateSigningKey, type JWK } from "../../wire/keys/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { connect, createCardVerifier, type ConnectOptions } from "../index.ts";
import {
  buildTestAgentCard,
  startRequestRecordingTestServer,
} from "../request-recording-test-server.fixture.ts";

// The client reads at most 1 MiB. Work that grows faster than the body exceeds the time limit of tests.

const MAX_BODY_LENGTH = 500_000;

const repeatAsList = (json: string): string =>
  `[${Array.from({ length: Math.floor(MAX_BODY_LENGTH / (json.length + 1)) }, () => json).join(",")}]`;
const nest = (open: string, close: string): string => {
  const levels = Math.floor(MAX_BODY_LENGTH / (open.length + close.length));
  return `${open.repeat(levels)}1${close.repeat(levels)}`;
};
const listMembers = (createValue: (index: number) => string, count = 10_000): string =>
  `{${Array.from({ length: count }, (_, index) => `"m${index}":${createValue(index)}`).join(",")}}`;

const nestedLists = nest("[", "]");
const nestedObjects = nest('{"a":', "}");
const signature = `{"protected":"${Buffer.from('{"alg":"ES256","kid":"a"}').toString("base64url")}","signature":"${"A".repeat(86)}"}`;

const hostileMembers: readonly (readonly [title: string, member: string, json: string])[] = [
  ["lists in an unknown member", "x", nestedLists],
  ["objects in an unknown member", "x", nestedObjects],
  [
    "lists in the parameters of an extension",
    "capabilities",
    `{"extensions":[{"uri":"u:x","params":{"x":${nestedLists}}}]}`,
  ],
  [
    "objects in the parameters of an extension",
    "capabilities",
    `{"extensions":[{"uri":"u:x","params":${nestedObjects}}]}`,
  ],
  [
    "objects in the header of a signature",
    "signatures",
    `[{"protected":"e30","signature":"A","header":${nestedObjects}}]`,
  ],
  ["signatures", "signatures", repeatAsList(signature)],
  ["skills", "skills", repeatAsList(`{"id":"s","name":"S","description":"d","tags":["t"]}`)],
  ["invalid skills", "skills", repeatAsList("1")],
  [
    "security schemes",
    "securitySchemes",
    listMembers((index) => `{"apiKeySecurityScheme":{"location":"header","name":"k${index}"}}`),
  ],
  ["security requirements", "securityRequirements", repeatAsList(`{"schemes":{"k":{"list":["a"]}}}`)],
  [
    "schemes in one requirement",
    "securityRequirements",
    `[{"schemes":${listMembers(() => `{"list":["a"]}`)}}]`,
  ],
];

let key: JWK | undefined;

/** Connects to an agent whose card has one hostile member, and returns the error or `undefined`. */
async function connectToCard(member: string, json: string, options: ConnectOptions): Promise<unknown> {
  const { url } = await startRequestRecordingTestServer((response) => {
    const card = JSON.stringify({ ...buildTestAgentCard(url), [member]: "HOSTILE" });
    response.setHeader("content-type", "application/json").end(card.replace('"HOSTILE"', () => json));
  });
  return await connect(`${url}/card.json`, options).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("a large card ends with a result or an A2AError", () => {
  it.each(hostileMembers)("with %s", async (_, member, json) => {
    key ??= await generateSigningKey("ES256");
    const { d: _secret, ...publicKey } = { ...key, kid: "a" };
    const unverified = await connectToCard(member, json, { auth: { bearer: "s" } });
    if (unverified !== undefined) expect(unverified).toBeInstanceOf(A2AError);
    const failure = await connectToCard(member, json, {
      verifyCard: createCardVerifier({ keys: [publicKey] }),
    });
    expect(failure).toBeInstanceOf(A2AError);
    expect(String(failure)).not.toContain("call stack");
  });
});

describe("a large key set or token response ends with an A2AError", () => {
  it.each([
    ["keys", `{"keys":${repeatAsList(`{"kty":"EC","crv":"P-256","kid":"a","x":"AA","y":"AA"}`)}}`],
    ["nested keys", `{"keys":[${nestedObjects}]}`],
    ["nested lists", `{"keys":${nestedLists}}`],
  ])("with %s", async (_, body) => {
    const { url } = await startRequestRecordingTestServer((response) => response.end(body));
    const verifyCard = createCardVerifier({ jwksUrls: `${url}/jwks.json` });
    expect(await connectToCard("signatures", repeatAsList(signature), { verifyCard })).toBeInstanceOf(
      A2AError,
    );
  });

  it.each([
    ["a nested token", `{"token_type":"Bearer","access_token":${nestedObjects}}`],
    ["many members", listMembers(() => '"x"', 50_000)],
    ["a long token", `{"token_type":"Bearer","access_token":"${"a".repeat(400_000)}"}`],
    ["a token that is no header value", `{"token_type":"Bearer","access_token":"a\\r\\nx: y"}`],
  ])("with %s", async (_, body) => {
    const { url } = await startRequestRecordingTestServer((response, request) => {
      const clientCredentials = { tokenUrl: `${url}/token`, scopes: {} };
      const securitySchemes = { o: { oauth2SecurityScheme: { flows: { clientCredentials } } } };
      const securityRequirements = [{ schemes: { o: { list: [] } } }];
      if (request.method === "GET")
        response.end(JSON.stringify(buildTestAgentCard(url, { securitySchemes, securityRequirements })));
      else if (request.url === "/token") response.end(body);
      else response.writeHead(431).end();
    });
    const remote = await connect(url, { auth: { oauthClient: { id: "i", secret: "s" } } });
    const failure: unknown = await remote.tasks.get("t").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(A2AError);
  });
});
