/**
 * Tests the official JavaScript client with the features that our cards declare: signatures, extensions, and
 * media types.
 */
import { SendMessageRequest, verifyAgentCardSignature, type Task } from "@a2a-js/sdk";
import {
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
  type Client,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { agent, data } from "../../src/agents/adapters/index.ts";
import { importSigningKeyPair, generateSigningKey, type JWK } from "../../src/wire/keys/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { createSdkClient } from "./sdk-client.ts";

const POLITE = "urn:x:polite/v1";
const skills = [{ id: "see", name: "See", description: "Sees", tags: ["eyes"], inputModes: ["image/*"] }];

/** An agent that reports its active extensions. */
const imageAgent = agent(
  {
    name: "careful",
    description: "Größe: 😀",
    capabilities: { extensions: [{ uri: POLITE }] },
    defaultInputModes: ["text/plain"],
    skills,
  },
  async function* ({ extensions }) {
    yield data([...extensions]);
  },
);
const extensionAgent = agent(
  {
    name: "strict",
    description: "Requires it",
    capabilities: { extensions: [{ uri: POLITE, required: true }] },
  },
  async function* () {
    yield "please";
  },
);

const TRANSPORTS = {
  JSONRPC: new JsonRpcTransportFactory(),
  "HTTP+JSON": new RestTransportFactory(),
  GRPC: new GrpcTransportFactory(),
} as const;

const withExtension = { serviceParameters: ServiceParameters.create(withA2AExtensions(POLITE)) };

function createRequest(...parts: object[]): SendMessageRequest {
  return SendMessageRequest.fromJSON({
    message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts },
  });
}
const textPart = { text: "hello" };
const createFilePart = (mediaType: string): object => ({ raw: "AQI=", mediaType });

describe.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)("the client of @a2a-js/sdk over %s", (binding) => {
  let server: Server;
  let url: string;
  let publicKey: JWK;
  let client: Client;

  const connect = (to: string): Promise<Client> => createSdkClient(to, binding, TRANSPORTS[binding]);

  beforeAll(async () => {
    const privateKey = await generateSigningKey();
    ({ publicKey } = await importSigningKeyPair({ privateKey }));
    server = createServer(
      { careful: imageAgent, strict: extensionAgent },
      { store: "memory", cardSigning: { privateKey } },
    );
    ({ url } = await server.listen({ grpc: true }));
    client = await connect(url);
  });
  afterAll(() => server.close());

  it("verifies the card's signature with a trusted key only [A-40, A-44, A-46]", async () => {
    const question: unknown[] = [];
    const verify = verifyAgentCardSignature((kid) => {
      question.push(kid);
      return Promise.resolve(publicKey as never);
    });
    expect((await client.getAgentCard({}, verify)).name).toBe("careful");
    expect(question).toEqual([publicKey.kid]);
    const stranger = await importSigningKeyPair({ privateKey: await generateSigningKey() });
    vi.spyOn(console, "debug").mockImplementation(() => {});
    const distrust = verifyAgentCardSignature(() => Promise.resolve(stranger.publicKey as never));
    await expect(client.getAgentCard({}, distrust)).rejects.toThrow("No valid signatures");
    vi.restoreAllMocks();
  });

  it("activates an extension only on request [J-01, J-04]", async () => {
    const activeFor = async (options?: object): Promise<unknown> => {
      const { artifacts } = (await client.sendMessage(createRequest(textPart), options)) as Task;
      return artifacts[0]?.parts[0]?.content?.value;
    };
    expect(await activeFor(withExtension)).toEqual([POLITE]);
    expect(await activeFor()).toEqual([]);
  });

  it("is rejected without a required extension [H-04]", async () => {
    const other = await connect(`${url}/a2a/strict/`);
    await expect(other.sendMessage(createRequest(textPart))).rejects.toThrow(POLITE);
    await expect(other.getTask({ tenant: "", id: "nope" })).rejects.toThrow(POLITE);
    const { artifacts } = (await other.sendMessage(createRequest(textPart), withExtension)) as Task;
    expect(artifacts[0]?.parts[0]?.content?.value).toBe("please");
  });

  it("is rejected with parts of undeclared media types [F-09]", async () => {
    await expect(
      client.sendMessage(createRequest(textPart, createFilePart("image/png"))),
    ).resolves.toHaveProperty("id");
    const refused = client.sendMessage(createRequest(textPart, createFilePart("application/x-unknown")));
    await expect(refused).rejects.toMatchObject({
      name: "ContentTypeNotSupportedError",
      message: expect.stringContaining('message.parts[1] is "application/x-unknown"') as string,
    });
  });
});
