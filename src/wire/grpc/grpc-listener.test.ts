import { once } from "node:events";
import { connect } from "node:http2";
import * as grpc from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { A2AError } from "../../protocol/index.ts";
import { toGrpcError } from "../index.ts";
import type { GrpcListenerOptions } from "./grpc-listener.ts";
import { startGrpcListener, GRPC_SERVICE_V1, type GrpcServerCall } from "./index.ts";

const TEST_LISTENER_OPTIONS = {
  services: [GRPC_SERVICE_V1],
  host: "127.0.0.1",
  port: 0,
  tls: undefined,
  maxRequestBytes: 1_000,
  keepaliveMs: 0,
  guardConnection: () => {},
  scheduleCall: (_, start) => start(),
} satisfies Partial<GrpcListenerOptions>;

const { path, response } = GRPC_SERVICE_V1.methods.SendStreamingMessage!;

it("waits for a client that stops reading and delivers all messages in order after it resumes [E-04, G-06]", async () => {
  const count = 1_000;
  const text = "x".repeat(16 * 1024);
  let written = 0;
  let waits = 0;
  const write = async (call: GrpcServerCall): Promise<void> => {
    for (; written < count; written++) {
      const artifact = { artifactId: `${written}`, parts: [{ text }] };
      const room = call.write([response.encode({ artifactUpdate: { artifact } })]);
      if (room) waits += 1;
      await room;
    }
    call.end();
  };
  const listener = await startGrpcListener({
    ...TEST_LISTENER_OPTIONS,
    receiveMs: 10_000,
    handleCall: (call) =>
      Promise.resolve({ headers: undefined, watchWrite: () => () => {}, body: () => void write(call) }),
  });
  const client = new grpc.Client(`127.0.0.1:${listener.port}`, grpc.credentials.createInsecure());
  const stream = client.makeServerStreamRequest(
    path,
    (binary: Uint8Array) => Buffer.from(binary),
    (binary: Buffer) => response.decode(binary),
    new Uint8Array(),
  );
  const messages = stream[Symbol.asyncIterator]();
  const read = async (number: number): Promise<void> => {
    const { value } = (await messages.next()) as { value: unknown };
    expect(value).toMatchObject({ artifactUpdate: { artifact: { artifactId: `${number}` } } });
  };

  await read(0);
  for (let turn = 0; turn < 500; turn++) await new Promise(setImmediate);
  // HTTP/2 has 64 KiB in flight, and each side buffers 16 messages.
  expect(written).toBeLessThan(100);
  for (let number = 1; number < count; number++) await read(number);
  expect(await messages.next()).toMatchObject({ done: true });
  expect(waits).toBeGreaterThan(10);
  client.close();
  await listener.drain();
});

it("ends a call whose request message does not arrive in time", async () => {
  const listener = await startGrpcListener({
    ...TEST_LISTENER_OPTIONS,
    receiveMs: 30,
    handleCall: async (call) => {
      await call.receiveRequest(() => {}).catch(() => undefined);
      return { headers: undefined, watchWrite: () => () => {}, body: new Uint8Array() };
    },
  });
  const session = connect(`http://127.0.0.1:${listener.port}`);
  const call = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
  call.write(Buffer.from([0, 0, 0, 0, 10, 1]));
  const [headers] = (await once(call, "response")) as [Record<string, string>];
  expect(headers).toMatchObject({ "grpc-status": `${grpc.status.RESOURCE_EXHAUSTED}` });
  expect(decodeURI(headers["grpc-message"] ?? "")).toContain("did not arrive within 0.03 s");
  session.destroy();
  await listener.drain();
});

it("rejects a call without a request message that ended before the server reads it", async () => {
  const reading = Promise.withResolvers<void>();
  const listener = await startGrpcListener({
    ...TEST_LISTENER_OPTIONS,
    receiveMs: 10_000,
    handleCall: async (call) => {
      await reading.promise;
      const error: unknown = await call.receiveRequest(() => {}).catch((reason: unknown) => reason);
      return { failure: { ...toGrpcError(A2AError.from(error), "1.0.1"), headers: {} } };
    },
  });
  const session = connect(`http://127.0.0.1:${listener.port}`);
  const call = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
  const response = once(call, "response") as Promise<[Record<string, string>]>;
  call.end(Buffer.alloc(0));
  await once(call, "finish");
  // The server replies to a ping after it has received the end of the call.
  await new Promise((resolve) => session.ping(resolve));
  reading.resolve();
  const [headers] = await response;
  expect(headers).toMatchObject({ "grpc-status": `${grpc.status.INVALID_ARGUMENT}` });
  expect(decodeURI(headers["grpc-message"] ?? "")).toContain("The call has no request message");
  session.destroy();
  await listener.drain();
});
