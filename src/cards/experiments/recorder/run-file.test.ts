import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type CardRecordInput, decodeRecording } from "../../index.ts";
import {
  createGsm8kExampleCards,
  createCardProtocolWithNumberedIds,
} from "../../message-card/message-card.fixture.ts";
import { createScriptedRecording } from "../../recording/recording.fixture.ts";
import { SCRIPTED_SEQUENTIAL_TASKS_SAMPLE } from "../../recording/scripted-samples.fixture.ts";
import {
  createRunRecorder,
  openFileSink,
  openRunFile,
  type ScoreRecordInput,
  writeMessageCardListFile,
} from "./index.ts";
import { EXAMPLE_RUN } from "./example-run.fixture.ts";
import { getScriptArguments } from "../../../../test/support/fork-script.ts";

function createTempFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "colloquy-record-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const [CARD] = createGsm8kExampleCards(createCardProtocolWithNumberedIds());
const createCardRecordInput = (sample_id: string): CardRecordInput => {
  if (!CARD) throw new Error("no card");
  return { run_id: EXAMPLE_RUN.run_id, sample_id, dir: "out", at_role: "controller", card: CARD };
};
const createScoreRecordInput = (sample_id: string): ScoreRecordInput => ({
  run_id: EXAMPLE_RUN.run_id,
  sample_id,
  gold: "18",
  predicted: "18",
  correct: true,
  rule: EXAMPLE_RUN.rule,
});

describe("the file of a run", () => {
  it("contains the lines of a problem as soon as it is scored, and the end line", () => {
    const out = join(createTempFolder(), "deep", "results");
    const record = openRunFile(EXAMPLE_RUN, { outputFolder: out });
    record.recordCard(createCardRecordInput("gsm8k_0"));
    record.recordSampleScore(createScoreRecordInput("gsm8k_0"));
    expect(decodeRecording(readFileSync(record.path, "utf8"), record.path)).toMatchObject({
      cards: [CARD],
      scores: [{ sample_id: "gsm8k_0" }],
      ends: [],
    });
    record.endRun("completed");
    expect(record.readRecording().ends).toMatchObject([{ status: "completed", cards: 1, samples: 1 }]);
    expect(record.path).toBe(join(out, "gsm8k-a2a.cards.jsonl"));
    expect(readdirSync(out)).toEqual(["gsm8k-a2a.cards.jsonl"]);
  });

  it("continues an interrupted run with the same description only", () => {
    const out = createTempFolder();
    const first = openRunFile(EXAMPLE_RUN, { outputFolder: out });
    first.recordSampleScore(createScoreRecordInput("gsm8k_0"));
    first.endRun("interrupted");

    expect(() => openRunFile(EXAMPLE_RUN, { outputFolder: out })).toThrow(
      "the file already exists. To do: pass resume (--resume)",
    );
    expect(() => openRunFile({ ...EXAMPLE_RUN, method: "cot" }, { outputFolder: out, resume: true })).toThrow(
      `its method is "a2a", but this run has "cot". To do: continue with the same options`,
    );
    expect(() => openRunFile({ ...EXAMPLE_RUN, seed: 7 }, { outputFolder: out, resume: true })).toThrow(
      "its seed is not set",
    );
    const again = openRunFile({ ...EXAMPLE_RUN, code: "0.2.0" }, { outputFolder: out, resume: true });
    expect([...again.doneSampleIds]).toEqual(["gsm8k_0"]);
    again.recordSampleScore(createScoreRecordInput("gsm8k_1"));
    again.endRun("completed");
    expect(again.readRecording().scores.map(({ sample_id }) => sample_id)).toEqual(["gsm8k_0", "gsm8k_1"]);
  });

  it("is not created for an invalid run id or a run id with a path", () => {
    const out = createTempFolder();
    expect(() => openRunFile({ ...EXAMPLE_RUN, run_id: "cot-sc@5" }, { outputFolder: out })).toThrow(
      "The description of the run is invalid: run_id is not 1 to 128",
    );
    expect(() => openRunFile({ ...EXAMPLE_RUN, run_id: "../x" }, { outputFolder: out })).toThrow(
      "The description of the run is invalid: run_id is not 1 to 128",
    );
    expect(readdirSync(out)).toEqual([]);
  });

  it("keeps an incomplete line separate", () => {
    const out = createTempFolder();
    const first = openRunFile(EXAMPLE_RUN, { outputFolder: out });
    first.endRun("interrupted");
    appendFileSync(first.path, `{"v":1,"kind":"card","run`);
    const again = openRunFile(EXAMPLE_RUN, { outputFolder: out, resume: true });
    again.recordSampleScore(createScoreRecordInput("gsm8k_0"));
    again.endRun("completed");
    expect(again.readRecording()).toMatchObject({
      torn: [{ line: 4, last: true }],
      scores: [{}],
      ends: [{}, {}],
    });
  });

  it.skipIf(!existsSync("/dev/full"))("does not fail the run when the disk is full, and reports it", () => {
    const told: unknown[] = [];
    const file = join(createTempFolder(), "full.cards.jsonl");
    symlinkSync("/dev/full", file);
    const sink = openFileSink(file);
    onTestFinished(() => sink.close());
    const recorder = createRunRecorder(sink, { onDegraded: (cause) => told.push(cause) });
    recorder.recordCard(createCardRecordInput("gsm8k_0"));
    recorder.recordSampleScore(createScoreRecordInput("gsm8k_0"));
    expect(recorder.isDegraded).toBe(true);
    expect(told).toMatchObject([{ code: "ENOSPC" }]);
  });
});

