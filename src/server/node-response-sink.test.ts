import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect, it } from "vitest";
import { FakeClock } from "../engine/engine.fixture.ts";
import { ByteLedger } from "./byte-ledger/byte-ledger.ts";
import { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import { NodeResponseSink } from "./node-adapter.ts";

const BYTES_PER_SECOND = 10_000;

/** The connection of a client that reads at a constant rate. */
class SlowConnection extends Duplex {
  receivedBytes = 0;
  #pending: { bytes: number; taken: () => void } | undefined;

  override _write(chunk: Buffer, _encoding: string, taken: () => void): void {
    this.#pending = { bytes: chunk.length, taken };
  }

  override _read(): void {}

  /** Reads for one second. */
  read1s(): void {
    if (!this.#pending) return;
    const bytes = Math.min(BYTES_PER_SECOND, this.#pending.bytes);
    this.receivedBytes += bytes;
    this.#pending.bytes -= bytes;
    if (this.#pending.bytes > 0) return;
    const { taken } = this.#pending;
    this.#pending = undefined;
    taken();
  }
}

it("a client that reads 10 KB per second receives a single event of 1 MB, whose unread part counts until the end", async () => {
  const connection = new SlowConnection();
  const clock = new FakeClock();
  const stallWatch = new WriteStallWatch({ clock, timeoutMs: 60_000, observer: {} });
  const ledger = new ByteLedger(128_000_000);
  const outgoing = new ServerResponse(new IncomingMessage(new Socket()));
  outgoing.assignSocket(connection as Duplex as Socket);
  // The HTTP server of Node.js does this.
  connection.on("drain", () => outgoing.emit("drain"));
  const byteAccount = ledger.openAccount({ remoteAddress: "192.0.2.1" });
  const sink = new NodeResponseSink(outgoing, { byteAccount }, stallWatch);
  expect(sink.reserve(1_000_000)).toBeUndefined();
  const write = { isDone: false };
  void sink.write("x".repeat(1_000_000))?.then(() => (write.isDone = true));
  for (let second = 0; second < 120 && !outgoing.destroyed; second++) {
    connection.read1s();
    clock.advance(1_000);
    await new Promise(setImmediate);
    if (write.isDone) break;
    expect(ledger.reserved).toBeGreaterThan(0);
  }
  expect({ ...write, isDestroyed: outgoing.destroyed }).toEqual({ isDone: true, isDestroyed: false });
  expect(connection.receivedBytes).toBeGreaterThanOrEqual(1_000_000);
  expect(ledger.reserved).toBe(0);
});
