import { describe, expect, it } from "vitest";
import { waitForSavedFiles } from "./wait-for-saved-files.ts";

/** Returns a watcher that reports the given changes in turn. */
function createWatcher(...changes: (ReadonlySet<string> | undefined)[]): {
  waitForChanges(timeoutMs?: number): Promise<ReadonlySet<string> | undefined>;
} {
  return { waitForChanges: async () => changes.shift() };
}

/** Returns a check that refuses a file the given number of times. */
function refuseTimes(count: number): (file: string) => boolean {
  let checks = 0;
  return (file) => file === "half.ts" && checks++ < count;
}

const half = new Set(["half.ts"]);

describe("waiting for saved files", () => {
  it("reports correct files at once", async () => {
    expect(await waitForSavedFiles(createWatcher(half), refuseTimes(0))).toEqual(half);
  });

  it("waits until a half-written file is complete, and reports all changes together", async () => {
    const watcher = createWatcher(half, new Set(["other.ts"]), half);
    expect(await waitForSavedFiles(watcher, refuseTimes(2))).toEqual(new Set(["half.ts", "other.ts"]));
  });

  it("reports a file that stays broken", async () => {
    expect(await waitForSavedFiles(createWatcher(half, new Set()), refuseTimes(9))).toEqual(half);
  });

  it("ends with the watcher", async () => {
    expect(await waitForSavedFiles(createWatcher(half, undefined), refuseTimes(9))).toBeUndefined();
    expect(await waitForSavedFiles(createWatcher(undefined), refuseTimes(0))).toBeUndefined();
  });
});
