/** Tests the gRPC listener of the tap without a gRPC library. */
import { once } from "node:events";
import { createServer } from "node:http";
import {
  connect,
  createServer as createHttp2Server,
  type Http2Server,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { AgentDirectory } from "../../src/studio/tap/cards/agent-directory.ts";
import { CardRewriter } from "../../src/studio/tap/cards/card-rewriter.ts";
import { FaultSwitches } from "../../src/studio/tap/faults/fault-switches.ts";
import { GrpcRelay } from "../../src/studio/tap/grpc/grpc-relay.ts";
import type { RelayContext, TapCallSummary } from "../../src/studio/tap/relay-context.ts";
import { KillSwitch } from "../../src/studio/tap/relayed-call.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../src/observe/trace/recording/index.ts";
import { startTestTap } from "./tapped-record.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Starts an HTTP/2 server without TLS, and returns its URL. */
async function startHttp2Server(onStream: (stream: ServerHttp2Stream) => void): Promise<URL> {
  const server: Http2Server = createHttp2Server();
  server.on("stream", onStream);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.close();
    await once(server, "close");
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** Sends the headers of a call, whose failure the test expects. */
function startCall(url: URL, method: string): ReturnType<ReturnType<typeof connect>["request"]> {
  const client = connect(url).on("error", () => {});
  closers.push(async () => client.destroy());
  const path = `/lf.a2a.v1.A2AService/${method}`;
  return client.request({ ":method": "POST", ":path": path }).on("error", () => {});
}

it("the tap forwards no gRPC call of a client that has disconnected, and closes then", async () => {
  const writer = createTrafficWriter(createMemoryTrafficSink(), { vantage: "tap", name: "tap" });
  const directory = new AgentDirectory();
  const calls: TapCallSummary[] = [];
  const context: RelayContext = {
    writer,
    switches: new FaultSwitches(),
    directory,
    cards: new CardRewriter({ directory, writer, openPort: async () => 1, warn: () => {} }),
    pseudonym: "tap",
    verifyCertificates: true,
    connectMs: 1_000,
    monotonicNow: () => 0,
    stopSignal: new AbortController().signal,
    onCallEnd: (call) => calls.push(call),
  };
  const origin = "http://127.0.0.1:1";
  const relay = new GrpcRelay(
    context,
    origin,
    new URL(origin),
    new KillSwitch(context.monotonicNow, () => {}),
  );
  const { promise: relayed, resolve } = Promise.withResolvers<void>();
  const url = await startHttp2Server((stream) => {
    resolve(relay.relay(stream, { ":path": "/lf.a2a.v1.A2AService/SendMessage" }));
    // The relay waits for the import of the gRPC packages.
    stream.session?.destroy();
  });
  startCall(url, "SendMessage");
  await relayed;
  expect(calls).toMatchObject([{ operation: "SendMessage", problem: "The client closed its connection." }]);
  expect(() => relay.close()).not.toThrow();
});

it("the tap records the end of a gRPC stream in progress before it stops", async () => {
  const agentUrl = await startHttp2Server((stream) => {
    stream.on("error", () => {});
    stream.respond({ "content-type": "application/grpc" });
  });
  const cardServer = createServer((_, response) => {
    const supportedInterfaces = [{ url: agentUrl.host, protocolBinding: "GRPC", protocolVersion: "1.0" }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ name: "remote", capabilities: {}, supportedInterfaces }));
  }).listen(0, "127.0.0.1");
  await once(cardServer, "listening");
  closers.push(async () => {
    cardServer.close();
    cardServer.closeAllConnections();
    await once(cardServer, "close");
  });
  const tap = await startTestTap([`http://127.0.0.1:${(cardServer.address() as AddressInfo).port}`]);
  const card = (await (await fetch(`${tap.url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string }[];
  };
  const call = startCall(new URL(`http://${card.supportedInterfaces[0]?.url}`), "SendStreamingMessage");
  await once(call, "response");
  await tap.close();
  expect((await tap.readLines()).at(-1)).toMatchObject({
    kind: "stream-end",
    reason: "cut",
    error: "The tap stopped.",
  });
});
