import { once } from "node:events";
import * as grpc from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { listen, v1, type MessageSink } from "./index.ts";

const { SendStreamingMessage } = v1.methods;

it("a client that does not read is waited for, and gets everything in order when it does [E-04, G-06]", async () => {
  const { response } = SendStreamingMessage!;
  const part = "x".repeat(16 * 1024);
  const event = (number: number): object => ({
    artifactUpdate: {
      taskId: "t",
      contextId: "c",
      artifact: { artifactId: `${number}`, parts: [{ text: part }] },
    },
  });
  const count = 400;
  let written = 0;
  const waits: number[] = [];
  const write = async (sink: MessageSink): Promise<void> => {
    while (written < count) {
      const room = sink.write(response.encode(event(written)));
      written += 1;
      if (!room) continue;
      waits.push(written);
      if (waits.length === 1) stalled.resolve();
      await room;
    }
    sink.end();
  };
  const stalled = Promise.withResolvers<void>();
  const listener = await listen({
    services: [v1],
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    maxRequestBytes: 1_000,
    keepaliveMs: 0,
    answer: () => Promise.resolve({ headers: {}, body: (sink) => void write(sink) }),
  });
  const client = new grpc.Client(`127.0.0.1:${listener.port}`, grpc.credentials.createInsecure());
  const call = client.makeServerStreamRequest(
    SendStreamingMessage!.path,
    (binary: Uint8Array) => Buffer.from(binary),
    (binary: Buffer) => response.decode(binary),
    new Uint8Array(),
  );
  await once(call, "metadata");
  await stalled.promise;
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  // 64 KiB are on their way in HTTP/2, a few messages at either end.
  expect(written).toBeLessThan(60);
  let read = 0;
  for await (const message of call) {
    expect(message).toMatchObject({ artifactUpdate: { artifact: { artifactId: `${read}` } } });
    read += 1;
  }
  expect(read).toBe(count);
  expect(waits.length).toBeGreaterThan(5);
  client.close();
  await listener.drain();
});
