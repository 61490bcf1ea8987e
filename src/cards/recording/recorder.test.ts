import { describe, expect, it } from "vitest";
import type { MessageCard } from "../message-card/index.ts";
import {
  createRecorder,
  decodeRecording,
  createMemorySink,
  type CardRecordInput,
  type RecordSink,
} from "./index.ts";
import { createGsm8kExampleCards } from "../message-card/message-card.fixture.ts";

const createCardInput = (card: MessageCard): CardRecordInput => ({
  run_id: "r",
  dir: "out",
  at_role: card.sender,
  card,
});
const RUN_INPUT = {
  run_id: "r",
  dataset: "gsm8k",
  sample_ids: ["gsm8k_0"],
  method: "a2a",
  model: { planner: "scripted" },
  evidence: "simulated",
  rule: "gsm8k/strict",
  code: "0.1.0",
} as const;
const SCORE_INPUT = { run_id: "r", sample_id: "gsm8k_0", gold: "18", correct: true, rule: "gsm8k/strict" };

/** Creates a sink whose writes fail if `when` returns true. */
function createFailingSink(when: (write: number) => boolean): RecordSink & { text(): string } {
  const sink = createMemorySink();
  let writes = 0;
  return {
    text: () => sink.text(),
    write: (text) => {
      if (when(writes++)) throw new Error("no space left on device");
      sink.write(text);
    },
  };
}

describe("a recorder", () => {
  it("adds sequence numbers and both times to each line", () => {
    let at = 0;
    const sink = createMemorySink();
    const recorder = createRecorder(sink, { now: () => 1_000 + at, monotonicNow: () => (at += 0.25) });
    recorder.startRun(RUN_INPUT);
    for (const card of createGsm8kExampleCards()) recorder.recordCard(createCardInput(card));
    recorder.recordSampleScore(SCORE_INPUT);
    recorder.endRun("completed");

    const { cards, ends, run } = decodeRecording(sink.text(), "memory");
    expect(run).toMatchObject({ v: 1, kind: "run", at: "1970-01-01T00:00:01.000Z", ...RUN_INPUT });
    expect(cards.map(({ seq, mono_ms }) => [seq, mono_ms])).toEqual(
      [1, 2, 3, 4, 5, 6].map((seq) => [seq, seq / 4]),
    );
    expect(ends).toMatchObject([{ status: "completed", cards: 6, samples: 1 }]);
    expect(ends[0]).not.toHaveProperty("recorder");
  });

  it("never throws an error of its sink, but reports it once and in the end line", () => {
    const told: unknown[] = [];
    const sink = createFailingSink((write) => write === 2 || write === 4);
    const recorder = createRecorder(sink, { onDegraded: (cause) => void told.push(cause) });
    recorder.startRun(RUN_INPUT);
    for (const card of createGsm8kExampleCards()) recorder.recordCard(createCardInput(card));
    expect(recorder.isDegraded).toBe(true);
    recorder.endRun("completed");
    expect(told).toEqual([new Error("no space left on device")]);
    const { cards, ends } = decodeRecording(sink.text(), "memory");
    expect(cards.map(({ seq }) => seq)).toEqual([1, 3, 5, 6]);
    expect(ends).toMatchObject([{ cards: 6, recorder: "degraded" }]);
  });

  it("ignores a message that belongs to no run, and keeps the end line of the run", () => {
    const sink = createMemorySink();
    const recorder = createRecorder(sink);
    recorder.startRun(RUN_INPUT);
    const [card] = createGsm8kExampleCards();
    if (!card) throw new Error("There is no card.");
    recorder.recordCard(createCardInput(card));
    // For example, a health check of another client.
    recorder.recordCard({ ...createCardInput(card), run_id: "" });
    recorder.endRun("completed");
    expect(recorder.isDegraded).toBe(false);
    const { cards, ends } = decodeRecording(sink.text(), "memory");
    expect(cards).toHaveLength(1);
    expect(ends).toMatchObject([{ run_id: "r", status: "completed" }]);
  });

  it("omits an invalid line and reports it", () => {
    const told: unknown[] = [];
    const sink = createMemorySink();
    const recorder = createRecorder(sink, { onDegraded: (cause) => void told.push(cause) });
    recorder.startRun(RUN_INPUT);
    recorder.recordSampleScore({ ...SCORE_INPUT, sample_id: "the first" });
    recorder.recordSampleScore(SCORE_INPUT);
    expect(told).toMatchObject([
      { message: expect.stringContaining("kind score: sample_id must be 1 to 128") },
    ]);
    expect(decodeRecording(sink.text(), "memory").scores).toMatchObject([{ sample_id: "gsm8k_0" }]);
  });

  it("ignores an error of the callback", () => {
    const onDegraded = (): never => {
      throw new Error("told");
    };
    const recorder = createRecorder(
      createFailingSink(() => true),
      { onDegraded },
    );
    recorder.startRun(RUN_INPUT);
    expect(recorder.isDegraded).toBe(true);
  });

  it("writes the result of `redactCard`, and nothing if that throws", () => {
    const sink = createMemorySink();
    const recorder = createRecorder(sink, {
      redactCard: (card) => {
        if (card.recipient === "controller") throw new Error("never");
        return { ...card, content: "…" };
      },
    });
    for (const card of createGsm8kExampleCards()) recorder.recordCard(createCardInput(card));
    const { cards } = decodeRecording(sink.text(), "memory");
    expect(cards.map(({ card }) => card.content)).toEqual(["…", "…", "…", "…", "…"]);
    expect(recorder.isDegraded).toBe(true);
    expect(sink.text()).not.toContain("eggs");
  });

  it("stops writing cards and calls, but not scores, before the file becomes too long", () => {
    const sink = createMemorySink();
    const recorder = createRecorder(sink, { maxTotalLength: 1_000 });
    for (const card of createGsm8kExampleCards()) recorder.recordCard(createCardInput(card));
    recorder.recordSampleScore(SCORE_INPUT);
    recorder.endRun("completed");
    const { cards, scores, ends } = decodeRecording(sink.text(), "memory");
    expect(cards.length).toBeLessThan(6);
    expect(scores).toHaveLength(1);
    expect(ends).toMatchObject([{ recorder: "degraded" }]);
  });

  it("shortens a card that is too long and keeps the data for figures", () => {
    const sink = createMemorySink();
    const recorder = createRecorder(sink, { maxLineLength: 4_000 });
    const [task] = createGsm8kExampleCards() as [MessageCard];
    const metadata = { ...task.metadata, context: { documents: "x".repeat(9_000) }, turn: 1 };
    recorder.recordCard(
      createCardInput({ ...task, content: `${"y".repeat(999)}😀${"y".repeat(9_000)}`, metadata }),
    );
    const [line] = decodeRecording(sink.text(), "memory").cards;
    expect(sink.text().length).toBeLessThan(4_000);
    expect(line?.card.metadata).toEqual({ ...task.metadata, turn: 1, shortened: true });
    expect(line?.card.content).toBe(`${"y".repeat(999)}…`);
    expect(recorder.isDegraded).toBe(false);
  });
});
