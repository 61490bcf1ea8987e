/** Tests the gRPC listener of the tap without a gRPC library. */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { connect, type AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { startTestTap, waitForLines, type RecordingTestTap } from "./tapped-record.ts";

const HEADERS_FRAME = 1;
const SETTINGS_FRAME = 4;
const END_HEADERS = 4;

function encodeFrame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Encodes a short header without compression (RFC 7541 §6.2.2). */
function encodeHeader(name: string, value: string): Buffer {
  return Buffer.from(
    `\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`,
  );
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Starts a tap for an agent whose only interface is gRPC at a port. Returns the tap and its gRPC address. */
async function startGrpcTap(agentPort: number): Promise<{ tap: RecordingTestTap; address: URL }> {
  const server = createServer((_, response) => {
    const supportedInterfaces = [
      { url: `127.0.0.1:${agentPort}`, protocolBinding: "GRPC", protocolVersion: "1.0" },
    ];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ name: "remote", capabilities: {}, supportedInterfaces }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  const tap = await startTestTap([`http://127.0.0.1:${(server.address() as AddressInfo).port}`]);
  const card = (await (await fetch(`${tap.url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string }[];
  };
  return { tap, address: new URL(`http://${card.supportedInterfaces[0]?.url}`) };
}

it("the tap forwards no call of a client that has closed its connection", async () => {
  const { tap, address } = await startGrpcTap(1);
  const headers = [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", "/lf.a2a.v1.A2AService/SendMessage"],
    [":authority", "localhost"],
  ] as const;
  const socket = connect(Number(address.port), address.hostname).on("error", () => {});
  const block = Buffer.concat(headers.map(([name, value]) => encodeHeader(name, value)));
  socket.end(
    Buffer.concat([
      Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      encodeFrame(SETTINGS_FRAME, 0, 0),
      encodeFrame(HEADERS_FRAME, END_HEADERS, 1, block),
    ]),
  );
  const lines = await waitForLines(tap, (all) => all.filter(({ kind }) => kind === "response").length === 2);
  expect(lines.findLast(({ kind }) => kind === "response")).toMatchObject({
    error: "The client closed its connection.",
  });
  await tap.close();
});

it("the tap records the end of a gRPC stream in progress before it stops", async () => {
  const agent = createHttp2Server((_, response) => {
    response.writeHead(200, { "content-type": "application/grpc" });
    response.stream.on("error", () => {});
    response.flushHeaders();
  }).listen(0, "127.0.0.1");
  await once(agent, "listening");
  closers.push(async () => {
    agent.close();
    await once(agent, "close");
  });
  const { tap, address } = await startGrpcTap((agent.address() as AddressInfo).port);
  const client = connectHttp2(address).on("error", () => {});
  const path = "/lf.a2a.v1.A2AService/SendStreamingMessage";
  const call = client.request({ ":method": "POST", ":path": path }).on("error", () => {});
  await once(call, "response");
  await tap.close();
  client.destroy();
  expect((await tap.readLines()).at(-1)).toMatchObject({
    kind: "stream-end",
    reason: "cut",
    error: "The tap stopped.",
  });
});
