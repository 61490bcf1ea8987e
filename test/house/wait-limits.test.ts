import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
/** A busy machine may delay what a test waits for by several seconds. */
const MIN_TIMEOUT_MS = 10_000;

interface Wait {
  readonly location: string;
  readonly call: string;
  /** The timeout as a number in the source, if the call has one. */
  readonly timeoutMs: number | undefined;
}

/** Returns the source of the call whose opening parenthesis is at `start`. */
function readCall(source: string, start: number): string {
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    if (source[at] === "(") depth++;
    if (source[at] === ")" && --depth === 0) return source.slice(start, at + 1);
  }
  return source.slice(start);
}

function findWaits(file: string, source: string): Wait[] {
  return [...source.matchAll(/\b(?:vi\s*\.waitFor|vi\s*\.waitUntil|expect\s*\.poll)(?=\()/g)].map((match) => {
    const [, timeout] = /\btimeout: ([\d_]+)/.exec(readCall(source, match.index + match[0].length)) ?? [];
    return {
      location: `${file}:${source.slice(0, match.index).split("\n").length}`,
      call: match[0].replaceAll(/\s/g, ""),
      timeoutMs: timeout === undefined ? undefined : Number(timeout.replaceAll("_", "")),
    };
  });
}

/** `expect.poll` waits 30 s by default (vitest.config.ts), and `vi.waitFor` and `vi.waitUntil` wait one second. */
const isTooShort = ({ call, timeoutMs = call === "expect.poll" ? Infinity : 0 }: Wait): boolean =>
  timeoutMs < MIN_TIMEOUT_MS;

it("tests wait for an event for at least ten seconds", () => {
  const files = globSync("{src,test}/**/*.{test,contract,fixture}.ts", {
    cwd: root,
    exclude: ["test/house/wait-limits.test.ts"],
  });
  const waits = files.flatMap((file) => findWaits(file, readFileSync(join(root, file), "utf8")));
  expect(waits.length).toBeGreaterThan(100);
  expect(waits.filter(isTooShort)).toEqual([]);
});

it("the check finds short waits", () => {
  const source = `vi.waitFor(() => f()); await expect\n.poll(() => x, { timeout: 5_000 }).toBe(1); expect.poll(y)`;
  const short = findWaits("a.test.ts", source).filter(isTooShort);
  expect(short).toEqual([
    { location: "a.test.ts:1", call: "vi.waitFor", timeoutMs: undefined },
    { location: "a.test.ts:1", call: "expect.poll", timeoutMs: 5000 },
  ]);
});

const MEASUREMENT = /\bperformance\.now\(|\bhrtime\b|\b(?:thread)?cpuUsage\(|\bmemoryUsage\(/i;

/** Tests that measure a time, which they compare only with a lower bound or with another measurement. */
const FILES_WITH_LOWER_BOUNDS = [
  "src/cli/init.test.ts",
  "src/cli/spec/task.test.ts",
  "src/observe/trace/recording/traffic-file-sink.test.ts",
  "src/stores/postgres/postgres-gauges.test.ts",
  "test/resilience/nodes/suspended-turns.test.ts",
  "test/tap/injected-faults.test.ts",
  "test/tap/replay.test.ts",
];

it("no test asserts how little time or memory work takes, because other work of the machine disturbs it: see lab/timings", () => {
  const files = globSync("{src,test}/**/*.{test,contract}.ts", {
    cwd: root,
    exclude: ["test/house/wait-limits.test.ts"],
  });
  const measuring = files.filter((file) => MEASUREMENT.test(readFileSync(join(root, file), "utf8")));
  expect(measuring.toSorted()).toEqual(FILES_WITH_LOWER_BOUNDS);
});
