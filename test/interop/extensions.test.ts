/**
 * Tests the extensions of our server with the official JavaScript clients. A client that does not request an
 * extension receives nothing new. A client that requests an extension can read the events.
 */
import { StreamResponse } from "@a2a-js/sdk";
import {
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
  type Client,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { ClientFactory as ClientFactory0_3 } from "a2a-js-sdk-0.3/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, inputRequired } from "../../src/agents/adapters/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { collectEvents, createSdkClient, createTextRequest, requireTask } from "./sdk-client.ts";
import {
  createTextRequest as createTextRequest0_3,
  requireTask as requireTask0_3,
} from "./sdk-0.3-client.ts";

const CURSOR = "urn:colloquy:extensions:stream-cursor:v1";
const MESSAGES = "urn:colloquy:extensions:message-events:v1";

const curiousAgent = agent({ name: "curious", description: "Asks once." }, async function* ({ text }) {
  if (text === "ask") yield inputRequired("Which city?");
  else yield* ["heard ", text];
});

let server: Server;
let url: string;
beforeEach(async () => {
  server = createServer(curiousAgent, { store: "memory", mergeChunks: false });
  ({ url } = await server.listen({ grpc: true }));
});
afterEach(() => server.close());

describe.each([
  ["JSONRPC", new JsonRpcTransportFactory()],
  ["HTTP+JSON", new RestTransportFactory()],
  ["GRPC", new GrpcTransportFactory()],
] as const)("the client of @a2a-js/sdk, over %s", (binding, transport) => {
  let client: Client;
  beforeEach(async () => void (client = await createSdkClient(url, binding, transport)));

  it("receives nothing of the extensions that it does not request [J-04]", async () => {
    const asked = requireTask(await client.sendMessage(createTextRequest("ask")));
    const { id: taskId } = asked;
    const events = await collectEvents(client.sendMessageStream(createTextRequest("Rome", { taskId })));
    const task = await client.getTask({ tenant: "", id: taskId });
    expect(events.length).toBeGreaterThan(3);
    expect(JSON.stringify([asked, events, task])).not.toContain("urn:colloquy");
    expect(task.metadata ?? {}).toEqual({});
  });

  it("reads numbered events and the messages of other clients if it requests them [J-01]", async () => {
    const { id: taskId } = requireTask(await client.sendMessage(createTextRequest("ask")));
    const serviceParameters = ServiceParameters.create(withA2AExtensions(CURSOR, MESSAGES));
    const subscription = client.resubscribeTask({ tenant: "", id: taskId }, { serviceParameters });
    const opening = await subscription.next();
    await client.sendMessage(createTextRequest("Rome", { taskId }));
    const events = [opening.value as StreamResponse, ...(await collectEvents(subscription))].map(
      (event) => StreamResponse.toJSON(event) as Record<string, { metadata?: Record<string, unknown> }>,
    );
    const metadata = events.map((event) => Object.values(event)[0]?.metadata ?? {});
    expect(metadata.map((entries) => entries[`${CURSOR}/generation`])).toEqual(
      events.map((_event, index) => index + 2),
    );
    expect(JSON.stringify(metadata[1])).toContain('"Rome"');
  });
});

describe.each(["JSONRPC", "HTTP+JSON"] as const)("the client of @a2a-js/sdk 0.3, over %s", (preferred) => {
  it("receives nothing of the extensions that it does not request [J-04]", async () => {
    const client = await new ClientFactory0_3({
      transports: new ClientFactory0_3().options.transports,
      preferredTransports: [preferred],
    }).createFromUrl(url);
    const { id: taskId } = requireTask0_3(await client.sendMessage(createTextRequest0_3("ask")));
    const events = await collectEvents(client.sendMessageStream(createTextRequest0_3("Rome", { taskId })));
    const task = await client.getTask({ id: taskId });
    expect(events.length).toBeGreaterThan(3);
    expect(JSON.stringify([events, task])).not.toContain("urn:colloquy");
  });
});
