import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../../engine/engine.fixture.ts";
import { Lookups } from "./lookups.ts";

/** A resolver that answers when the test says so. */
class Resolver {
  readonly asked: string[] = [];
  #answers = new Map<string, (addresses: readonly string[]) => void>();

  readonly resolve = (hostname: string): Promise<readonly string[]> => {
    this.asked.push(hostname);
    return new Promise((resolve) => this.#answers.set(hostname, resolve));
  };

  answer(hostname: string): void {
    this.#answers.get(hostname)?.(["1.1.1.1"]);
  }
}

function open(options: { most?: number } = {}): { lookups: Lookups; resolver: Resolver; clock: FakeClock } {
  const resolver = new Resolver();
  const clock = new FakeClock();
  return { resolver, clock, lookups: new Lookups({ resolve: resolver.resolve, clock, ...options }) };
}

describe("names", () => {
  it("are looked up two at once, the others after them [E14, I-09]", async () => {
    const { lookups, resolver, clock } = open();
    const found = ["a", "b", "c", "d"].map((name) => lookups.resolve(name));
    expect(resolver.asked).toEqual(["a", "b"]);
    resolver.answer("b");
    await settle();
    expect(resolver.asked).toEqual(["a", "b", "c"]);
    for (const name of ["a", "c"]) resolver.answer(name);
    await settle();
    resolver.answer("d");
    expect(await Promise.all(found)).toEqual([1, 2, 3, 4].map(() => ["1.1.1.1"]));
    expect(clock.pending).toBe(0);
  });

  it("that hang are given up, and keep their places until they are answered all the same [E14]", async () => {
    const { lookups, resolver, clock } = open();
    const hanging = ["a", "b", "c"].map((name) => lookups.resolve(name).catch(String));
    clock.advance(5000);
    expect(await Promise.all(hanging)).toEqual(
      ["a", "b", "c"].map((name) => `Error: ${name} was not resolved in 5000 ms`),
    );
    const later = lookups.resolve("d");
    expect(resolver.asked).toEqual(["a", "b"]);
    resolver.answer("a");
    await settle();
    // Nobody waits for "c" any more.
    expect(resolver.asked).toEqual(["a", "b", "d"]);
    resolver.answer("d");
    expect(await later).toEqual(["1.1.1.1"]);
  });

  it("are looked up once for all who ask meanwhile, and anew for whoever asks later", async () => {
    const { lookups, resolver } = open();
    const both = [lookups.resolve("a"), lookups.resolve("a")];
    resolver.answer("a");
    await Promise.all(both);
    expect(resolver.asked).toEqual(["a"]);
    void lookups.resolve("a");
    expect(resolver.asked).toEqual(["a", "a"]);
  });

  it("that can not be resolved are none, and past the bound none is looked up [E14]", async () => {
    const failing = new Lookups({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
    await expect(failing.resolve("a")).rejects.toThrow("ENOTFOUND");
    const { lookups } = open({ most: 2 });
    void lookups.resolve("a");
    void lookups.resolve("b");
    await expect(lookups.resolve("c")).rejects.toThrow("too many names");
  });
});
