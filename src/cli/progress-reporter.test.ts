import { describe, expect, it } from "vitest";
import type { CliContext } from "./cli-context.ts";
import { createTerminalStreams } from "./terminal-streams.ts";
import { ProgressReporter, formatEstimatedTimeLeft } from "./progress-reporter.ts";

function startProgress(errColumns?: number): {
  progress: ProgressReporter;
  wait: (ms: number) => void;
  text: () => string;
} {
  let now = 0;
  let text = "";
  const streams = createTerminalStreams({ out: () => {}, err: (more) => void (text += more) }, true);
  const context = { streams, stderrColumns: errColumns } as Partial<CliContext> as CliContext;
  return {
    progress: new ProgressReporter(context, "gsm8k", () => now),
    wait: (ms) => void (now += ms),
    text: () => text,
  };
}

describe("progress", () => {
  it("is one line on a terminal that is overwritten, with the remaining time", () => {
    const { progress, wait, text } = startProgress(80);
    progress.show({ done: 0, total: 4 });
    wait(2_000);
    progress.show({ done: 1, total: 4, note: "1 right" });
    wait(10);
    progress.show({ done: 2, total: 4 });
    progress.show({ done: 4, total: 4 });
    progress.end();
    expect(text().split("\r").slice(1)).toEqual([
      `gsm8k  ${"░".repeat(24)}  0/4\u001b[K`,
      `gsm8k  ██████${"░".repeat(18)}  1/4  1 right  6 s left\u001b[K`,
      `gsm8k  ${"█".repeat(24)}  4/4\u001b[K\n`,
    ]);
  });

  it("fits the width of a terminal, and is one line per tenth elsewhere", () => {
    const narrow = startProgress(12);
    narrow.progress.show({ done: 1, total: 2 });
    expect(narrow.text()).toBe("\rgsm8k  ████\u001b[K");
    const piped = startProgress();
    for (let done = 0; done <= 40; done++) piped.progress.show({ done, total: 40, doneBefore: 40 });
    piped.progress.end();
    expect(piped.text().split("\n")).toEqual([
      ...[4, 8, 12, 16, 20, 24, 28, 32, 36, 40].map((done) => `gsm8k  ${done}/40`),
      "",
    ]);
  });

  it.each([
    [1_000, 0, 5, ""],
    [1_000, 5, 0, ""],
    [1_000, 10, 5, "1 s left"],
    [10_000, 1, 10, "1 min 40 s left"],
    [60_000, 1, 90, "1 h 30 min left"],
  ])("after %i ms for %i has for %i more: %j", (elapsed, done, left, words) => {
    expect(formatEstimatedTimeLeft(elapsed, done, left)).toBe(words);
  });
});
