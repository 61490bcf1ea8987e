import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { FileWatcher } from "./file-watcher.ts";

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "colloquy-watch-")));
  file = join(directory, "agent.ts");
  await writeFile(file, "1");
});

function watch(...paths: string[]): FileWatcher {
  const watcher = new FileWatcher();
  onTestFinished(() => watcher.close());
  watcher.watchPaths(paths);
  return watcher;
}

describe("a file watcher", () => {
  it("reports a written file, and a file that an editor replaces", async () => {
    const watcher = watch(file);
    await writeFile(file, "2");
    expect(await watcher.waitForChanges()).toEqual(new Set([file]));
    await writeFile(join(directory, "agent.ts.tmp"), "3");
    await rename(join(directory, "agent.ts.tmp"), file);
    expect(await watcher.waitForChanges()).toEqual(new Set([file]));
  });

  it("reports a removed file, and its return", async () => {
    const watcher = watch(file);
    await rm(file);
    expect(await watcher.waitForChanges()).toEqual(new Set([file]));
    await writeFile(file, "1");
    expect(await watcher.waitForChanges()).toEqual(new Set([file]));
  });

  it("reports a new entry of a watched directory, and no change of a file that is not watched", async () => {
    const watcher = watch(file, directory);
    const other = join(directory, "other.ts");
    await writeFile(other, "1");
    expect(await watcher.waitForChanges()).toEqual(new Set([directory]));
    await writeFile(other, "2");
    await writeFile(file, "2");
    expect(await watcher.waitForChanges()).toEqual(new Set([file]));
  });

  it("reports a change that happens before the file is watched again", async () => {
    const watcher = watch(file);
    await mkdir(join(directory, "more"));
    await writeFile(file, "2");
    watcher.watchPaths([file, join(directory, "more")]);
    expect(await watcher.waitForChanges()).toEqual(new Set([file]));
  });

  it("resolves with no paths after the time limit", async () => {
    expect(await watch(file).waitForChanges(1)).toEqual(new Set());
  });

  it("resolves with undefined once it is closed", async () => {
    const watcher = watch(file);
    const changes = watcher.waitForChanges();
    watcher.close();
    expect(await changes).toBeUndefined();
  });
});
