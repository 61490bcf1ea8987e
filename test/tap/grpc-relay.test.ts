/** Tests the gRPC listener of the tap with raw HTTP/2 frames. */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { startTestTap, waitForLines } from "./tapped-record.ts";

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

it("the tap forwards no call of a client that has closed its connection", async () => {
  const agent = createServer((_, response) => {
    const { port } = agent.address() as AddressInfo;
    const supportedInterfaces = [
      { url: `127.0.0.1:${port}`, protocolBinding: "GRPC", protocolVersion: "1.0" },
    ];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ name: "remote", capabilities: {}, supportedInterfaces }));
  }).listen(0, "127.0.0.1");
  await once(agent, "listening");
  const tap = await startTestTap([`http://127.0.0.1:${(agent.address() as AddressInfo).port}`]);
  const card = (await (await fetch(`${tap.url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string }[];
  };
  const { hostname, port } = new URL(`grpc://${card.supportedInterfaces[0]?.url}`);
  const headers = [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", "/lf.a2a.v1.A2AService/SendMessage"],
    [":authority", "localhost"],
  ] as const;
  const socket = connect(Number(port), hostname).on("error", () => {});
  socket.end(
    Buffer.concat([
      Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      encodeFrame(SETTINGS_FRAME, 0, 0),
      encodeFrame(
        HEADERS_FRAME,
        END_HEADERS,
        1,
        Buffer.concat(headers.map(([name, value]) => encodeHeader(name, value))),
      ),
    ]),
  );
  const lines = await waitForLines(tap, (all) => all.filter(({ kind }) => kind === "response").length === 2);
  expect(lines.findLast(({ kind }) => kind === "response")).toMatchObject({
    error: "The client closed its connection.",
  });
  await tap.close();
  agent.close();
  agent.closeAllConnections();
});
