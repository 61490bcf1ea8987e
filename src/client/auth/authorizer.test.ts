import { describe, expect, it } from "vitest";
import { TokenSource } from "./authorizer.ts";

describe("an access token", () => {
  it("is cached until it expires or is rejected", async () => {
    let currentTime = 0;
    let count = 0;
    const source = new TokenSource(
      () => Promise.resolve({ value: `t${(count += 1)}`, expiresAt: currentTime + 10 }),
      () => currentTime,
    );
    expect([await source.getToken(undefined), await source.getToken(undefined)]).toEqual(["t1", "t1"]);
    currentTime = 10;
    expect(await source.getToken(undefined)).toBe("t2");
    source.invalidate("t1");
    expect(await source.getToken(undefined)).toBe("t2");
    source.invalidate("t2");
    expect(await source.getToken(undefined)).toBe("t3");
  });

  it("is requested once for concurrent callers, and an aborted caller does not affect the others", async () => {
    const coming = Promise.withResolvers<{ value: string }>();
    let count = 0;
    const source = new TokenSource(
      () => {
        count += 1;
        return coming.promise;
      },
      () => 0,
    );
    const impatient = new AbortController();
    const input = source.getToken(impatient.signal);
    const patient = source.getToken(undefined);
    impatient.abort(new Error("enough"));
    await expect(input).rejects.toThrow("enough");
    coming.resolve({ value: "t" });
    expect([await patient, await source.getToken(undefined), count]).toEqual(["t", "t", 1]);
  });

  it("is requested again after a failure", async () => {
    let count = 0;
    const source = new TokenSource(
      async () => {
        count += 1;
        if (count === 1) throw new Error("down");
        return Promise.resolve({ value: "t" });
      },
      () => 0,
    );
    await expect(source.getToken(undefined)).rejects.toThrow("down");
    expect(await source.getToken(undefined)).toBe("t");
  });
});