describe("a file that a process writes to", () => {
  it("is locked with the process id and released at the end", async () => {
    const out = createTempFolder();
    const first = openRunFile(EXAMPLE_RUN, { outputFolder: out });
    expect(() => openRunFile(EXAMPLE_RUN, { outputFolder: out, resume: true })).toThrow(
      new RegExp(
        `^Process ${process.pid} on .* writes to .*\\. To do: wait until it has finished, or delete .*\\.lock if .*\\.$`,
      ),
    );
    const { code, err } = await runWriterProcess(out, 1_000);
    expect(code).toBe(1);
    expect(err).toContain(`Process ${process.pid} on ${hostname()} writes to`);
    first.endRun("interrupted");
    expect((await runWriterProcess(out, 1_000)).code).toBe(0);
  });

  it("is taken over from an exited process, but not from another host", () => {
    const out = createTempFolder();
    const file = join(out, "gsm8k-a2a.cards.jsonl");
    // The process id of this process, from an earlier start of the container.
    writeFileSync(`${file}.lock`, JSON.stringify({ pid: process.pid, host: hostname() }));
    openRunFile(EXAMPLE_RUN, { outputFolder: out }).endRun("completed");
    writeFileSync(`${file}.lock`, JSON.stringify({ pid: process.pid, host: "elsewhere" }));
    expect(() => openRunFile(EXAMPLE_RUN, { outputFolder: out, resume: true })).toThrow(
      "on elsewhere writes to",
    );
    writeFileSync(`${file}.lock`, "");
    expect(() => openRunFile(EXAMPLE_RUN, { outputFolder: out, resume: true })).toThrow(
      "Another process writes to",
    );
  });
});

describe("a run that is killed", () => {
  it("resumes until it is done, without repeated or lost problems or cards of interrupted attempts", async () => {
    const out = createTempFolder();
    const file = join(out, "gsm8k-a2a.cards.jsonl");
    // The kills happen in the first problem, right before and after a score, and in the middle of two
    // problems.
    for (const cards of [1, 7, 11, 13, 9])
      expect((await runWriterProcess(out, cards)).signal).toBe("SIGKILL");
    expect(await runWriterProcess(out, 1_000)).toMatchObject({ code: 0 });

    const text = readFileSync(file, "utf8");
    const scored = [...text.matchAll(/"kind":"score".*?"sample_id":"(\w+)"/g)].map(([, id]) => id);
    expect(scored).toHaveLength(EXAMPLE_RUN.sample_ids.length);
    expect(new Set(scored)).toEqual(new Set(EXAMPLE_RUN.sample_ids));
    const recording = decodeRecording(text, file);
    expect(recording.torn).toEqual([]);
    expect(recording.abandoned.cards.length).toBeGreaterThan(20);
    for (const { cards } of recording.samples) {
      expect(cards).toHaveLength(6);
      expect(new Set(cards.map(({ metadata }) => metadata["attempt_of"])).size).toBe(1);
    }
    // Each written line is in one of the two lists.
    expect(text.match(/"kind":"request"/g)).toHaveLength(
      recording.cards.length + recording.abandoned.cards.length,
    );
    expect(recording.ends).toHaveLength(1);
  });
});

describe("the cards of the specification", () => {
  it("are a separate list named after the run", () => {
    const out = join(createTempFolder(), "results");
    const recording = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], {
      run_id: "gsm8k_a2a_claude",
    });
    const file = writeMessageCardListFile(recording, out);
    expect(file).toBe(join(out, "gsm8k_a2a_claude_cards.json"));
    const cards = JSON.parse(readFileSync(file, "utf8")) as object[];
    expect(cards).toHaveLength(6);
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(9);
    expect(readdirSync(out)).toHaveLength(1);
  });

  it("are an empty list without cards", () => {
    const out = createTempFolder();
    const file = writeMessageCardListFile(createScriptedRecording([], { run_id: "none" }), out);
    expect(file).toBe(join(out, "none_cards.json"));
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual([]);
  });

  it("are never replaced by another run with the same id", () => {
    const out = createTempFolder();
    const file = writeMessageCardListFile(createScriptedRecording([], { run_id: EXAMPLE_RUN.run_id }), out);
    expect(() => openRunFile(EXAMPLE_RUN, { outputFolder: out, resume: true })).toThrow(
      `${file} exists, so another run has this id. To do: move that file, or use another run id.`,
    );
    expect(readdirSync(out)).toEqual([`${EXAMPLE_RUN.run_id}_cards.json`]);
  });
});

async function runWriterProcess(
  out: string,
  cards: number,
): Promise<{ code: number | null; signal: string | null; err: string }> {
  const program = getScriptArguments(new URL("run-writer-process.fixture.ts", import.meta.url));
  const started = spawn(process.execPath, [...program, out, String(cards)]);
  let err = "";
  started.stderr.setEncoding("utf8").on("data", (chunk: string) => void (err += chunk));
  const [code, signal] = (await once(started, "close")) as [number | null, string | null];
  return { code, signal, err };
}
