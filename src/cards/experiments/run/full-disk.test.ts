import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { getGsm8kSlice, buildRunReport } from "../../index.ts";
import { createOracleModel } from "../../roles/index.ts";
import { readDataset } from "../read-dataset.ts";
import { runExperiment } from "./run-experiment.ts";

const disk = vi.hoisted(() => ({ isFull: false }));

vi.mock(import("node:fs"), async (original) => {
  const fs = await original();
  const writeSync = (fd: number, ...what: [NodeJS.ArrayBufferView, number]): number => {
    if (disk.isFull) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    return fs.writeSync(fd, ...what);
  };
  return { ...fs, writeSync: writeSync as typeof fs.writeSync };
});

it("starts no problem whose score cannot be saved, and resumes when the disk has space", async () => {
  const out = mkdtempSync(join(tmpdir(), "colloquy-full-"));
  onTestFinished(() => rmSync(out, { recursive: true }));
  const model = createOracleModel(getGsm8kSlice());
  const asked = new Set<string | undefined>();
  const counted = {
    ...model,
    complete: (request: Parameters<typeof model.complete>[0]) => {
      asked.add(request.input.task.metadata.sample_id);
      return model.complete(request);
    },
  };
  const options = { dataset: readDataset("gsm8k"), outputFolder: out, model: counted, concurrency: 2 };
  const first = await runExperiment({
    ...options,
    onProgress: ({ done }) => {
      if (done === 5) disk.isFull = true;
    },
  });
  disk.isFull = false;
  expect(first).toMatchObject({ status: "failed", isDegraded: true, specificationFile: undefined });
  expect(first.failureReason).toContain("ENOSPC");
  expect(first.recording.scores).toHaveLength(5);
  expect(asked.size).toBeLessThanOrEqual(7);

  const again = await runExperiment({ ...options, resume: true });
  expect(again).toMatchObject({ status: "completed", isDegraded: false });
  expect(again.recording.scores).toHaveLength(20);
  expect(again.recording.cards).toHaveLength(120);
  expect(buildRunReport(again.recording).broken).toEqual([]);
});
