import { EventEmitter } from "node:events";
import type { ServerHttp2Session } from "node:http2";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ConnectionSupervisor } from "./grpc-listener.ts";

/** An HTTP/2 session that records what happens, because the tests control the time. */
class RecordedSession extends EventEmitter {
  destroyed = false;
  closed = false;
  readonly replyToPing: (() => void)[] = [];

  ping(reply: () => void): boolean {
    this.replyToPing.push(reply);
    return true;
  }
  close(): void {
    this.closed = true;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

let session: RecordedSession;
let supervisor: ConnectionSupervisor;

beforeEach(() => {
  vi.useFakeTimers();
  session = new RecordedSession();
  supervisor = new ConnectionSupervisor(session as unknown as ServerHttp2Session, 15_000);
});
afterEach(() => void vi.useRealTimers());

it("destroys a connection whose client does not reply to a ping within 20 seconds", () => {
  vi.advanceTimersByTime(15_000);
  session.replyToPing[0]?.();
  vi.advanceTimersByTime(34_000);
  expect(session.destroyed).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect(session.destroyed).toBe(true);
});

it("closes a connection that has no calls for five minutes, even if its client does not", () => {
  const replyToPings = (): void => session.replyToPing.splice(0).forEach((reply) => reply());
  const advanceMinutes = (minutes: number): void => {
    for (let quarter = 0; quarter < 4 * minutes; quarter++) {
      vi.advanceTimersByTime(15_000);
      replyToPings();
    }
  };
  supervisor.countOpenedCall();
  advanceMinutes(10);
  expect(session.closed).toBe(false);
  supervisor.countClosedCall();
  advanceMinutes(4);
  expect(session.closed).toBe(false);
  advanceMinutes(1);
  expect([session.closed, session.destroyed]).toEqual([true, false]);
  vi.advanceTimersByTime(5_000);
  expect(session.destroyed).toBe(true);
});
