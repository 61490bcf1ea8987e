import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../engine/engine.fixture.ts";
import type { CardTokenUsage } from "../../index.ts";
import type { ModelReply, ModelRequest, RoleModel } from "../role-model.ts";
import { createRequestLimit, excludeDelays, type RequestLimitOptions } from "./request-limit.ts";

const USAGE: CardTokenUsage = { input_tokens: 60, output_tokens: 40, source: "reported" };

interface Testbed {
  readonly clock: FakeClock;
  /** Times of the requests that the model received, in milliseconds since the start. */
  readonly startedAt: number[];
  readonly limit: ReturnType<typeof createRequestLimit>;
  readonly call: (signal?: AbortSignal) => Promise<ModelReply>;
}

function startTestbed(
  options: Partial<RequestLimitOptions>,
  reply: (call: number) => ModelReply = () => ({ text: "", finish: "stop", usage: USAGE }),
): Testbed {
  const clock = new FakeClock();
  const start = clock.time;
  const startedAt: number[] = [];
  const model: RoleModel = {
    id: "m",
    evidenceKind: "simulated",
    async complete() {
      startedAt.push(clock.time - start);
      return reply(startedAt.length);
    },
  };
  const limit = createRequestLimit({ concurrency: 8, clock, ...options });
  const limited = limit.wrap(model);
  const call = (signal = new AbortController().signal): Promise<ModelReply> =>
    limited.complete({ signal } as ModelRequest);
  return { clock, startedAt, limit, call };
}

function failOnceWith(status: number, retryAfterMs: number): (call: number) => ModelReply {
  return (call) => {
    if (call > 1) return { text: "18", finish: "stop" };
    throw Object.assign(new Error("slow down"), { httpStatus: status, retryAfterMs });
  };
}

describe("a limit per minute", () => {
  it("delays requests beyond the number of requests, without loss", async () => {
    const { clock, startedAt, limit, call } = startTestbed({ requestsPerMinute: 2 });
    await call();
    clock.advance(10_000);
    await call();
    const third = call();
    await expect.poll(() => clock.pendingTimerCount).toBe(1);
    clock.advance(49_999);
    expect(startedAt).toEqual([0, 10_000]);
    clock.advance(1);
    await third;
    expect(startedAt).toEqual([0, 10_000, 60_000]);
    expect(limit.getDelayedMs()).toBe(50_000);
  });

  it("delays requests beyond the number of tokens of the replies", async () => {
    const spent: unknown[] = [];
    const { clock, startedAt, call } = startTestbed({
      tokensPerMinute: 150,
      onUsage: (usage) => spent.push(usage),
    });
    await call();
    await call();
    const third = call();
    await expect.poll(() => clock.pendingTimerCount).toBe(1);
    clock.advance(60_000);
    await third;
    expect(startedAt).toEqual([0, 0, 60_000]);
    expect(spent).toEqual([USAGE, USAGE, USAGE]);
  });

  it("sends no request whose signal aborts during the delay", async () => {
    const { clock, startedAt, call } = startTestbed({ requestsPerMinute: 1 });
    await call();
    const abort = new AbortController();
    const second = call(abort.signal);
    await expect.poll(() => clock.pendingTimerCount).toBe(1);
    abort.abort(new Error("stopped"));
    await expect(second).rejects.toThrow("stopped");
    expect(startedAt).toEqual([0]);
    expect(clock.pendingTimerCount).toBe(0);
  });
});

describe("a Retry-After of a server", () => {
  it("that is long pauses all requests, and the limit repeats the request", async () => {
    const { clock, startedAt, call } = startTestbed({}, failOnceWith(429, 120_000));
    const first = call();
    await expect.poll(() => clock.pendingTimerCount).toBe(1);
    const second = call();
    await expect.poll(() => clock.pendingTimerCount).toBe(2);
    clock.advance(120_000);
    expect(await first).toMatchObject({ text: "18" });
    await second;
    expect(startedAt).toEqual([0, 120_000, 120_000]);
  });

  it("that is short is an error for the role, which repeats the request after the pause", async () => {
    const { clock, startedAt, call } = startTestbed({}, failOnceWith(503, 5_000));
    await expect(call()).rejects.toThrow("slow down");
    const second = call();
    await expect.poll(() => clock.pendingTimerCount).toBe(1);
    clock.advance(5_000);
    await second;
    expect(startedAt).toEqual([0, 5_000]);
  });

  it.each([
    [500, 120_000],
    [429, 7_200_000],
  ])("with the status %i and %i ms is an error", async (status, retryAfterMs) => {
    const { startedAt, call } = startTestbed({}, failOnceWith(status, retryAfterMs));
    await expect(call()).rejects.toThrow("slow down");
    expect(startedAt).toEqual([0]);
  });
});

it("a deadline excludes the time during which the limit delays requests", async () => {
  const { clock, limit, call } = startTestbed({}, failOnceWith(429, 120_000));
  let isPassed = false;
  const timer = excludeDelays(limit, clock);
  timer.schedule(100_000, () => (isPassed = true));
  const cancel = timer.schedule(100_000, () => expect.unreachable());
  const reply = call();
  await expect.poll(() => clock.pendingTimerCount).toBe(3);
  clock.advance(100_000);
  cancel();
  clock.advance(20_000);
  await reply;
  clock.advance(80_000);
  clock.advance(19_999);
  expect(isPassed).toBe(false);
  clock.advance(1);
  expect(isPassed).toBe(true);
});
