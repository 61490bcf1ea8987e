import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SOURCE_FOLDER = fileURLToPath(new URL("../../src/", import.meta.url));
const SIMULATED_ROOMS = ["engine", "cluster", "webhooks"];
const ROOMS_WITH_CLOCK = [...SIMULATED_ROOMS, "server", "client"];
const WALL_CLOCK_READ = /\bDate\.now\b|\bnew Date\(\)/;

/** Returns `file:line` of each read of the wall clock outside the file `clock.ts` of a room. */
function findWallClockReads(text: string, file: string): string[] {
  return text
    .split("\n")
    .flatMap((line, at) =>
      WALL_CLOCK_READ.test(line.replace(/^\s*(\*|\/\/).*/, "")) ? `${file}:${at + 1}` : [],
    );
}

it("the gate finds each way to read the wall clock", () => {
  const text =
    "const a = Date.now();\nconst b = new Date();\nconst c = new Date(0);\n * Date.now in a comment\nf(Date.now)";
  expect(findWallClockReads(text, "f.ts")).toEqual(["f.ts:1", "f.ts:2", "f.ts:5"]);
});

it("engine, cluster, webhooks, server, and client read the time only in clock.ts, because the wall clock can jump", () => {
  const files = globSync(`{${ROOMS_WITH_CLOCK.join(",")}}/**/*.ts`, { cwd: SOURCE_FOLDER }).filter(
    (file) => !/\.(test|fixture|contract)\.ts$/.test(file) && basename(file) !== "clock.ts",
  );
  expect(files.length).toBeGreaterThan(100);
  expect(
    files.flatMap((file) => findWallClockReads(readFileSync(SOURCE_FOLDER + file, "utf8"), file)),
  ).toEqual([]);
});

it("the engine, its nodes, and its webhooks schedule their work only with the clock, so that a simulation decides the order", () => {
  const scheduling = /\b(setImmediate|setTimeout|setInterval|process\.nextTick)\b/;
  const files = globSync(`{${SIMULATED_ROOMS.join(",")}}/**/*.ts`, { cwd: SOURCE_FOLDER }).filter(
    (file) => !/\.(test|fixture|contract)\.ts$/.test(file) && basename(file) !== "clock.ts",
  );
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => scheduling.test(readFileSync(SOURCE_FOLDER + file, "utf8")))).toEqual([]);
});
